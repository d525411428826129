#pragma once
// Algorithms of the language, each with inputs to try it on, in f64: for tests of gradients and of what is compiled.

#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/contraction.h"
#include "algorithms/convolution.h"
#include "algorithms/ctc.h"
#include "algorithms/distances.h"
#include "algorithms/functions.h"
#include "algorithms/losses.h"
#include "algorithms/margins.h"
#include "algorithms/movement.h"
#include "algorithms/normalisation.h"
#include "algorithms/pooling.h"
#include "algorithms/probabilities.h"
#include "algorithms/ranking.h"
#include "algorithms/recurrent.h"
#include "algorithms/reductions.h"
#include "algorithms/sampling.h"
#include "runtime/formula/evaluate_values.h"

namespace saltern {

using namespace algorithms;

// What inputs hold, and what symbols that are no extents stand for.
struct Given {
  std::vector<Value> inputs;
  std::vector<Tensor> tensors;
  formula::Numbers numbers;
};

struct Case {
  std::string name;
  std::vector<Value> outputs;
  std::vector<Value> wanted;  // inputs
  Given given;
};

inline Tensor drawn(const Shape &shape, double low, double high) {
  static std::mt19937 random_bits(7);
  const Tensor t = Tensor::empty(shape, Type::f64);
  for (int64_t i = 0; i < t.size(); ++i)
    t.data<double>()[i] = std::uniform_real_distribution<double>(low, high)(random_bits);
  return t;
}

inline Value sized(Given &g, const std::string &name, const std::vector<Expression> &extents, const Shape &shape,
                   double low = -1, double high = 1) {
  g.tensors.push_back(drawn(shape, low, high));
  g.inputs.push_back(formula::input(name, extents, Type::f64));
  return g.inputs.back();
}

inline Value places(Given &g, const std::string &name, const Expression &extent, int count, int below) {
  const Tensor t = Tensor::empty({count}, Type::i64);
  for (int i = 0; i < count; ++i) t.data<int64_t>()[i] = (i * 5 + 2) % below;
  g.tensors.push_back(t);
  g.inputs.push_back(formula::input(name, {extent}, Type::i64));
  return g.inputs.back();
}

inline formula::ExactFormulas formulas_of(const Values &outputs, const Given &g) {
  formula::Numbers numbers = sizes_of(g.inputs, g.tensors);
  numbers.insert(g.numbers.begin(), g.numbers.end());
  return formula::exact_formulas(g.inputs, outputs, numbers);
}

inline std::vector<Tensor> values_of(const Values &outputs, const Given &g) {
  return evaluate(formulas_of(outputs, g), g.tensors);
}

// The seeds of outputs, drawn and given to `g`.
inline Values seeded(const Values &outputs, Given &g, const std::string &prefix) {
  const std::vector<Tensor> y = values_of(outputs, g);
  Values seeds;
  for (size_t i = 0; i < outputs.size(); ++i)
    seeds.push_back(sized(g, prefix + std::to_string(i), outputs[i].extents(), y[i].shape()));
  return seeds;
}

// For GoogleTest, which wants letters and digits.
inline std::string case_name(const std::string &name, size_t number) {
  std::string plain;
  for (char c : name) plain += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return plain + "_" + std::to_string(number);
}

inline std::vector<std::pair<std::string, std::function<Case()>>> algorithm_cases() {
  std::vector<std::pair<std::string, std::function<Case()>>> cases;
  const auto add = [&](const std::string &name, const std::function<Case()> &make) { cases.emplace_back(name, make); };
  const auto of_one = [&](const std::string &name, const std::function<Value(const Value &)> &f) {
    add(name, [=] {
      Given g;
      const Value x = sized(g, "x", {formula::size("n"), formula::size("c")}, {3, 7}, -3, 3);
      return Case{name, {f(x)}, {x}, g};
    });
  };
  of_one("softmax", [](const Value &x) { return softmax(x, 1); });
  of_one("softmax axis 0", [](const Value &x) { return softmax(x, 0); });
  of_one("log_softmax", [](const Value &x) { return log_softmax(x, 1); });
  of_one("gelu", gelu);
  of_one("gelu_tanh", gelu_tanh);
  of_one("elu(0.7)", [](const Value &x) { return elu(x, 0.7); });
  of_one("mish", mish);
  of_one("silu", silu);
  of_one("hard_swish", hard_swish);
  of_one("leaky_relu", [](const Value &x) { return leaky_relu(x, 0.1) * x; });
  of_one("running sum", [](const Value &x) { return running(Function::sum, x * x, 1); });
  of_one("running sum down the columns", [](const Value &x) { return running(Function::sum, x * x, 0, true); });
  of_one("running product from the end", [](const Value &x) { return running(Function::product, x, 1, false, true); });
  of_one("running greatest", [](const Value &x) {
    return scan("greatest", x.extents(), 1, constant_value(x.type(), -9),
                [&](const Axes &at, const Expression &so_far) { return max(so_far, x.at(at) * x.at(at)); });
  });
  add("recurrence", [] {
    Given g;
    const Expression n = formula::size("n"), t = formula::size("t"), c = formula::size("c");
    const Value x = sized(g, "x", {n, t, c}, {2, 5, 3}), a = sized(g, "a", {t, c}, {5, 3});
    const Value h = sized(g, "h", {n, 1, c}, {2, 1, 3});
    const Value y = scan("recurrence", x.extents(), 1, h * h, [&](const Axes &at, const Expression &before) {
      const Expression linear = a(at[1], at[2]) * before + x.at(at);
      return formula::call(Function::tanh, linear * before);
    });
    return Case{"recurrence", {y * y}, {x, a, h}, g};
  });
  of_one("backwards in steps of 3", [](const Value &x) {
    return compute("backwards", {x.extent(0), 3},
                   [&](Expression i, Expression j) { return x(i, 6 - 3 * j) * x(i, j); });
  });
  of_one("round and round a part", [](const Value &x) {
    return compute("round", {x.extent(0), 8},
                   [&](Expression i, Expression j) { return x(i, modulo(j, 3) + 2) * x(i, quotient(j, 2)); });
  });
  of_one("sorted", [](const Value &x) { return sorted(x, 1) * x; });
  of_one("top", [](const Value &x) { return top(x * x, 0, 2).values; });
  of_one("greatest", [](const Value &x) { return greatest(x * x, {1}); });
  of_one("product", [](const Value &x) { return product(x, {1}); });
  of_one("log_sum_exp", [](const Value &x) { return log_sum_exp(x, {0, 1}); });
  add("cross_entropy", [] {
    Given g;
    const Value x = sized(g, "x", {formula::size("n"), formula::size("c")}, {4, 6}, -3, 3);
    return Case{"cross_entropy", {cross_entropy(x, places(g, "labels", formula::size("n"), 4, 6))}, {x}, g};
  });
  add("huber_loss", [] {
    Given g;
    const Value x = sized(g, "x", {formula::size("n"), formula::size("c")}, {4, 6}, -3, 3);
    const Value t = sized(g, "t", {formula::size("n"), formula::size("c")}, {4, 6}, -1, 1);
    return Case{"huber_loss", {huber_loss(x, t, 1.2)}, {x, t}, g};
  });
  for (const bool rms : {false, true})
    add(rms ? "rms_norm" : "layer_norm", [rms] {
      Given g;
      g.numbers["epsilon"] = 1e-3;
      const Value x = sized(g, "x", {formula::size("n"), formula::size("c")}, {3, 7}),
                  scale = sized(g, "scale", {formula::size("c")}, {7});
      const Value shift = sized(g, "shift", {formula::size("c")}, {7}), epsilon = parameter("epsilon", Type::f64);
      if (rms) return Case{"rms_norm", {rms_norm(x, scale, epsilon)}, {x, scale}, g};
      return Case{"layer_norm", {layer_norm(x, scale, shift, epsilon)}, {x, scale, shift}, g};
    });
  for (const std::string kind : {"group_norm", "instance_norm", "batch_norm"})
    add(kind, [kind] {
      Given g;
      g.numbers["epsilon"] = 1e-3;
      const Expression n = formula::size("n"), p = formula::size("p"),
                       groups = kind == "group_norm" ? Expression(3) : Expression(1);
      const Expression c = kind == "group_norm" ? groups * formula::size("k") : formula::size("c");
      g.numbers["k"] = 2;
      const Value x = sized(g, "x", {n, c, p}, {2, 6, 5}), scale = sized(g, "scale", {c}, {6});
      const Value shift = sized(g, "shift", {c}, {6}), epsilon = parameter("epsilon", Type::f64);
      if (kind == "group_norm") return Case{kind, {group_norm(x, scale, shift, groups, epsilon)}, {x, scale, shift}, g};
      if (kind == "instance_norm") return Case{kind, {instance_norm(x, scale, shift, epsilon)}, {x, scale, shift}, g};
      const Statistics of = statistics(x);
      return Case{kind, {batch_norm(x, of, scale, shift, epsilon), of.mean, of.variance}, {x, scale, shift}, g};
    });
  const auto convolution = [&](const std::string &name, int stride, int dilation, int pad, bool symbolic) {
    add(name, [=] {
      Given g;
      g.numbers["stride"] = stride;
      g.numbers["dilation"] = dilation;
      g.numbers["pad"] = pad;
      const Slide s = symbolic ? Slide{symbol("stride", Type::i64, 1, 2), symbol("dilation", Type::i64, 1, 1),
                                       symbol("pad", Type::i64, 0, 1)}
                               : Slide{stride, dilation, pad};
      const Value x =
          sized(g, "x", {formula::size("n"), formula::size("c"), formula::size("h"), formula::size("w")}, {2, 3, 9, 8});
      const Value w =
          sized(g, "w", {formula::size("o"), formula::size("c"), formula::size("kh", 3), formula::size("kw", 3)},
                {4, 3, 3, 2});
      return Case{name, {algorithms::convolution(x, w, s)}, {x, w}, g};
    });
  };
  convolution("conv2d", 1, 1, 1, false);
  convolution("conv2d stride 2", 2, 1, 1, false);
  convolution("conv2d stride 3", 3, 1, 0, false);
  convolution("conv2d dilation 2", 1, 2, 2, false);
  convolution("conv2d s2 d3", 2, 3, 3, false);
  convolution("conv2d symbolic", 2, 1, 1, true);
  convolution("conv2d symbolic s2 d2", 2, 2, 1, true);
  add("grouped_conv2d", [] {
    Given g;
    const Value x = sized(
        g, "x", {formula::size("n"), formula::size("g"), formula::size("c"), formula::size("h"), formula::size("w")},
        {2, 2, 3, 6, 5});
    const Value w = sized(
        g, "w",
        {formula::size("g"), formula::size("o"), formula::size("c"), formula::size("kh", 3), formula::size("kw", 3)},
        {2, 2, 3, 3, 2});
    return Case{"grouped_conv2d", {grouped_conv2d(x, w, Slide{2, 1, 1})}, {x, w}, g};
  });
  add("conv1d", [] {
    Given g;
    const Value x = sized(g, "x", {formula::size("n"), formula::size("c"), formula::size("l")}, {2, 3, 11});
    const Value w = sized(g, "w", {formula::size("o"), formula::size("c"), formula::size("k", 3)}, {2, 3, 4});
    return Case{"conv1d", {algorithms::convolution(x, w, Slide{3, 2, 2})}, {x, w}, g};
  });
  add("conv3d", [] {
    Given g;
    const Value x = sized(
        g, "x", {formula::size("n"), formula::size("c"), formula::size("d"), formula::size("h"), formula::size("w")},
        {1, 2, 5, 4, 5});
    const Value w = sized(g, "w",
                          {formula::size("o"), formula::size("c"), formula::size("kd", 3), formula::size("kh", 3),
                           formula::size("kw", 3)},
                          {2, 2, 2, 3, 2});
    return Case{"conv3d", {algorithms::convolution(x, w, Slide{2, 1, 1})}, {x, w}, g};
  });
  add("transposed_conv2d", [] {
    Given g;
    const Value x =
        sized(g, "x", {formula::size("n"), formula::size("o"), formula::size("p"), formula::size("q")}, {2, 3, 4, 3});
    const Value w = sized(g, "w", {formula::size("o"), formula::size("c"), 3, 3}, {3, 2, 3, 3});
    const Expression height = (x.extent(2) - 1) * 2 + 1, width = (x.extent(3) - 1) * 2 + 1;
    return Case{"transposed_conv2d",
                {transposed_convolution(x, w, Slide{2, 1, 1}, {x.extent(0), w.extent(1), height, width})},
                {x, w},
                g};
  });
  for (const bool largest : {true, false})
    for (const int stride : {1, 2, 3})
      add((largest ? "max_pool2d s" : "average_pool2d s") + std::to_string(stride), [=] {
        Given g;
        const Value x = sized(g, "x", {formula::size("n"), formula::size("c"), formula::size("h"), formula::size("w")},
                              {2, 2, 7, 8});
        const Slide s{stride, 1, 1};
        const std::string name = (largest ? "max_pool2d s" : "average_pool2d s") + std::to_string(stride);
        return Case{name, {largest ? max_pool(x * x, {3, 2}, s) : average_pool(x * x, {3, 2}, s)}, {x}, g};
      });
  add("matmul", [] {
    Given g;
    const Value a = sized(g, "a", {formula::size("m"), formula::size("k")}, {4, 5}),
                b = sized(g, "b", {formula::size("k"), formula::size("n")}, {5, 3});
    return Case{"matmul", {matmul(a, b)}, {a, b}, g};
  });
  add("dense layers", [] {
    Given g;
    const Value x = sized(g, "x", {formula::size("n"), formula::size("i")}, {7, 5}),
                w = sized(g, "w", {formula::size("h"), formula::size("i")}, {6, 5}),
                b = sized(g, "b", {formula::size("h")}, {6}),
                v = sized(g, "v", {formula::size("o"), formula::size("h")}, {3, 6});
    const Value hidden = named("hidden", tanh(dense(x, w) + b));
    return Case{"dense layers", {dense(hidden, v), sum(hidden, {1})}, {x, w, b, v}, g};
  });
  add("dense with an epilogue", [] {
    Given g;
    const Value x = sized(g, "x", {formula::size("n"), formula::size("i")}, {7, 5}),
                w = sized(g, "w", {formula::size("o"), formula::size("i")}, {6, 5}),
                b = sized(g, "b", {formula::size("o")}, {6}), y = dense(x, w) + b;
    return Case{"dense with an epilogue", {y * sigmoid(y)}, {x, w, b}, g};
  });
  add("einsum bhqd,bhkd->bhqk", [] {
    Given g;
    const Value a =
        sized(g, "a", {formula::size("b"), formula::size("h"), formula::size("q"), formula::size("d")}, {2, 2, 3, 4});
    const Value b =
        sized(g, "b", {formula::size("b"), formula::size("h"), formula::size("k"), formula::size("d")}, {2, 2, 5, 4});
    return Case{"einsum bhqd,bhkd->bhqk", {einsum("bhqd,bhkd->bhqk", a, b)}, {a, b}, g};
  });
  add("attention", [] {
    Given g;
    const Value q = sized(g, "q", {formula::size("b"), formula::size("l"), formula::size("d")}, {2, 3, 4});
    const Value k = sized(g, "k", {formula::size("b"), formula::size("m"), formula::size("d")}, {2, 5, 4});
    const Value v = sized(g, "v", {formula::size("b"), formula::size("m"), formula::size("e")}, {2, 5, 3});
    return Case{"attention", {einsum("blm,bme->ble", softmax(einsum("bld,bmd->blm", q, k) * 0.5, 2), v)}, {q, k, v}, g};
  });
  add("embedding", [] {
    Given g;
    const Value t = sized(g, "t", {formula::size("v"), formula::size("e")}, {6, 3});
    const Value y = embedding(t * t, places(g, "places", formula::size("n"), 7, 6));
    return Case{"embedding", {y}, {t}, g};
  });
  add("pixel_shuffle", [] {
    Given g;
    const Value x = sized(g, "x", {formula::size("n"), 4 * formula::size("k"), formula::size("h"), formula::size("w")},
                          {2, 8, 3, 2});
    g.numbers["k"] = 2;
    return Case{"pixel_shuffle", {pixel_shuffle(x * x, 2)}, {x}, g};
  });
  add("resize_nearest", [] {
    Given g;
    const Value x =
        sized(g, "x", {formula::size("n"), formula::size("c"), formula::size("h"), formula::size("w")}, {2, 2, 3, 2});
    return Case{"resize_nearest", {resize_nearest(x * x, 3)}, {x}, g};
  });
  add("resize_bilinear", [] {
    Given g;
    const Value x =
        sized(g, "x", {formula::size("n"), formula::size("c"), formula::size("h"), formula::size("w")}, {2, 2, 3, 4});
    return Case{"resize_bilinear", {resize_bilinear(x * x, 5, 9)}, {x}, g};
  });
  add("grid_sample", [] {
    Given g;
    const Value x =
        sized(g, "x", {formula::size("n"), formula::size("c"), formula::size("h"), formula::size("w")}, {2, 2, 4, 5});
    const Value grid =
        sized(g, "grid", {formula::size("n"), formula::size("p"), formula::size("q"), 2}, {2, 3, 3, 2}, -1.2, 1.2);
    return Case{"grid_sample", {grid_sample(x, grid)}, {x, grid}, g};
  });
  of_one("celu(0.7)", [](const Value &x) { return celu(x, 0.7); });
  of_one("selu", [](const Value &x) { return selu(x, 1.67, 1.05); });
  of_one("swish(0.7)", [](const Value &x) { return swish(x, 0.7); });
  of_one("softsign", softsign);
  of_one("shrink", [](const Value &x) { return shrink(x, 0.5, 0.2); });
  of_one("thresholded_relu", [](const Value &x) { return thresholded_relu(x, 0.5); });
  of_one("hard_sigmoid", [](const Value &x) { return hard_sigmoid(x, 0.2, 0.5); });
  of_one("running product backwards", [](const Value &x) { return running(Function::product, x, 0, true, true); });
  of_one("l1_norm", [](const Value &x) { return l1_norm(x, {0}); });
  of_one("l2_norm", [](const Value &x) { return l2_norm(x, {1}); });
  add("recurrent cells", [] {
    Given g;
    const Expression n = formula::size("n"), k = formula::size("k");
    const Value w = sized(g, "w", {n, 4 * k}, {2, 12}), r = sized(g, "r", {n, 4 * k}, {2, 12});
    const Value h = sized(g, "h", {n, k}, {2, 3}), p = sized(g, "p", {3 * k}, {9});
    g.numbers["k"] = 3;
    const Activation f = sigmoid, t = [](const Value &x) { return tanh(x); };
    const Value c = lstm_cell(w, r, h, p, f, t, false), y = lstm_hidden(w, r, named("c", c), p, f, t);
    return Case{"recurrent cells", {gru_cell(w, r, y, gru_reset(w, r, y, f) * y, f, t)}, {w, r, h, p}, g};
  });
  add("mean_variance_norm and local_response_norm", [] {
    Given g;
    const Value x = sized(g, "x", {2, 5, 3, 4}, {2, 5, 3, 4});
    const Value y = local_response_norm(mean_variance_norm(x, {0, 2, 3}), 3, 0.1, 0.75, 1);
    return Case{"mean_variance_norm and local_response_norm", {y, lp_normalised(x, 1, 1)}, {x}, g};
  });
  add("label_loss", [] {
    Given g;
    const Value x = sized(g, "x", {formula::size("n"), formula::size("c")}, {4, 6}),
                w = sized(g, "w", {x.extent(1)}, {6});
    const LabelLoss of = label_loss(x, places(g, "labels", formula::size("n"), 4, 6), w, 2);
    return Case{"label_loss", {sum_all(of.loss) / (sum_all(of.weight) + 9)}, {x, w}, g};
  });
  add("losses of pairs", [] {
    Given g;
    const Expression n = formula::size("n");
    const Value x = sized(g, "x", {n, 5}, {4, 5}, 0.1, 0.9), t = sized(g, "t", {n, 5}, {4, 5}, 0.1, 0.9);
    const Values losses = {huber(x, t, 0.2),
                           smooth_l1(x, t, 0.2),
                           binary_cross_entropy(x, t),
                           logistic_loss(x, t, t),
                           divergence(x, t),
                           poisson_loss(x, 3 * t, true, true, 1e-8),
                           gaussian_loss(x, t, x * t, true, 1e-6)};
    return Case{"losses of pairs", losses, {x, t}, g};
  });
  add("margins", [] {
    Given g;
    const Expression n = formula::size("n"), c = formula::size("c");
    const Value x = sized(g, "x", {n, c}, {4, 6}), w = sized(g, "w", {c}, {6});
    const Value label = places(g, "labels", n, 4, 6);
    const Value several = inlined({n, c}, [&](const Axes &at) {
      return select(at[1] < 2, modulo(label(at[0]) + at[1], 6), constant_integer(Type::i64, -1));
    });
    return Case{"margins", {multi_margin(x, label, w, 2, 0.7), multilabel_margin(x, several)}, {x, w}, g};
  });
  add("distances", [] {
    Given g;
    const Expression n = formula::size("n");
    const Value a = sized(g, "a", {n, 5}, {4, 5}), b = sized(g, "b", {n, 5}, {4, 5});
    return Case{"distances", {row_distance(a, b, 2, 1e-6), norm(a * b, {0}, 2.5), cosine(a, b, 1, 1e-8)}, {a, b}, g};
  });
  return cases;
}

// Recurrences, which are no single kernel, with numbers for steps and without.
inline std::vector<std::pair<std::string, std::function<Case()>>> recurrent_cases() {
  std::vector<std::pair<std::string, std::function<Case()>>> cases;
  const Activation f = sigmoid, t = [](const Value &x) { return tanh(x); };
  struct Sequence {
    Given g;
    Value x, h0, c0;
    RecurrentWeights by;
    Values wanted() const { return {x, h0, c0, by.w, by.r, by.w_bias, by.r_bias}; }
  };
  const auto sequence = [](int gates, const Expression &turns, int64_t steps, int hidden = 3) {
    Sequence s;
    const Expression n = formula::size("n");
    s.x = sized(s.g, "x", {turns, n, 2}, {steps, 2, 2});
    s.h0 = sized(s.g, "h0", {n, hidden}, {2, hidden});
    s.c0 = sized(s.g, "c0", {n, 3}, {2, 3});
    const int64_t k = gates * 3;
    s.by.w = sized(s.g, "w", {k, 2}, {k, 2});
    s.by.r = sized(s.g, "r", {k, hidden}, {k, hidden});
    s.by.w_bias = sized(s.g, "w_bias", {k}, {k});
    s.by.r_bias = sized(s.g, "r_bias", {k}, {k});
    return s;
  };
  const auto add = [&](const std::string &name, const Expression &turns, int64_t steps,
                       const std::function<Values(const Sequence &)> &outputs, int gates, int hidden = 3) {
    cases.emplace_back(name, [=] {
      const Sequence s = sequence(gates, turns, steps, hidden);
      Values wanted = s.wanted();
      if (gates != 4) wanted.erase(wanted.begin() + 2);
      return Case{name, outputs(s), wanted, s.g};
    });
  };
  const auto all_of = [](const LstmStates &s) -> Values { return {s.hidden, s.cell}; };
  add(
      "rnn", formula::size("t"), 4, [=](const Sequence &s) -> Values { return {rnn(s.x, s.by, s.h0, t)}; }, 1);
  add(
      "gru backwards", 4, 4, [=](const Sequence &s) -> Values { return {gru(s.x, s.by, s.h0, f, t, true)}; }, 3);
  add(
      "lstm", formula::size("t"), 3, [=](const Sequence &s) { return all_of(lstm(s.x, s.by, s.h0, s.c0, f, t)); }, 4);
  add(
      "lstm of one step", 1, 1, [=](const Sequence &s) { return all_of(lstm(s.x, s.by, s.h0, s.c0, f, t)); }, 4);
  add(
      "lstm both ways", 3, 3,
      [=](const Sequence &s) -> Values {
        const LstmStates there = lstm(s.x, s.by, s.h0, s.c0, f, t), back = lstm(s.x, s.by, s.h0, s.c0, f, t, true);
        return {there.hidden * back.hidden};
      },
      4);
  add(
      "projected lstm on another one", formula::size("t"), 3,
      [=](const Sequence &s) -> Values {
        const Value onto = inlined({2, 3}, [&](const Axes &at) { return s.by.w(at[1], at[0]); });
        const LstmStates first = lstm(s.x, s.by, s.h0, s.c0, f, t, false, {0, 3, 1, 2}, onto);
        return {lstm(first.hidden, s.by, s.h0, s.c0, f, t, true, {}, onto).hidden, first.cell};
      },
      4, 2);
  cases.emplace_back("ctc_loss", [] {
    Given g;
    const Expression n = formula::size("n");
    const auto numbers = [&](const std::string &name, const Expression &extent, const std::vector<int64_t> &of) {
      g.tensors.push_back(Tensor::of({static_cast<int64_t>(of.size())}, of));
      g.inputs.push_back(formula::input(name, {extent}, Type::i64));
      return g.inputs.back();
    };
    const Value x = sized(g, "x", {formula::size("t"), n, 4}, {5, 2, 4});
    const Value labels = numbers("labels", 3, {1, 1, 3}), starts = numbers("starts", n, {0, 2});
    const Value times = numbers("times", n, {5, 4}), lengths = numbers("lengths", n, {2, 1});
    return Case{"ctc_loss", {ctc_loss(x, labels, starts, times, lengths, 0, 2)}, {x}, g};
  });
  return cases;
}

}  // namespace saltern
