#include "runtime/transforms/rows.h"

#include <cmath>
#include <numeric>

namespace saltern::transforms {

const std::string interpolation_and_antialias = "interpolation='bilinear', antialias=True";

TransformRow::Apply of_image(OfImage f) {
  return [f = std::move(f)](const Arguments &made, Random &random, const Arguments &in) -> Argument {
    try {
      Image x = image_of(made.owner(), in.variable("inpt").value());
      take_places(in, x);
      return with_places(in, f(made, random, x));
    } catch (const nn::ArgumentError &) {
      throw;
    } catch (const Error &e) {
      const std::string text = e.what();
      throw Error(text.rfind(made.owner(), 0) == 0 ? text : made.owner() + ": " + text);
    }
  };
}

TransformRow::Apply sometimes(OfImage f) {
  const TransformRow::Apply always = of_image(std::move(f));
  return [always](const Arguments &made, Random &random, const Arguments &in) -> Argument {
    return random.uniform() >= made.real("p") ? as_given(in["inpt"], in) : always(made, random, in);
  };
}

TransformRow::Apply in_place(TransformRow::Apply of_input) {
  return [of_input = std::move(of_input)](const Arguments &made, Random &random, const Arguments &in) -> Argument {
    return as_given(of_input(made, random, in), in);
  };
}

double drawn(Random &random, double low, double high) {
  return low + (high - low) * static_cast<double>(random.uniform());
}

int64_t drawn_below(Random &random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random.below(static_cast<uint64_t>(high - low)));
}

std::vector<int64_t> drawn_order(Random &random, int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = count - 1; i > 0; --i)
    std::swap(order[static_cast<size_t>(i)], order[random.below(static_cast<uint64_t>(i) + 1)]);
  return order;
}

// Marsaglia and Tsang's method.
double drawn_gamma(Random &random, double shape) {
  if (shape < 1) {
    const double u = 1 - static_cast<double>(random.uniform());
    return drawn_gamma(random, shape + 1) * std::pow(u, 1 / shape);
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal(), v = std::pow(1 + c * x, 3), u = 1 - static_cast<double>(random.uniform());
    if (v > 0 && std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

double drawn_beta(Random &random, double alpha, double beta) {
  const double a = drawn_gamma(random, alpha), b = drawn_gamma(random, beta);
  return a + b > 0 ? a / (a + b) : 0.5;
}

Filter filter_of(const Arguments &a, const char *name) {
  const std::string &word = a.word(name, {"nearest", "nearest-exact", "bilinear", "bicubic"});
  return word == "nearest"         ? Filter::nearest
         : word == "nearest-exact" ? Filter::nearest_exact
         : word == "bilinear"      ? Filter::bilinear
                                   : Filter::bicubic;
}

std::pair<int64_t, int64_t> height_and_width(const Arguments &a, const char *name) {
  const std::vector<int64_t> both = a.integers(name, 2);
  for (const int64_t n : both)
    if (n < 1 || n > 1 << 20) a.refuse(name, "pixels, 1 or more");
  return {both[0], both[1]};
}

std::pair<double, double> range_of(const Arguments &a, const char *name) {
  const std::vector<double> both = a.reals(name, 2);
  if (!(both[0] <= both[1])) a.refuse(name, "a number, and one that is not less");
  return {both[0], both[1]};
}

std::vector<float> fill_of(const Arguments &a, const Image &x, const char *name) {
  if (!a.has(name)) return {0};
  const std::vector<double> all = a.reals(name);
  if (all.size() != 1 && all.size() != static_cast<size_t>(x.channels))
    a.refuse(name, "one number, or one for each of " + std::to_string(x.channels) + " channels");
  return {all.begin(), all.end()};
}

void expect_probability(const Arguments &a) {
  const double p = a.real("p");
  if (!(p >= 0 && p <= 1)) a.refuse("p", "a probability, 0 to 1");
}

Affine inverse_affine(double center_x, double center_y, double degrees, double right, double down, double scale,
                      double shear_x, double shear_y) {
  const auto radians = [](double of) { return of * 3.14159265358979323846 / 180; };
  const double turn = radians(degrees), sx = radians(shear_x), sy = radians(shear_y);
  const double a = std::cos(turn - sy) / std::cos(sy),
               b = -std::cos(turn - sy) * std::tan(sx) / std::cos(sy) - std::sin(turn);
  const double c = std::sin(turn - sy) / std::cos(sy),
               d = -std::sin(turn - sy) * std::tan(sx) / std::cos(sy) + std::cos(turn);
  Affine m = {d / scale, -b / scale, 0, -c / scale, a / scale, 0};
  m.c = m.a * (-center_x - right) + m.b * (-center_y - down) + center_x;
  m.f = m.d * (-center_x - right) + m.e * (-center_y - down) + center_y;
  return m;
}

Image moved(const Image &x, const Affine &m, int64_t height, int64_t width, Filter filter,
            const std::vector<float> &fill) {
  const double from_x = static_cast<double>(x.width - 1) / 2, from_y = static_cast<double>(x.height - 1) / 2;
  const double to_x = static_cast<double>(width - 1) / 2, to_y = static_cast<double>(height - 1) / 2;
  const Where where = [&](int64_t column, int64_t row) -> Place {
    const double i = static_cast<double>(column) - to_x, j = static_cast<double>(row) - to_y;
    return {m.a * i + m.b * j + m.c + from_x, m.d * i + m.e * j + m.f + from_y};
  };
  // The inverse, from the corner on: half a pixel further than from the middle of the first.
  const auto to = [&, by = 1 / (m.a * m.e - m.b * m.d)](const Place &p) -> Place {
    const double i = p.x - from_x - 0.5 - m.c, j = p.y - from_y - 0.5 - m.f;
    return {(m.e * i - m.b * j) * by + to_x + 0.5, (m.a * j - m.d * i) * by + to_y + 0.5};
  };
  return warped(x, height, width, where, to, filter, fill);
}

}  // namespace saltern::transforms
