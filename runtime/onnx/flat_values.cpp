#include "runtime/onnx/flat_values.h"

#include <algorithm>

namespace saltern {

namespace {

using Container = Graph::Container;

void flatten(const std::string &name, const HostValue &value, std::map<std::string, Tensor> &to) {
  if (value.is_tensor() && !to.emplace(name, value.tensor()).second) fail("two values are called '", name, "'");
  if (!value.is_sequence()) return;
  for (size_t i = 0; i < value.sequence().size(); ++i) flatten(element_name(name, i), value.sequence()[i], to);
}

}  // namespace

bool is_sequence(const Graph::Value &v) {
  return v.container == Container::sequence || v.container == Container::optional_sequence;
}

bool is_optional(const Graph::Value &v) {
  return v.container == Container::optional || v.container == Container::optional_sequence;
}

std::string element_name(const std::string &sequence, size_t i) { return sequence + "." + std::to_string(i); }

bool is_element_of(const std::string &name, const std::string &sequence) {
  const size_t begin = sequence.size() + 1;
  return name.size() > begin && name.compare(0, begin, sequence + ".") == 0 &&
         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(begin), name.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

std::map<std::string, Tensor> flat_tensors(const HostValues &values) {
  std::map<std::string, Tensor> all;
  for (const auto &[name, value] : values) flatten(name, value, all);
  return all;
}

std::map<std::string, Shape> flat_shapes(const HostValues &values) {
  std::map<std::string, Shape> shapes;
  for (const auto &[name, t] : flat_tensors(values)) shapes[name] = t.shape();
  for (const auto &[name, value] : values)
    if (value.is_sequence() && value.sequence().empty()) shapes[name] = {};
  return shapes;
}

HostValues unflattened(const Graph &graph, const std::vector<std::string> &names,
                       const std::map<std::string, Tensor> &tensors) {
  HostValues all;
  for (const std::string &name : names) {
    const Graph::Value &v = graph.value(name);
    if (!is_sequence(v)) {
      const auto found = tensors.find(name);
      all[name] = found == tensors.end() ? HostValue() : HostValue(found->second);
      continue;
    }
    HostValue::Sequence elements;
    for (auto e = tensors.find(element_name(name, 0)); e != tensors.end();
         e = tensors.find(element_name(name, elements.size())))
      elements.emplace_back(e->second);
    all[name] = elements.empty() && is_optional(v) ? HostValue() : HostValue(std::move(elements), v.type);
  }
  return all;
}

}  // namespace saltern
