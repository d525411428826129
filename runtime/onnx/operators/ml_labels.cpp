// Maps from values to values (ai.onnx.ml): LabelEncoder and CategoryMapper, where numbers to numbers is a formula and
// the host looks texts up; and ZipMap, which makes maps.

#include <map>

#include "runtime/onnx/operators/ml_scores.h"

namespace saltern {

namespace {

using namespace formula;

// One of the attributes NAME_tensor, NAME_int64s, NAME_floats and NAME_strings, as a vector; undefined where none is.
Tensor list_of(const Attributes &a, const std::string &name) {
  if (a.has(name + "_tensor")) {
    const Tensor t = a.tensor(name + "_tensor").in_layout(Layout::row_major);
    return t.reshaped({t.size()});
  }
  const auto shape = [](const auto &values) { return Shape{static_cast<int64_t>(values.size())}; };
  if (a.has(name + "_int64s"))
    return Tensor::of<int64_t>(shape(a.integers(name + "_int64s")), a.integers(name + "_int64s"));
  if (a.has(name + "_strings"))
    return Tensor::of<std::string>(shape(a.words(name + "_strings")), a.words(name + "_strings"));
  if (!a.has(name + "_floats")) return {};
  const std::vector<double> &reals = a.reals(name + "_floats");
  return Tensor::of<float>(shape(reals), std::vector<float>(reals.begin(), reals.end()));
}

struct LabelMap {
  Tensor keys, values;
  Tensor otherwise;  // of one element
};

// Until version 1 there was one list of texts, which stand for their places.
LabelMap label_map(const Attributes &a, Type input) {
  LabelMap m = {list_of(a, "keys"), list_of(a, "values"), {}};
  if (a.has("classes_strings")) {
    const std::vector<std::string> &texts = a.words("classes_strings");
    const Tensor names = Tensor::of<std::string>({static_cast<int64_t>(texts.size())}, texts);
    std::vector<int64_t> places(texts.size());
    for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int64_t>(i);
    const Tensor numbers = Tensor::of<int64_t>(names.shape(), places);
    m.keys = input == Type::text ? names : numbers;
    m.values = input == Type::text ? numbers : names;
  }
  if (!m.keys.defined() || !m.values.defined()) fail("needs keys_* and values_*");
  if (m.keys.size() != m.values.size()) fail("has ", m.keys.size(), " keys and ", m.values.size(), " values");
  const Type type = m.values.type();
  if (a.has("default_tensor"))
    m.otherwise = a.tensor("default_tensor");
  else if (type == Type::text)
    m.otherwise = Tensor::of<std::string>({1}, {a.word("default_string", "_Unused")});
  else
    m.otherwise = Tensor::full(
        {1}, is_real(type) ? a.real("default_float", -0.0) : static_cast<double>(a.integer("default_int64", -1)), type);
  if (m.otherwise.type() != type || m.otherwise.size() != 1)
    fail("the default is ", m.otherwise.size(), " ", facts(m.otherwise.type()).name, "; expected one ",
         facts(type).name);
  return m;
}

// Of equal keys the last one counts; a NaN is equal to a NaN.
void label_encoder(Lowering &n) {
  const Operand &x = n.input(0);
  const LabelMap m = label_map(n.attributes(), x.type);
  if (m.values.type() == Type::text) unsupported("texts as results; only the host has them");
  if (m.keys.type() != x.type) fail("keys of ", facts(m.keys.type()).name, " for ", facts(x.type).name);
  const auto is_equal = [&](const Expression &a, const Expression &b) {
    return is_real(x.type) ? a == b || (call(Function::is_nan, a) && call(Function::is_nan, b)) : a == b;
  };
  const Value in = x, keys = n.constant(m.keys), values = n.constant(m.values),
              otherwise = n.constant(m.otherwise.in_layout(Layout::row_major).reshaped({}));
  const Value place = compute("place", in.extents(), [&](const Axes &at) {
    return reduce(Function::last_greatest, {m.keys.size()},
                  [&](const Axes &k) { return cast(Type::i64, is_equal(in.at(at), keys(k[0]))); });
  });
  n.give(0, compute("label", in.extents(), [&](const Axes &at) {
           const Expression found = place.at(at);
           return select(is_equal(in.at(at), keys(found)), values(found), otherwise());
         }));
}

// For each element the place of its key; -1 where there is none.
template <typename T>
std::vector<int64_t> places(const std::vector<T> &elements, const std::vector<T> &keys) {
  std::map<T, int64_t> known;
  int64_t of_nan = -1;
  for (size_t k = 0; k < keys.size(); ++k) {
    if (keys[k] == keys[k])
      known[keys[k]] = static_cast<int64_t>(k);
    else
      of_nan = static_cast<int64_t>(k);
  }
  std::vector<int64_t> found;
  for (const T &e : elements) {
    const auto it = e == e ? known.find(e) : known.end();
    found.push_back(it != known.end() ? it->second : e == e ? -1 : of_nan);
  }
  return found;
}

std::vector<std::string> texts_of(const Tensor &t) {
  const Tensor rows = t.in_layout(Layout::row_major);
  return {rows.data<std::string>(), rows.data<std::string>() + rows.size()};
}

// The elements of `values` at these places, or the other one.
Tensor taken(const LabelMap &m, const std::vector<int64_t> &at, const Shape &shape) {
  const Tensor y = Tensor::empty(shape, m.values.type());
  for (size_t i = 0; i < at.size(); ++i) {
    const Tensor &from = at[i] < 0 ? m.otherwise : m.values;
    const int64_t place = std::max<int64_t>(at[i], 0);
    if (y.type() == Type::text) {
      y.data<std::string>()[i] = from.data<std::string>()[place];
      continue;
    }
    const size_t bytes = static_cast<size_t>(facts(y.type()).bytes());
    const char *source = static_cast<const char *>(from.raw()) + static_cast<size_t>(place) * bytes;
    std::copy(source, source + bytes, static_cast<char *>(y.raw()) + i * bytes);
  }
  return y;
}

std::vector<HostValue> looked_up(const Tensor &x, const LabelMap &m) {
  const bool texts = m.keys.type() == Type::text;
  if ((x.type() == Type::text) != texts) fail("keys of ", facts(m.keys.type()).name, " for ", facts(x.type()).name);
  const std::vector<int64_t> at = texts               ? places(texts_of(x), texts_of(m.keys))
                                  : is_real(x.type()) ? places(x.reals(), m.keys.reals())
                                                      : places(x.integers(), m.keys.integers());
  return {taken(m, at, x.shape())};
}

std::vector<HostValue> encode_labels(const HostCall &call) {
  return looked_up(call.tensor(0), label_map(call.attributes(), call.tensor(0).type()));
}

// Texts to integers or integers to texts, as the input is.
std::vector<HostValue> map_categories(const HostCall &call) {
  const Attributes &a = call.attributes();
  const std::vector<int64_t> &integers = a.integers("cats_int64s");
  const std::vector<std::string> &texts = a.words("cats_strings");
  if (integers.size() != texts.size()) fail("has ", integers.size(), " integers and ", texts.size(), " texts");
  const Shape shape = {static_cast<int64_t>(texts.size())};
  const Tensor numbers = Tensor::of<int64_t>(shape, integers), names = Tensor::of<std::string>(shape, texts);
  if (call.tensor(0).type() == Type::text)
    return looked_up(call.tensor(0), {names, numbers, Tensor::of<int64_t>({1}, {a.integer("default_int64", -1)})});
  return looked_up(call.tensor(0),
                   {numbers, names, Tensor::of<std::string>({1}, {a.word("default_string", "_Unused")})});
}

// ---- ZipMap: each row of scores as a map from its classes.

std::vector<HostValue> zip_map(const HostCall &c) {
  const Tensor x = c.tensor(0).in_layout(Layout::row_major);
  const Tensor keys = list_of(c.attributes(), "classlabels");
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
                                         {"LabelEncoder", label_encoder, encode_labels, ml_domain, true},
                                         {"ZipMap", nullptr, zip_map, ml_domain}};

}  // namespace saltern
