// Special functions, and random tensors: what distributions are made of. Draws come from the stream of manual_seed().

#include "algorithms/special.h"
#include "runtime/layers/unary.h"
#include "runtime/nn/families.h"
#include "runtime/nn/promotion.h"
#include "runtime/nn/gamma_routines.h"
#include "runtime/nn/layer.h"
#include "runtime/nn/types.h"
#include "runtime/tensor/strided.h"

namespace saltern::nn {

namespace {

using namespace formula;
using Tensors = std::vector<Tensor>;

Variable real_in(const Arguments &a, const char *name = "input") {
  const Variable x = a.variable(name);
  return is_real(x.type()) ? x : to_type(x, Type::f32);
}

struct OfOneShape {
  OfOneShape(const std::string &name, Value (*f)(const Value &, const Value &))
      : operation(name, [f](const Values &in, const Attributes &) -> Values { return {f(in.at(0), in.at(1))}; }),
        function(name, "input, other", [this](const Arguments &a) {
          const Variable x = real_in(a), y = real_in(a, "other");
          const Shape shape = broadcast_shape(x.shape(), y.shape(), a.owner());  // rules of gradients do not broadcast
          return operation(expand(x, shape), expand(a["other"].as<Variable>() ? y : to_type(y, x.type()), shape));
        }) {}
  Operation operation;
  nn::Function function;
};
const OfOne gammas[] = {
    {"lgamma", algorithms::lgamma}, {"digamma", algorithms::digamma}, {"erfinv", algorithms::erfinv}};
const OfOneShape of_one_shape[] = {{"xlogy", algorithms::xlogy}, {"atan2", algorithms::angle}};

const Operation derivative_of_digamma("special.polygamma", [](const Values &in, const Attributes &a) -> Values {
  return {algorithms::polygamma(static_cast<int>(a.integer("n")), in.at(0))};
});
const nn::Function polygamma("polygamma", "n, input", [](const Arguments &a) {
  if (a.integer("n") < 0 || a.integer("n") > 20) a.refuse("n", "0 to 20");
  return apply_one(derivative_of_digamma, {real_in(a)}, {{"n", a.integer("n")}});
});

// ---- By loops over elements, in f64.

// y(i) = f(x(i), ...), of tensors of one shape.
Tensor each(const Tensors &in, const std::function<double(const std::vector<double> &)> &f) {
  const Tensor y = Tensor::empty(in.at(0).shape(), in[0].type());
  if (y.is_outline()) return y;
  std::vector<std::vector<double>> all;
  for (const Tensor &t : in) all.push_back(t.reals());
  std::vector<double> values(all[0].size()), at(all.size());
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t k = 0; k < all.size(); ++k) at[k] = all[k][i];
    values[i] = f(at);
  }
  const Tensor exact = Tensor::of<double>(y.shape(), values);
  return to_type(exact, y.type()).value();
}

// P(a, x). By x its slope is the density, which is a formula; by a, one that has no further gradient.
const Operation density("special.gamma_density", [](Value a, Value x) {
  const Value at = where(x > 0, x, 1);
  return where(x > 0, exp((a - 1) * log(at) - at - algorithms::lgamma(a)), 0);
});
const Operation by_shape("special.gammainc_by_shape", [](const Tensors &in, const Attributes &) -> Tensors {
  return {each(in, [](const auto &v) { return gamma_probability(v[0], v[1]).by_shape; })};
});
const Operation probability(
    "special.gammainc",
    [](const Tensors &in, const Attributes &a) -> Tensors {
      const bool above = a.integer("above") != 0;
      return {each(in, [above](const auto &v) {
        const GammaProbability p = gamma_probability(v[0], v[1]);
        return above ? p.above : p.below;
      })};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      const Variable a = t.input(0), x = t.input(1), d = t.attributes().integer("above") != 0 ? negate(dy[0]) : dy[0];
      return {t.needs(0) ? d * by_shape(a, x) : Variable(), d * density(a, x)};
    });
nn::Function::Body gamma_function(bool above) {
  return [above](const Arguments &of) {
    const Variable a = real_in(of), x = real_in(of, "other");
    const Shape shape = broadcast_shape(a.shape(), x.shape(), of.owner());
    return apply_one(probability, {expand(a, shape), expand(to_type(x, a.type()), shape)}, {{"above", int64_t{above}}});
  };
}
const nn::Function gammainc("gammainc", "input, other", gamma_function(false));
const nn::Function gammaincc("gammaincc", "input, other", gamma_function(true));

// ---- Draws.

void refuse_outlines(const Arguments &a, const Variable &x) {
  if (x.value().is_outline()) fail(a.owner(), " draws at each call, which a graph cannot");
}

nn::Function::Body filled_by(double (*draw)(Random &)) {
  return [draw](const Arguments &a) -> Argument {
    Shape shape = a.integers("size");
    for (int64_t extent : shape)
      if (extent < 0) a.refuse("size", "extents of at least 0");
    std::vector<double> values(static_cast<size_t>(elements(shape)));
    for (double &v : values) v = draw(random_numbers());
    return to_type(Tensor::of<double>(shape, values), type_named(a.word("dtype")));
  };
}
// In (0, 1), neither of which it is in f32 either.
double inner_uniform(Random &random) { return std::min(std::max(draw_uniform(random), 0x1p-24), 1 - 0x1p-24); }
const nn::Function uniform("random.uniform", "size, dtype='float32'", filled_by(inner_uniform));
const nn::Function normal("random.normal", "size, dtype='float32'", filled_by(draw_normal));

// Samples of Gamma(a, 1): their slope keeps the probability of what is below them.
const Operation slope_of_gamma("random.gamma_slope", [](const Tensors &in, const Attributes &) -> Tensors {
  return {each(in, [](const auto &v) { return gamma_slope(v[0], v[1]); })};
});
const Operation drawn_gamma(
    "random.gamma",
    [](const Tensors &in, const Attributes &a) -> Tensors {
      Random random(static_cast<uint64_t>(a.integer("seed")));
      return {each(in, [&](const auto &v) { return draw_gamma(random, v[0]); })};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      return {dy[0] * slope_of_gamma(t.input(0), t.output(0))};
    });
const nn::Function gamma("random.gamma", "concentration", [](const Arguments &a) {
  const Variable x = real_in(a, "concentration");
  refuse_outlines(a, x);
  return apply_one(drawn_gamma, {x}, {{"seed", static_cast<int64_t>(random_numbers().bits() >> 1)}});
});

const nn::Function poisson("random.poisson", "rate", [](const Arguments &a) -> Argument {
  const Variable x = real_in(a, "rate");
  refuse_outlines(a, x);
  return each({x.value()}, [](const auto &v) { return draw_poisson(random_numbers(), v[0]); });
});
const nn::Function binomial("random.binomial", "count, prob", [](const Arguments &a) -> Argument {
  const Variable n = real_in(a, "count"), p = real_in(a, "prob");
  refuse_outlines(a, p);
  const Shape shape = broadcast_shape(n.shape(), p.shape(), a.owner());
  return each({expand(p, shape).value(), expand(to_type(n, p.type()), shape).value()},
              [](const auto &v) { return draw_binomial(random_numbers(), static_cast<int64_t>(v[1]), v[0]); });
});

}  // namespace

const void *special_functions() { return &gammainc; }

}  // namespace saltern::nn
