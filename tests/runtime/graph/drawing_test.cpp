// Pictures of graphs: boxes do not overlap, arrows go downwards, every node is there under its name, and a large graph
// is drawn in no time.

#include "runtime/graph/drawing.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "runtime/graph/layered_layout.h"
#include "runtime/graph/text.h"
#include "tests/errors.h"

namespace saltern {
namespace {

void expect_good(const LayeredLayout &l, const std::vector<Arrow> &arrows) {
  for (const Arrow &a : arrows) ASSERT_LT(l.boxes[a.from].y + l.boxes[a.from].height, l.boxes[a.to].y);
  for (size_t i = 0; i < l.boxes.size(); ++i) {
    const PlacedBox &a = l.boxes[i];
    ASSERT_GE(a.x, 0);
    ASSERT_LE(a.x + a.width, l.width);
    ASSERT_LE(a.y + a.height, l.height);
    for (size_t k = 0; k < i; ++k) {
      const PlacedBox &b = l.boxes[k];
      const bool apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
      ASSERT_TRUE(apart) << i << " and " << k;
    }
  }
  for (size_t a = 0; a < arrows.size(); ++a) {
    double y = l.boxes[arrows[a].from].y;
    for (const Waypoint &w : l.ways[a]) {
      ASSERT_GT(w.top, y);
      y = w.bottom;
    }
  }
}

TEST(Layout, AChainStandsUnderneathItself) {
  const std::vector<Arrow> arrows = {{0, 1}, {1, 2}};
  const LayeredLayout l = layered_layout({{100, 30}, {40, 30}, {80, 30}}, arrows);
  expect_good(l, arrows);
  for (const PlacedBox &b : l.boxes) EXPECT_NEAR(b.x + b.width / 2, l.width / 2, 1e-6);
}

TEST(Layout, AnArrowOverLayersPassesBesideTheBoxesBetween) {
  const std::vector<Arrow> arrows = {{0, 1}, {1, 2}, {2, 3}, {0, 3}};
  const LayeredLayout l = layered_layout(std::vector<BoxSize>(4, {60, 30}), arrows);
  expect_good(l, arrows);
  ASSERT_EQ(l.ways[3].size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const PlacedBox &b = l.boxes[i + 1];
    EXPECT_TRUE(l.ways[3][i].x < b.x || l.ways[3][i].x > b.x + b.width);
  }
}

TEST(Layout, RandomGraphsHaveNoOverlap) {
  std::mt19937 random(3);
  for (size_t count : {1, 2, 7, 60}) {
    std::vector<BoxSize> boxes;
    std::vector<Arrow> arrows;
    for (size_t i = 0; i < count; ++i) {
      boxes.push_back({20.0 + random() % 100, 20.0 + random() % 30});
      for (size_t k = 0; i > 0 && k < random() % 4; ++k) arrows.push_back({random() % i, i});
    }
    expect_good(layered_layout(boxes, arrows), arrows);
  }
  EXPECT_TRUE(layered_layout({}, {}).boxes.empty());
}

// Every node reads the one before it and one far above.
Graph long_graph(int nodes) {
  Graph g;
  g.add_input("v0", {1, 8});
  for (int i = 1; i <= nodes; ++i)
    g.add_node("add", {"v" + std::to_string(i - 1), "v" + std::to_string(i / 2)}, "v" + std::to_string(i), {1, 8});
  g.outputs = {"v" + std::to_string(nodes)};
  return g;
}

TEST(Drawing, OfFiveThousandNodesIsQuickAndOfBoundedSize) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string svg = to_svg(drawing_of(long_graph(5000)));
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 10);
  EXPECT_LT(svg.size(), size_t{10} << 20);
  size_t boxes = 0;
  for (size_t at = 0; (at = svg.find("<g><title>", at)) != std::string::npos; ++at) ++boxes;
  EXPECT_EQ(boxes, 5002u);
}

Graph small_graph() {
  Graph g;
  g.add_input("picture <&> \"x\"", {1, 3, 8, 8});
  g.add_constant("w", Tensor::zeros({4, 3, 3, 3}));
  g.add_node("conv2d", {"picture <&> \"x\"", "w"}, "h", {1, 4, 6, 6});
  g.add_node("relu", {"h"}, std::string("\xff\x01"), {1, 4, 6, 6});
  g.add_node("add", {"h", std::string("\xff\x01")}, "y", {1, 4, 6, 6});
  g.outputs = {"y"};
  return g;
}

TEST(Drawing, HasABoxForEachNodeInputAndOutputAndALineForEachValue) {
  const Drawing d = drawing_of(small_graph());
  ASSERT_EQ(d.boxes.size(), 5u);
  EXPECT_EQ(d.boxes[1].title, "conv2d");
  EXPECT_EQ(d.boxes[1].detail, "1 x 4 x 6 x 6");
  EXPECT_TRUE(contains(d.boxes[1].hint, "4 x 3 x 3 x 3"));
  EXPECT_EQ(d.boxes[1].kind, Drawing::Kind::product);
  EXPECT_EQ(d.boxes[2].kind, Drawing::Kind::elementwise);
  EXPECT_EQ(d.lines.size(), 5u);
  for (size_t k = 0; k < drawing_kinds().size(); ++k) EXPECT_EQ(static_cast<size_t>(drawing_kinds()[k].kind), k);
}

TEST(Drawing, NamesThatHoldAnythingAreEscaped) {
  const std::string svg = to_svg(drawing_of(small_graph())), dot = to_dot(drawing_of(small_graph()));
  EXPECT_TRUE(contains(svg, "picture &lt;&amp;&gt; &quot;x&quot;"));
  EXPECT_EQ(svg.find('\xff'), std::string::npos);
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
  EXPECT_TRUE(contains(dot, "picture <&> \\\"x\\\""));
  EXPECT_TRUE(contains(dot, "n0 -> n1"));
}

TEST(Drawing, KindsComeFromNamesAndShapes) {
  const Graph g = parse_imported_graph(
      "saltern graph 1\ninput x f32 [2, 3]\nnode Sin(x) -> s f32 [2, 3]\nnode Shape(s) -> n i64 [2]\n"
      "node NonZero(s) -> z i64 [2, ?]\nnode MatMul(s, x) -> m f32 [2, 3]\noutput n\noutput z\noutput m\n",
      {}, "text");
  const Drawing d = drawing_of(g);
  using Kind = Drawing::Kind;
  const std::map<std::string, Kind> wanted = {
      {"Sin", Kind::elementwise}, {"Shape", Kind::movement}, {"NonZero", Kind::other}, {"MatMul", Kind::product}};
  std::map<std::string, Kind> got;
  for (const Drawing::Box &b : d.boxes)
    if (b.kind != Kind::edge) got[b.title] = b.kind;
  EXPECT_EQ(got, wanted);
}

}  // namespace
}  // namespace saltern
