#include "runtime/onnx/net_export.h"

#include <algorithm>
#include <set>

namespace saltern {

NetExport::NetExport(const Graph &net) : net_(net) {
  const std::set<std::string> inputs(net.inputs.begin(), net.inputs.end());
  for (const auto &[name, v] : net.values)
    if (v.constant.defined() || inputs.count(name) > 0)
      to_.values[name] = v.constant.defined() ? Graph::Value{v.shape, v.type, v.constant.in_layout(Layout::row_major)}
                                              : with_names({v.shape, v.type, {}}, net.sizes);
  to_.inputs = net.inputs;
  to_.outputs = net.outputs;
  // An output may be a constant, or an input.
  for (const std::string &o : net.outputs)
    to_.values.emplace(o, with_names({net.value(o).shape, net.value(o).type, {}}, net.sizes));
}

std::string NetExport::integer(const std::string &stem, int64_t value) {
  const OpenNumber number = open_number(value, net_.sizes);
  if (!number.is_open()) return constant(stem, Tensor::of<int64_t>({}, {value}));
  const std::string one = computed(stem, number), made = temporary(stem);
  add("Reshape", {one, constant(stem + ".shape", Tensor::of<int64_t>({0}, {}))}, {made});
  return made;
}

std::string NetExport::integers(const std::string &stem, const std::vector<int64_t> &all) {
  if (std::none_of(all.begin(), all.end(), [&](int64_t i) { return is_open(i); }))
    return constant(stem, Tensor::of<int64_t>({static_cast<int64_t>(all.size())}, all));
  std::vector<std::string> each;
  for (int64_t i : all) {
    const OpenNumber number = open_number(i, net_.sizes);
    each.push_back(number.is_open() ? computed(stem, number) : constant(stem, Tensor::of<int64_t>({1}, {i})));
  }
  if (each.size() == 1) return each[0];
  const std::string made = temporary(stem);
  add("Concat", each, {made}, {{"axis", int64_t{0}}});
  return made;
}

std::string NetExport::shape(const std::string &stem, Shape shape) {
  const auto open = [&](int64_t extent) { return is_open(extent); };
  if (std::count_if(shape.begin(), shape.end(), open) == 1 && std::count(shape.begin(), shape.end(), 0) == 0)
    std::replace_if(shape.begin(), shape.end(), open, -1);
  return integers(stem, shape);
}

std::string NetExport::computed(const std::string &stem, const OpenNumber &number) {
  std::string product;
  const auto with = [&](const char *op, const std::string &other) {
    const std::string made = temporary(stem);
    add(op, {product, other}, {made});
    product = made;
  };
  const auto one = [&](int64_t value) { return constant(stem, Tensor::of<int64_t>({1}, {value})); };
  for (const std::string &name : number.names)
    if (product.empty())
      product = size(name);
    else
      with("Mul", size(name));
  if (number.factor != 1) with("Mul", one(number.factor));
  if (number.rest != 0) with("Add", one(number.rest));
  return product;
}

std::string NetExport::size(const std::string &name) {
  if (const auto known = sizes_.find(name); known != sizes_.end()) return known->second;
  for (const std::string &input : net_.inputs) {
    const Shape &shape = net_.value(input).shape;
    const auto d = std::find(shape.begin(), shape.end(), net_.sizes.at(name)) - shape.begin();
    if (d == static_cast<std::ptrdiff_t>(shape.size())) continue;
    const std::string made = temporary(name);
    add("Shape", {input}, {made}, {{"start", int64_t{d}}, {"end", int64_t{d} + 1}});
    return sizes_[name] = made;
  }
  unsupported("no input has the open size '", name, "'");
}

}  // namespace saltern
