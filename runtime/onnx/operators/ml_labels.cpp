// Maps from values to values (ai.onnx.ml): LabelEncoder and CategoryMapper, a formula that sees numbers in the place of
// texts; and ZipMap, which makes maps.

#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/ml_scores.h"
#include "runtime/onnx/operators/text_numbers.h"
#include "runtime/onnx/operators/wide_numbers.h"

namespace saltern {

namespace {

using namespace formula;

// One of the attributes NAME_tensor, NAME_int64s, NAME_floats and NAME_strings, as a vector; undefined where none is.
Tensor list_named(const Attributes &a, const std::string &name) {
  if (a.has(name + "_tensor")) {
    const Tensor t = a.tensor(name + "_tensor").in_layout(Layout::row_major);
    return t.reshaped({t.size()});
  }
  if (a.has(name + "_int64s")) return list_of(a.integers(name + "_int64s"));
  if (a.has(name + "_strings")) return list_of(a.words(name + "_strings"));
  return a.has(name + "_floats") ? in_type(Type::f32, a.reals(name + "_floats")) : Tensor();
}

struct LabelMap {
  Tensor keys, values;
  Tensor otherwise;  // of rank 0
};

// Until version 1 there was one list of texts, which stand for their places.
LabelMap label_map(const Attributes &a, Type input) {
  LabelMap m = {list_named(a, "keys"), list_named(a, "values"), {}};
  if (a.has("classes_strings")) {
    const Tensor names = list_of(a.words("classes_strings"));
    const Tensor numbers = list_of(numbers_below(static_cast<size_t>(names.size())));
    m.keys = input == Type::text ? names : numbers;
    m.values = input == Type::text ? numbers : names;
  }
  if (!m.keys.defined() || !m.values.defined()) fail("needs keys_* and values_*");
  if (m.keys.size() != m.values.size()) fail("has ", m.keys.size(), " keys and ", m.values.size(), " values");
  const Type type = m.values.type();
  if (a.has("default_tensor"))
    m.otherwise = a.tensor("default_tensor");
  else if (type == Type::text)
    m.otherwise = Tensor::of<std::string>({}, {a.word("default_string", "_Unused")});
  else
    m.otherwise = Tensor::full(
        {}, is_real(type) ? a.real("default_float", -0.0) : static_cast<double>(a.integer("default_int64", -1)), type);
  if (m.otherwise.type() != type || m.otherwise.size() != 1)
    fail("the default is ", m.otherwise.size(), " ", facts(m.otherwise.type()).name, "; expected one ",
         facts(type).name);
  m.otherwise = m.otherwise.in_layout(Layout::row_major).reshaped({});
  return m;
}

void expect_keys(const LabelMap &m, Type type) {
  const Type keys = m.keys.type();
  if ((keys == Type::text) != (type == Type::text) || is_real(keys) != is_real(type))
    fail("keys of ", facts(keys).name, " for ", facts(type).name);
}

// Of equal keys the last one counts; a NaN is equal to a NaN.
void give_labels(Lowering &n, const LabelMap &m) {
  const Operand &x = n.input(0);
  if (m.keys.size() == 0) return n.give(0, n.broadcasted(n.constant(m.otherwise), x.shape));
  const Type type = m.keys.type() == x.type ? x.type : widest(x.type);
  const auto is_equal = [&](const Expression &a, const Expression &b) {
    return is_real(type) ? a == b || (call(Function::is_nan, a) && call(Function::is_nan, b)) : a == b;
  };
  const Value in = cast(type, x), keys = cast(type, n.constant(m.keys)), values = n.constant(m.values),
              otherwise = n.constant(m.otherwise);
  const Value place = compute("place", in.extents(), [&](const Axes &at) {
    return reduce(Function::last_greatest, {m.keys.size()},
                  [&](const Axes &k) { return cast(Type::i64, is_equal(in.at(at), keys(k[0]))); });
  });
  n.give(0, compute("label", in.extents(), [&](const Axes &at) {
           const Expression found = place.at(at);
           return select(is_equal(in.at(at), keys(found)), values(found), otherwise());
         }));
}

void label_encoder(Lowering &n) {
  const LabelMap m = label_map(n.attributes(), n.input(0).type);
  if (m.values.type() == Type::text) unsupported("texts as results; only the host has them");
  expect_keys(m, n.input(0).type);
  give_labels(n, m);
}

// By the formula, with numbers in the place of texts.
std::vector<HostValue> looked_up(const HostCall &call, const LabelMap &m) {
  const Tensor &x = call.tensor(0);
  expect_keys(m, x.type());
  TextNumbers numbers;
  const LabelMap numbered = {numbers.of(m.keys), numbers.of(m.values), numbers.of(m.otherwise)};
  const Operator formula = {call.node.operation, [&](Lowering &n) { give_labels(n, numbered); }};
  const HostValue y = compute_lowered(formula, call.node, call.opset, {numbers.of(x)}).at(0);
  return {m.values.type() == Type::text ? HostValue(numbers.texts(y.tensor())) : y};
}

std::vector<HostValue> encode_labels(const HostCall &call) {
  return looked_up(call, label_map(call.attributes(), call.tensor(0).type()));
}

// Texts to integers or integers to texts, as the input is.
std::vector<HostValue> map_categories(const HostCall &call) {
  const Attributes &a = call.attributes();
  const Tensor numbers = list_of(a.integers("cats_int64s")), names = list_of(a.words("cats_strings"));
  if (numbers.size() != names.size()) fail("has ", numbers.size(), " integers and ", names.size(), " texts");
  if (call.tensor(0).type() == Type::text)
    return looked_up(call, {names, numbers, Tensor::of<int64_t>({}, {a.integer("default_int64", -1)})});
  return looked_up(call, {numbers, names, Tensor::of<std::string>({}, {a.word("default_string", "_Unused")})});
}

// ---- ZipMap: each row of scores as a map from its classes.

std::vector<HostValue> zip_map(const HostCall &c) {
  const Tensor x = c.tensor(0).in_layout(Layout::row_major);
  const Tensor keys = list_named(c.attributes(), "classlabels");
  if (!keys.defined()) fail("needs classlabels_int64s or classlabels_strings");
  if (x.rank() < 1 || x.rank() > 2 || x.extent(-1) != keys.size())
    fail("scores of ", to_string(x.shape()), " for ", keys.size(), " classes");
  const int64_t rows = x.rank() == 1 ? 1 : x.extent(0);
  const Tensor all = x.reshaped({rows, keys.size()});
  HostValue::Sequence maps;
  for (int64_t i = 0; i < rows; ++i)
    maps.emplace_back(HostValue::Map{keys, all.slice(0, i, 1).reshaped({keys.size()})});
  return {HostValue(std::move(maps))};
}

}  // namespace

const OperatorList ml_label_operators = {{"CategoryMapper", nullptr, map_categories, ml_domain},
                                         {"LabelEncoder", label_encoder, encode_labels, ml_domain},
                                         {"ZipMap", nullptr, zip_map, ml_domain}};

}  // namespace saltern
