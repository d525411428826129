// Shapes land on the pixels they should, nothing is drawn outside, and plots and sheets show what they are given.

#include "runtime/report/picture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "runtime/report/contact_sheet.h"
#include "runtime/report/font.h"
#include "runtime/report/html_report.h"
#include "runtime/report/plot.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

bool same(Colour a, Colour b) { return a == b; }

// How much black there is on a white picture, in pixels.
double ink(const Canvas &c) {
  double sum = 0;
  for (int64_t y = 0; y < c.height(); ++y)
    for (int64_t x = 0; x < c.width(); ++x) sum += (255 - c.at(x, y).red) / 255.0;
  return sum;
}

int64_t count(const Canvas &c, Colour colour) {
  int64_t n = 0;
  for (int64_t y = 0; y < c.height(); ++y)
    for (int64_t x = 0; x < c.width(); ++x) n += c.at(x, y) == colour;
  return n;
}

TEST(Canvas, RectanglesAreCutAtTheEdges) {
  Canvas c(7, 5);
  c.rectangle(-3, -3, 5, 6, colours::red);
  c.rectangle(6, 4, 100, 100, colours::blue);
  c.rectangle(3, 1, 0, -2, colours::green);
  for (int64_t y = 0; y < 5; ++y)
    for (int64_t x = 0; x < 7; ++x)
      EXPECT_TRUE(same(c.at(x, y), x < 2 && y < 3 ? colours::red : x == 6 && y == 4 ? colours::blue : colours::white));
}

TEST(Canvas, ALineHasTheAreaOfItsLengthAndThickness) {
  for (double angle : {0.0, 0.3, 0.7854, 1.2, 1.5708}) {
    Canvas c(200, 200);
    const double dx = 80 * std::cos(angle), dy = 80 * std::sin(angle);
    c.line({100.25 - dx, 100.5 - dy}, {100.25 + dx, 100.5 + dy}, 3, colours::black);
    EXPECT_NEAR(ink(c), 160 * 3 + 3.1416 * 1.5 * 1.5, 10) << angle;  // with round ends
  }
}

TEST(Canvas, JointsAreNotPaintedTwice) {
  Canvas once(40, 40), twice(40, 40);
  once.line({5, 7.3}, {33, 21.8}, 2, colours::black);
  twice.polyline({{5, 7.3}, {33, 21.8}, {5, 7.3}}, 2, colours::black);
  EXPECT_DOUBLE_EQ(ink(once), ink(twice));
}

TEST(Canvas, PointsThatAreNotFiniteOrFarAwayDoNoHarm) {
  Canvas c(20, 20);
  const double inf = INFINITY;
  c.polyline({{1, 1}, {NAN, 5}, {inf, 2}, {-inf, -inf}}, 2, colours::black);
  EXPECT_EQ(ink(c), 0);
  c.polyline({{-1e300, 1e300}, {-1e18, -1e18}}, 2, colours::black);
  c.text({1e9, -1e9}, "away", 12, colours::black);
  EXPECT_EQ(ink(c), 0);
}

TEST(Canvas, PicturesAreScaledByWholePixels) {
  const Tensor grey = Tensor::of<uint8_t>({2, 2}, {10, 20, 30, 40});
  const Tensor rgb = Tensor::of<uint8_t>({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  Canvas c(8, 8);
  c.picture(1, 1, grey, 3);
  for (int64_t y = 0; y < 6; ++y)
    for (int64_t x = 0; x < 6; ++x) EXPECT_EQ(c.at(1 + x, 1 + y).green, 10 + 10 * (x / 3) + 20 * (y / 3));
  c.picture(7, 0, rgb);
  EXPECT_TRUE(same(c.at(7, 0), {1, 2, 3}));
  EXPECT_TRUE(contains(error_of([&] { c.picture(0, 0, Tensor::zeros({2, 2})); }), "f32[2, 2]"));
}

TEST(Canvas, ImpossibleSizesAreNamed) {
  EXPECT_TRUE(contains(error_of([] { Canvas(0, 5); }), "0 x 5"));
  EXPECT_TRUE(contains(error_of([] { Canvas(1 << 20, 1 << 20); }), "1048576"));
}

TEST(Text, EveryCharacterHasAShapeOfItsOwn) {
  const std::set<Glyph> different(glyphs.begin(), glyphs.end());
  EXPECT_EQ(different.size(), glyphs.size() - 1);  // O and 0 are alike
}

TEST(Text, StaysWithinItsWidthAndHeight) {
  for (double size : {7.0, 12.0, 30.0})
    for (const char *text : {"Loss", "W", "3.14159", "ankle boot 97 %"}) {
      const double width = text_width(text, size);
      Canvas c(static_cast<int64_t>(width) + 40, 80);
      c.text({20, 20}, text, size, colours::black);
      EXPECT_GT(ink(c), size);
      const double inside = ink(c);
      c.rectangle(17, 17, static_cast<int64_t>(std::ceil(width)) + 6, static_cast<int64_t>(size * 8 / 6) + 6,
                  colours::white);
      EXPECT_EQ(ink(c), 0) << text << " at " << size << " of " << inside;
    }
}

TEST(Text, RunningUpIsTheSameTextTurned) {
  Canvas right(100, 100), up(100, 100);
  right.text({10, 20}, "loss", 14, colours::black);
  up.text({20, 90}, "loss", 14, colours::black, Direction::up);
  for (int64_t y = 0; y < 100; ++y)
    for (int64_t x = 0; x < 100; ++x) ASSERT_NEAR(right.at(x, y).red, up.at(y, 99 - x).red, 1);
}

TEST(Text, OtherBytesBecomeQuestionMarks) {
  Canvas a(40, 20), b(40, 20);
  a.text({2, 2}, "\xff\n", 10, colours::black);
  b.text({2, 2}, "??", 10, colours::black);
  EXPECT_EQ(std::string(reinterpret_cast<char *>(a.pixels().raw()), a.pixels().bytes()),
            std::string(reinterpret_cast<char *>(b.pixels().raw()), b.pixels().bytes()));
}

TEST(Ticks, AreRoundAndCoverTheRange) {
  for (double low : {-1e6, -3.7, 0.0, 0.113, 91.2})
    for (double size : {1e-3, 0.7, 1.0, 12.5, 1e7}) {
      const Ticks t = round_ticks(low, low + size, 6);
      EXPECT_LE(t.first, low + 1e-9 * size);
      EXPECT_GE(t.last(), low + size - 1e-6 * size);
      EXPECT_GE(t.count, 3);
      EXPECT_LE(t.count, 8);
      const double mantissa = t.step / std::pow(10, std::floor(std::log10(t.step) + 1e-9));
      EXPECT_TRUE(std::fabs(mantissa - 1) < 1e-6 || std::fabs(mantissa - 2) < 1e-6 || std::fabs(mantissa - 5) < 1e-6);
      std::set<std::string> labels;
      for (int i = 0; i < t.count; ++i) labels.insert(t.label(i));
      if (std::fabs(low) < 1e5) {
        EXPECT_EQ(static_cast<int>(labels.size()), t.count) << low << " " << size;
      }
    }
  EXPECT_EQ(round_ticks(0, 1, 6).label(1), "0.2");
  EXPECT_GE(round_ticks(3, 3, 6).count, 2);
  // From the first tick, -1e308, to the upper end is infinitely far.
  const Ticks wide = round_ticks(-0.9e308, 0.9e308, 6);
  EXPECT_TRUE(std::isfinite(wide.step));
  EXPECT_LE(wide.count, 8);
  EXPECT_GE(wide.last(), 0.9e308);
}

Plot two_series() {
  Plot p;
  p.title = "Training";
  p.series.push_back({"loss", {0, 1, 2}, {2, 1, 0}, colours::blue, Axis::left, 3});
  p.series.push_back({"accuracy", {0, 1, 2}, {50, 75, 100}, colours::orange, Axis::right, 3});
  return p;
}

TEST(Plot, ShowsEverySeriesOnItsAxis) {
  const Canvas c = draw(two_series());
  EXPECT_GT(count(c, colours::blue), 800);
  EXPECT_GT(count(c, colours::orange), 800);
  Plot only_loss = two_series();
  only_loss.series.pop_back();
  EXPECT_EQ(count(draw(only_loss), colours::orange), 0);
}

TEST(Plot, PointsStandAlone) {
  Plot p;
  p.series = {{"", {0, 1, 2}, {0, 5, 0}, colours::red, Axis::left, 9, Style::points}};
  const int64_t each = count(draw(p), colours::red) / 3;
  EXPECT_NEAR(static_cast<double>(each), 3.1416 * 4 * 4, 12);  // pixels that are covered in whole
  const std::string svg = to_svg(p);
  EXPECT_EQ(svg.find("<polyline"), std::string::npos);
  EXPECT_TRUE(contains(svg, "<circle r=\"3\""));
  p.series[0].y[1] = NAN;
  EXPECT_EQ(count(draw(p), colours::red), 2 * each);
}

TEST(Plot, SurvivesEmptyConstantAndNotFiniteSeries) {
  Plot p = two_series();
  p.series[0].y = {NAN, 3, INFINITY};
  p.series[1].y = {0, 0, 0};
  EXPECT_NO_THROW(draw(p));
  p.series = {{"none", {}, {}, colours::red}};
  EXPECT_NO_THROW(draw(p));
  p.series = {{"one", {5}, {-1e300}, colours::red}};
  EXPECT_NO_THROW(draw(p));
  p.series = {{"huge", {0, 1}, {-1.7e308, 1.7e308}, colours::red}};
  EXPECT_NO_THROW(draw(p));
  p.series[0].x.pop_back();
  EXPECT_TRUE(contains(error_of([&] { draw(p); }), "'huge' has 1 x and 2 y"));
  p.series.clear();
  p.width = 60;
  EXPECT_TRUE(contains(error_of([&] { draw(p); }), "too small"));
}

TEST(Plot, PointsAreNotJoined) {
  Plot p;
  p.series = {{"", {0, 1, 2}, {0, 1, 0}, colours::red, Axis::left, 8}};
  const int64_t joined = count(draw(p), colours::red);
  p.series[0].style = Style::points;
  const int64_t apart = count(draw(p), colours::red);
  EXPECT_GT(apart, 3 * 25);  // three discs, of which one is whole
  EXPECT_LT(apart, 3 * 51);
  EXPECT_GT(joined, 10 * apart);
}

TEST(Plot, ABandFillsWhatIsBetweenItsLines) {
  Plot p;
  p.bands = {{"", {0, 1, 2}, {1, 1, 1}, {3, 3, 3}, colours::purple}};
  p.series = {{"", {0, 2}, {0, 4}, colours::blue, Axis::left, 1}};  // the axis goes from 0 to 4
  const Canvas c = draw(p);
  const int64_t middle = c.width() / 2;
  int64_t inside = 0, whole = 0, last = -1;
  for (int64_t y = 0; y < c.height(); ++y) {
    inside += c.at(middle - 40, y) == colours::purple;
    if (c.at(middle - 40, y) == colours::light_grey || c.at(middle - 40, y) == colours::grey) {
      if (last < 0) last = y;  // the highest line of the axis
      whole = y - last;
    }
  }
  EXPECT_NEAR(static_cast<double>(inside) / static_cast<double>(whole), 0.5, 0.03);
  p.bands[0].high.pop_back();
  EXPECT_TRUE(contains(error_of([&] { draw(p); }), "3 low and 2 high"));
  p.bands[0] = {"turned", {1, 0}, {0, 0}, {1, 1}};
  EXPECT_TRUE(contains(error_of([&] { draw(p); }), "'turned'"));
}

TEST(ContactSheet, FramesPicturesByRightAndWrong) {
  ContactSheet s;
  s.columns = 3;
  const Tensor picture = Tensor::full({4, 4}, 99, Type::u8);
  for (Mark m : {Mark::right, Mark::right, Mark::wrong, Mark::right}) s.pictures.push_back({picture, "", m});
  const Canvas c = draw(s);
  EXPECT_EQ(count(c, {99, 99, 99}), 4 * 16 * 16);
  EXPECT_EQ(count(c, colours::green), 3 * count(c, colours::red));
  EXPECT_GT(count(c, colours::red), 0);
}

TEST(ContactSheet, SurvivesNoPicturesAndNamesBadOnes) {
  ContactSheet s;
  EXPECT_NO_THROW(draw(s));
  s.title = "a title that is wider than the pictures";
  EXPECT_NO_THROW(draw(s));
  s.pictures.push_back({Tensor::zeros({3}, Type::u8), "flat", Mark::none});
  EXPECT_TRUE(contains(error_of([&] { draw(s); }), "'flat'"));
  s.columns = 0;
  EXPECT_TRUE(contains(error_of([&] { draw(s); }), "0 columns"));
}

}  // namespace
}  // namespace saltern
