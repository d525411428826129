#include "generators/model/passes/gradient_formulas.h"

#include <map>

#include "algorithms/contraction.h"
#include "algorithms/convolution.h"
#include "algorithms/elementwise.h"
#include "algorithms/movement.h"
#include "algorithms/normalisation.h"
#include "algorithms/pooling.h"
#include "algorithms/probabilities.h"

namespace saltern::generators {

namespace {

using namespace formula;
using Algorithm = Operation::Algorithm;

// ---- Of functions of two: (a, b, dy) -> da or db under the full shape.

Algorithm of_binary(const algorithms::BinaryRow &row, size_t wanted) {
  return [f = row.of, wanted](const Values &in, const Attributes &) {
    const Value &dy = in.at(2);
    Values operands;
    for (size_t i = 0; i < 2; ++i) operands.push_back(named("operand", algorithms::broadcasted(in[i], dy.extents())));
    return gradient({f(operands[0], operands[1])}, {dy}, {operands[wanted]});
  };
}

// The gradient of f with respect to what has these extents.
Values derived(const std::vector<Expression> &extents, const Value &dy, const std::function<Value(const Value &)> &f) {
  const Value x = input("wanted", extents, dy.type());
  return gradient({f(x)}, {dy}, {x});
}

// ---- Of products.

Values dense_x(const Values &in, const Attributes &) {
  const Value &w = in.at(0), &dy = in.at(1);
  return derived({dy.extent(0), w.extent(1)}, dy, [&](const Value &x) { return algorithms::dense(x, w); });
}

Values dense_w(const Values &in, const Attributes &) {
  const Value &x = in.at(0), &dy = in.at(1);
  return derived({dy.extent(1), x.extent(1)}, dy, [&](const Value &w) { return algorithms::dense(x, w); });
}

Values dense_b(const Values &in, const Attributes &) {
  const Value &dy = in.at(0);
  return {algorithms::of_channel(sum(dy, algorithms::all_but({1}, dy)), 1)};
}

// ---- Of windows.

std::vector<Expression> extents(const Attributes &a, const char *name) {
  return {a.integers(name).begin(), a.integers(name).end()};
}

algorithms::Slides slides(const Attributes &a) {
  const std::vector<int64_t> &strides = a.integers("strides"), &dilations = a.integers("dilations"),
                             &pads = a.integers("pads");
  return {{strides[0], dilations[0], pads[0], pads[2]}, {strides[1], dilations[1], pads[1], pads[3]}};
}

Values conv2d_w(const Values &in, const Attributes &a) {
  return derived(extents(a, "shape"), in.at(1),
                 [&](const Value &w) { return algorithms::convolution(in[0], w, slides(a), a.integer("groups", 1)); });
}

Values max_pool(const Values &in, const Attributes &a) {
  return {algorithms::max_pool_gradient(in.at(0), in.at(1), extents(a, "kernel"), slides(a), extents(a, "shape"))};
}

Values average_pool(const Values &in, const Attributes &a) {
  const auto counts = a.integer("count_padding", 1) ? algorithms::Counts::all : algorithms::Counts::inside;
  return derived(extents(a, "shape"), in.at(0),
                 [&](const Value &x) { return algorithms::average_pool(x, extents(a, "kernel"), slides(a), counts); });
}

// ---- Of norms and losses.

Values softmax(const Values &in, const Attributes &a) {
  return {algorithms::softmax_gradient(in.at(0), in.at(1), static_cast<int>(a.integer("axis")))};
}

Values log_softmax(const Values &in, const Attributes &a) {
  return {algorithms::log_softmax_gradient(in.at(0), in.at(1), static_cast<int>(a.integer("axis")))};
}

Values cross_entropy(const Values &in, const Attributes &a) {
  const Value dx = algorithms::cross_entropy_gradient(in.at(0), in.at(1), in.at(2));
  if (!a.has("ignore")) return {dx};
  return {compute("left_out", dx.extents(), [&](const Axes &at) {
    const Expression label = cast(Type::i64, in[1](at[0]));
    return select(label == constant_integer(Type::i64, a.integer("ignore")), constant(dx.type(), 0), dx.at(at));
  })};
}

const std::map<std::string, Algorithm> &table() {
  static const std::map<std::string, Algorithm> rows = [] {
    std::map<std::string, Algorithm> all = {
        {"dense_gradient_x", dense_x},
        {"dense_gradient_w", dense_w},
        {"dense_gradient_b", dense_b},
        {"conv2d_gradient_w", conv2d_w},
        {"max_pool2d_gradient", max_pool},
        {"average_pool2d_gradient", average_pool},
        {"softmax_gradient", softmax},
        {"log_softmax_gradient", log_softmax},
        {"cross_entropy_gradient", cross_entropy},
    };
    for (const algorithms::BinaryRow &row : algorithms::binary_rows()) {
      all[row.name + "_gradient_a"] = of_binary(row, 0);
      all[row.name + "_gradient_b"] = of_binary(row, 1);
    }
    return all;
  }();
  return rows;
}

}  // namespace

Values positions_of_maxima(const Values &in, const Attributes &a) {
  return {cast(Type::i32, algorithms::positions_of_maxima(in.at(0), extents(a, "kernel"), slides(a)))};
}

const Operation::Algorithm *gradient_formula(const std::string &operation) {
  const auto row = table().find(operation);
  if (row != table().end()) return &row->second;
  const Operation *own = find_operation(operation);
  return own && own->has_kernels && own->algorithm ? &own->algorithm : nullptr;
}

}  // namespace saltern::generators
