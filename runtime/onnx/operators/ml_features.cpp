// Preparation of features (ai.onnx.ml): samples are rows, features the last dimension.

#include <algorithm>
#include <cmath>

#include "algorithms/reductions.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/choices.h"
#include "runtime/onnx/operators/ml_scores.h"
#include "runtime/tensor/element.h"

namespace saltern {

namespace {

using namespace formula;

// ---- Selection.

void array_feature_extractor(Lowering &n) {
  const Operand &x = n.input(0);
  if (x.rank() == 0) fail("a scalar has no features");
  const int64_t count = elements(n.input(1).shape);
  const Operand indices = n.reshaped(n.input(1), {count});
  if (indices.value.defined())
    for (int64_t i : indices.value.integers())
      if (i < 0 || i >= x.shape.back()) fail("feature ", i, " of ", x.shape.back());
  Shape shape = x.shape;
  shape.back() = count;
  if (shape.size() == 1) shape.insert(shape.begin(), 1);  // a vector is one sample
  n.give(0, inlined(extents(shape), [&](const Axes &at) {
           Axes place(at.end() - x.rank(), at.end());
           place.back() = cast(Type::i64, Value(indices)(at.back()));
           return Value(x).at(place);
         }));
}

void feature_vectorizer(Lowering &n) {
  std::vector<Operand> parts;
  std::vector<int64_t> widths = n.attributes().integers("inputdimensions", {});
  for (size_t i = 0; i < n.input_count(); ++i) {
    const Operand &given = n.input(i);
    if (given.rank() != 1 && given.rank() != 2)
      fail("input ", i, " is ", to_string(given.shape), "; expected (N, C) or (C)");
    const Operand x = n.casted(given.rank() == 2 ? given : n.reshaped(given, {1, given.shape[0]}), Type::f32);
    // Cut, or filled with zeros.
    const int64_t width = i < widths.size() ? widths[i] : x.shape[1];
    parts.push_back(width == x.shape[1] ? x : n.computed(inlined({x.shape[0], width}, [&](const Axes &at) {
      return Value(x).or_else(0, at);
    })));
    if (parts.back().shape[0] != parts[0].shape[0])
      fail("inputs of ", parts[0].shape[0], " and ", parts.back().shape[0], " samples");
  }
  if (parts.empty()) fail("has no input");
  n.give(0, concatenated(n, parts, 1));
}

// ---- Values.

void binarizer(Lowering &n) {
  const Operand &x = n.input(0);
  const double threshold = n.attributes().real("threshold", 0);
  const Type type = is_real(x.type) ? x.type : Type::f64;
  n.give(0, cast(x.type, cast(type, x) > threshold));
}

// One value for each feature, or one for all.
Operand per_feature(Lowering &n, const Operand &x, const Tensor &values, const char *what) {
  if (values.size() == 1) return n.constant(values.reshaped({}));
  if (x.rank() == 0 || values.size() != x.shape.back())
    fail(what, " has ", values.size(), " values; expected 1, or one for each feature of ", to_string(x.shape));
  return n.constant(values);
}

void imputer(Lowering &n) {
  const Operand &x = n.input(0);
  const Attributes &a = n.attributes();
  const Value v = x;
  if (is_real(x.type)) {
    const char *name = "imputed_value_floats";
    const double replaced = a.real("replaced_value_float", 0);
    const Value values = per_feature(n, x, in_type(x.type, reals_of(a, name)), name);
    return n.give(0, where(std::isnan(replaced) ? map(Function::is_nan, v) : v == replaced, cast(x.type, values), v));
  }
  const char *name = "imputed_value_int64s";
  const int64_t replaced = a.integer("replaced_value_int64", 0);
  const Value values = per_feature(n, x, list_of(a.integers(name)), name);
  const Value is_it = inlined(v.extents(), [&](const Axes &at) { return v.at(at) == replaced; });
  n.give(0, where(is_it, cast(x.type, values), v));
}

void scaler(Lowering &n) {
  const Operand &x = n.input(0);
  std::vector<double> offset = reals_of(n.attributes(), "offset"), scale = reals_of(n.attributes(), "scale");
  if (offset.empty()) offset = {0};
  if (scale.empty()) scale = {1};
  const Type type = x.type == Type::f32 ? Type::f32 : Type::f64;
  const Value by = per_feature(n, x, in_type(type, scale), "scale"),
              from = per_feature(n, x, in_type(type, offset), "offset");
  n.give(0, cast(Type::f32, (cast(type, x) - from) * by));
}

// Rows divided by their greatest element, the sum of their sizes, or their length; where that is zero they stay.
void normalizer(Lowering &n) {
  const Operand &x = n.input(0);
  const std::string norm = one_of({"MAX", "L1", "L2"}, "norm", n.attributes().word("norm", "MAX"));
  if (x.rank() != 1 && x.rank() != 2) fail("samples are ", to_string(x.shape), "; expected (N, C) or (C)");
  const Type type = x.type == Type::f32 ? Type::f32 : Type::f64;
  const Value v = cast(type, x);
  const Value by = named("divisor", norm == "MAX"  ? greatest(v, {-1})
                                    : norm == "L1" ? algorithms::l1_norm(v, {-1})
                                                   : algorithms::l2_norm(v, {-1}));
  n.give(0, cast(Type::f32, where(by == 0, v, v / by)));
}

// ---- Categories.

void one_hot_encoder(Lowering &n) {
  const Operand &x = n.input(0);
  const std::vector<int64_t> categories = n.attributes().integers("cats_int64s", {});
  if (categories.empty()) fail("needs cats_int64s for an input of numbers");
  if (n.attributes().integer("zeros", 1) == 0)
    for (double v : n.known(0, "what must be among the categories").reals())
      if (std::find(categories.begin(), categories.end(), integer_of(v)) == categories.end())
        fail(v, " is none of its categories");
  Shape shape = x.shape;
  shape.push_back(static_cast<int64_t>(categories.size()));
  const Value all = constant_of(n, categories);
  n.give(0, inlined(extents(shape), [&](const Axes &at) {
           const Expression category = cast(Type::i64, Value(x).at(Axes(at.begin(), at.end() - 1)));
           return cast(Type::f32, category == all(at.back()));
         }));
}

std::vector<HostValue> one_hot_texts(const HostCall &call) {
  const Tensor x = call.tensor(0).in_layout(Layout::row_major);
  const std::vector<std::string> &categories = call.attributes().words("cats_strings");
  const bool zeros = call.attributes().integer("zeros", 1) != 0;
  Shape shape = x.shape();
  shape.push_back(static_cast<int64_t>(categories.size()));
  const Tensor y = Tensor::zeros(shape);
  for (int64_t i = 0; i < x.size(); ++i) {
    const std::string &text = x.data<std::string>()[i];
    const auto it = std::find(categories.begin(), categories.end(), text);
    if (it == categories.end() && !zeros) fail("'", text, "' is none of its categories");
    if (it != categories.end()) y.data<float>()[i * shape.back() + (it - categories.begin())] = 1;
  }
  return {y};
}

}  // namespace

const OperatorList ml_feature_operators = {
    {"ArrayFeatureExtractor", array_feature_extractor, move_texts, ml_domain},
    {"Binarizer", binarizer, nullptr, ml_domain},
    {"FeatureVectorizer", feature_vectorizer, nullptr, ml_domain},
    {"Imputer", imputer, nullptr, ml_domain},
    {"Normalizer", normalizer, nullptr, ml_domain},
    {"OneHotEncoder", one_hot_encoder, one_hot_texts, ml_domain},
    {"Scaler", scaler, nullptr, ml_domain},
};

}  // namespace saltern
