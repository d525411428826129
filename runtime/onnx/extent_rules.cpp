// Operators whose results have extents that those of the operands alone tell. There is one place of shape rules, the
// lowerings (runtime/onnx/operators); what is said here is only of which kind an operator's rule is, so that few samples
// of it tell all. An operator that is in no list has results of which nothing is known where an operand is open.

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <sstream>

#include "runtime/onnx/operators/axis.h"
#include "runtime/onnx/operators/ml_scores.h"
#include "runtime/onnx/symbolic.h"

namespace saltern {

namespace {

using Names = std::set<std::string>;

Names words(const char *text) {
  std::istringstream all(text);
  return {std::istream_iterator<std::string>(all), {}};
}

// The only result has the first operand's extents.
const Names as_first = words(
    "Bernoulli Cast CastLike Clip CumProd CumSum DequantizeLinear EyeLike Hardmax Identity LRN LogSoftmax "
    "LpNormalization MeanVarianceNormalization PRelu QuantizeLinear RMSNormalization RandomNormalLike "
    "RandomUniformLike "
    "ReverseSequence RotaryEmbedding Scatter ScatterElements ScatterND Softmax TensorScatter Trilu");

// Wherever the operator takes its operands, each extent of a result is a sum of products of operands' extents, in each
// of which an extent is a factor once at most, and the rank is one.
const Names sums_of_products = words(
    "ArgMax ArgMin Attention AveragePool BatchNormalization Conv ConvInteger ConvTranspose DepthToSpace Det Dropout "
    "DynamicQuantizeLinear Einsum GRU GatherElements GatherND Gemm GlobalAveragePool GlobalLpPool GlobalMaxPool "
    "GridSample GroupNormalization InstanceNormalization LSTM LayerNormalization LpPool MatMul MatMulInteger MaxPool "
    "MaxRoiPool MaxUnpool Multinomial NegativeLogLikelihoodLoss OneHot QLinearConv QLinearMatMul RNN ReduceL1 ReduceL2 "
    "ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Resize RoiAlign "
    "SoftmaxCrossEntropyLoss SpaceToDepth Upsample");

// Of ONNX's machine-learning domain: the same, where the number of samples is all that is open.
const Names by_samples = words(
    "ArrayFeatureExtractor Binarizer Imputer LabelEncoder LinearClassifier LinearRegressor Normalizer OneHotEncoder "
    "SVMClassifier SVMRegressor Scaler TreeEnsemble TreeEnsembleClassifier TreeEnsembleRegressor");

// ---- Broadcasting: extents aligned at their ends, each of them the result's or 1.

Symbolics broadcasted(SymbolicCall &c) {
  std::vector<Shape> ones;
  size_t rank = 0;
  for (const Symbolic &v : c.inputs) {
    ones.emplace_back(v.extents.size(), 1);
    rank = std::max(rank, v.extents.size());
  }
  const Type type = c.lowered(ones, false).results.at(0).type;  // types do not depend on extents
  // Before opset 7 the second operand may lie along any dimensions of the first, which the result is like.
  if (c.opset < 7 && c.attributes().has("axis")) return {c.result(type, c.input(0).extents)};
  bool sure = true;
  Quantities extents(rank, 1);
  for (const Symbolic &v : c.inputs)
    for (size_t d = 0; d < v.extents.size(); ++d) {
      Quantity &e = extents[rank - v.extents.size() + d];
      if (e.is_known()) e = broadcast_extent(e, v.extents[d], sure);
    }
  return {c.result(type, extents, sure)};
}

// ---- Samples.

using Pair = std::array<int64_t, 2>;
constexpr size_t most_varied = 4;
// Two for each extent that is open, none of them 1, all different; larger ones where windows or places do not fit.
constexpr std::array<std::array<Pair, most_varied>, 2> samples = {
    {{{{5, 7}, {11, 13}, {17, 19}, {23, 29}}}, {{{521, 523}, {541, 547}, {557, 563}, {569, 571}}}}};

// Extents that are open, each once.
Quantities varied(const SymbolicCall &c) {
  Quantities all;
  for (const Symbolic &v : c.inputs)
    for (const Quantity &e : v.extents)
      if (!e.is_constant() && std::find(all.begin(), all.end(), e) == all.end()) all.push_back(e);
  return all;
}

// Lowered with sample `which` (a bit for each) of what is varied.
std::vector<Operand> lowered_at(const SymbolicCall &c, const Quantities &open, const std::array<Pair, most_varied> &of,
                                size_t which) {
  std::vector<Shape> shapes;
  for (const Symbolic &v : c.inputs) {
    shapes.emplace_back();
    for (const Quantity &e : v.extents) {
      const auto i = static_cast<size_t>(std::find(open.begin(), open.end(), e) - open.begin());
      shapes.back().push_back(e.is_constant() ? e.constant() : of[i % most_varied][which >> i % most_varied & 1]);
    }
  }
  return c.lowered(shapes).results;
}

// The sum of products that has these values, one for each choice of samples.
Quantity through(std::vector<int64_t> values, const Quantities &open, const std::array<Pair, most_varied> &of) {
  // Along each extent a line goes through two points: what is at 0, and by how much it rises.
  for (size_t i = 0; i < open.size(); ++i)
    for (size_t w = 0; w < values.size(); ++w) {
      if (w >> i & 1) continue;
      int64_t &first = values[w], &second = values[w | size_t{1} << i];
      const int64_t rise = second - first, run = of[i][1] - of[i][0];
      if (rise % run != 0) fail("no sum of products");
      second = rise / run;
      first -= second * of[i][0];
    }
  Quantity sum = 0;
  for (size_t w = 0; w < values.size(); ++w) {
    Quantity product = values[w];
    for (size_t i = 0; i < open.size() && values[w] != 0; ++i)
      if (w >> i & 1) product = product * open[i];
    sum = sum + product;
  }
  return sum;
}

// Windows that move by more than one, and sizes that are scaled by fractions, are rounded: dimensions of the result
// that are no sums of products.
std::set<size_t> rounded_dimensions(const SymbolicCall &c) {
  std::set<size_t> rounded;
  const Quantities &x = c.input(0).extents;
  const auto note = [&](size_t d, bool is_rounded) {
    if (is_rounded && d < x.size() && !x[d].is_constant()) rounded.insert(d);
  };
  if (c.node.operation == "Resize" || c.node.operation == "Upsample") {
    const size_t input = c.node.operation == "Resize" && c.opset >= 11 ? 2 : 1;
    std::vector<double> scales;
    if (c.attributes().has("scales")) scales = c.attributes().reals("scales");
    if (c.has(input) && c.input(input).value.defined()) scales = c.input(input).value.reals();
    if (scales.empty() && c.attributes().word("keep_aspect_ratio_policy", "stretch") != "stretch")
      fail("an extent decides on the scale of others");
    std::vector<int64_t> axes = c.attributes().integers("axes", {});
    for (size_t d = axes.size(); d < scales.size(); ++d) axes.push_back(static_cast<int64_t>(d));
    for (size_t i = 0; i < scales.size(); ++i)
      note(static_cast<size_t>(axis_within(axes[i], static_cast<int64_t>(x.size()))),
           scales[i] != std::floor(scales[i]));
  } else if (c.node.operation != "ConvTranspose" && c.node.operation != "MaxUnpool") {
    const std::vector<int64_t> strides = c.attributes().integers("strides", {});
    for (size_t i = 0; i < strides.size(); ++i) note(i + 2, strides[i] != 1);
  }
  return rounded;
}

Symbolics by_samples_of(SymbolicCall &c, const std::array<Pair, most_varied> &of) {
  const Quantities open = varied(c);
  if (open.size() > most_varied) fail("too many extents are open");
  const std::set<size_t> rounded = rounded_dimensions(c);
  const std::vector<Operand> first = lowered_at(c, open, of, 0);
  std::vector<std::vector<std::vector<int64_t>>> values(first.size());  // by result, dimension, sample
  for (size_t w = 0; w < size_t{1} << open.size(); ++w) {
    const std::vector<Operand> given = w == 0 ? first : lowered_at(c, open, of, w);
    for (size_t r = 0; r < given.size(); ++r) {
      if (given[r].shape.size() != first[r].shape.size() || given[r].type != first[r].type) fail("another rank");
      values[r].resize(given[r].shape.size());
      for (size_t d = 0; d < given[r].shape.size(); ++d) values[r][d].push_back(given[r].shape[d]);
    }
  }
  Symbolics results;
  for (size_t r = 0; r < first.size(); ++r) {
    Quantities extents;
    for (size_t d = 0; d < values[r].size(); ++d)
      extents.push_back(rounded.count(d) ? Quantity() : through(values[r][d], open, of));
    results.push_back(first[r].present() ? c.result(first[r].type, extents) : Symbolic());
  }
  return results;
}

Symbolics sampled(SymbolicCall &c, bool as_first) {
  const auto with = [&](const std::array<Pair, most_varied> &of) -> Symbolics {
    if (!as_first) return by_samples_of(c, of);
    return {c.result(lowered_at(c, varied(c), of, 0).at(0).type, c.input(0).extents)};
  };
  try {
    return with(samples[0]);
  } catch (const Error &) {
    return with(samples[1]);
  }
}

}  // namespace

Quantity broadcast_extent(const Quantity &a, const Quantity &b, bool &sure) {
  if (a.is(1)) return b;
  if (b.is(1) || a == b) return a;
  if (a.is_constant() && b.is_constant()) fail("extents of ", a.constant(), " and ", b.constant());
  sure = false;
  // What is never 1 is the result's wherever the two fit.
  for (const Quantity *e : {&a, &b})
    if (e->is(0) || e->is_at_least(2)) return *e;
  return {};
}

Symbolics extents_by_operands(SymbolicCall &c) {
  const std::string &name = c.node.operation;
  if (c.node.domain.empty()) {
    if (as_first.count(name)) return sampled(c, true);
    if (is_elementwise(c.node)) return broadcasted(c);
    if (sums_of_products.count(name)) return sampled(c, false);
  }
  if (c.node.domain == ml_domain && by_samples.count(name)) {
    for (const Symbolic &v : c.inputs)
      for (size_t d = 1; d < v.extents.size(); ++d)
        if (!v.extents[d].is_constant()) return {};
    return sampled(c, false);
  }
  return {};
}

}  // namespace saltern
