#include "runtime/onnx/export.h"

#include <filesystem>

#include "runtime/files/file.h"
#include "runtime/onnx/operators/lowering.h"
#include "runtime/onnx/tensor_proto.h"
#include "runtime/version.h"

namespace saltern {

namespace {

constexpr int64_t smallest_outside = 1024;  // smaller constants stay inside in any case

// Constants that stand beside the file, one after the other.
class ExternalData {
 public:
  ExternalData(const std::string &path)
      : name_(std::filesystem::path(path).filename().string() + ".data"), file_(path + ".data") {}

  void add(const Tensor &t, onnx::TensorProto &p) {
    const int64_t begin = offset_;
    if (packs_elements(t.type())) {
      p = proto_of(t, p.name());
      write(p.raw_data().data(), p.raw_data().size());
      p.clear_raw_data();
    } else {  // as they are: a message cannot hold more than 2 GB
      p.set_data_type(onnx_type(t.type()));
      for (int64_t e : t.shape()) p.add_dims(e);
      write(t.in_layout(Layout::row_major).raw(), t.bytes());
    }
    p.set_data_location(onnx::TensorProto::EXTERNAL);
    set(p, "location", name_);
    set(p, "offset", std::to_string(begin));
    set(p, "length", std::to_string(offset_ - begin));
    const std::string gap(static_cast<size_t>((64 - offset_ % 64) % 64), '\0');
    write(gap.data(), gap.size());
  }
  void commit() { file_.commit(); }

 private:
  static void set(onnx::TensorProto &p, const char *key, const std::string &value) {
    auto *entry = p.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  void write(const void *from, size_t bytes) {
    file_.write(from, bytes);
    offset_ += static_cast<int64_t>(bytes);
  }

  std::string name_;
  AtomicFile file_;
  int64_t offset_ = 0;
};

void set_type(onnx::TypeProto &p, const Graph::Value &v, Graph::Container container) {
  using Container = Graph::Container;
  switch (container) {
    case Container::optional:
    case Container::optional_sequence:
      return set_type(*p.mutable_optional_type()->mutable_elem_type(), v,
                      container == Container::optional ? Container::tensor : Container::sequence);
    case Container::sequence:
      return set_type(*p.mutable_sequence_type()->mutable_elem_type(), v, Container::tensor);
    case Container::tensor:
      break;
  }
  auto &t = *p.mutable_tensor_type();
  t.set_elem_type(onnx_type(v.type));
  if (!v.ranked) return;
  auto &shape = *t.mutable_shape();
  for (size_t d = 0; d < v.shape.size(); ++d) {
    auto &dimension = *shape.add_dim();
    if (v.shape[d] >= 0)
      dimension.set_dim_value(v.shape[d]);
    else if (d < v.symbols.size() && !v.symbols[d].empty())
      dimension.set_dim_param(v.symbols[d]);
  }
}

void set_info(onnx::ValueInfoProto &p, const std::string &name, const Graph &g) {
  p.set_name(name);
  const auto known = g.values.find(name);
  if (known != g.values.end()) set_type(*p.mutable_type(), known->second, known->second.container);
}

void set_graph(onnx::GraphProto &p, const Graph &g, ExternalData *outside);

struct SetAttribute {
  onnx::AttributeProto &p;
  using P = onnx::AttributeProto;

  void operator()(int64_t v) const {
    p.set_type(P::INT);
    p.set_i(v);
  }
  void operator()(double v) const {
    p.set_type(P::FLOAT);
    p.set_f(static_cast<float>(v));
  }
  void operator()(const std::string &v) const {
    p.set_type(P::STRING);
    p.set_s(v);
  }
  void operator()(const std::vector<int64_t> &v) const {
    p.set_type(P::INTS);
    for (int64_t i : v) p.add_ints(i);
  }
  void operator()(const std::vector<double> &v) const {
    p.set_type(P::FLOATS);
    for (double d : v) p.add_floats(static_cast<float>(d));
  }
  void operator()(const std::vector<std::string> &v) const {
    p.set_type(P::STRINGS);
    for (const std::string &s : v) p.add_strings(s);
  }
  void operator()(const Tensor &v) const {
    p.set_type(P::TENSOR);
    *p.mutable_t() = proto_of(v, "");
  }
  void operator()(const SharedGraph &v) const {
    if (v->outputs.empty() && v->nodes.empty() && v->values.count("type")) {  // a type, as import.cpp keeps it
      p.set_type(P::TYPE_PROTO);
      const Graph::Value &value = v->values.at("type");
      return set_type(*p.mutable_tp(), value, value.container);
    }
    p.set_type(P::GRAPH);
    set_graph(*p.mutable_g(), *v, nullptr);
  }
  void operator()(const formula::Expression &) const { unsupported("a formula has no ONNX operator"); }
};

void set_node(onnx::NodeProto &p, const Graph::Node &n) {
  p.set_op_type(n.operation);
  if (!n.domain.empty()) p.set_domain(n.domain);
  if (!n.label.empty()) p.set_name(n.label);
  for (const std::string &i : n.inputs) p.add_input(i);
  for (const std::string &o : n.outputs) p.add_output(o);
  for (const auto &[name, a] : n.attributes) {
    auto &attribute = *p.add_attribute();
    attribute.set_name(name);
    std::visit(SetAttribute{attribute}, a);
  }
  for (const auto &[name, of_function] : n.references) {
    auto &attribute = *p.add_attribute();
    attribute.set_name(name);
    attribute.set_ref_attr_name(of_function);
    attribute.set_type(onnx::AttributeProto::UNDEFINED);
  }
}

void set_graph(onnx::GraphProto &p, const Graph &g, ExternalData *outside) {
  p.set_name("graph");
  for (const auto &[name, v] : g.values) {
    if (!v.constant.defined()) continue;
    auto &constant = *p.add_initializer();
    constant.set_name(name);
    const bool large = v.type != Type::text && static_cast<int64_t>(v.constant.bytes()) >= smallest_outside;
    if (outside && large)
      outside->add(v.constant, constant);
    else
      constant = proto_of(v.constant, name);
  }
  for (const std::string &i : g.inputs) set_info(*p.add_input(), i, g);
  for (const std::string &o : g.outputs) set_info(*p.add_output(), o, g);
  for (const Graph::Node &n : g.nodes) set_node(*p.add_node(), n);
}

template <typename List>
void set_opsets(List *list, const Opsets &opsets) {
  for (const auto &[domain, version] : opsets) {
    auto &o = *list->Add();
    o.set_domain(domain);
    o.set_version(version);
  }
}

int64_t bytes_of_constants(const Graph &g) {
  int64_t bytes = 0;
  for (const auto &[name, v] : g.values)
    if (v.constant.defined() && v.type != Type::text) bytes += static_cast<int64_t>(v.constant.bytes());
  return bytes;
}

}  // namespace

void save_onnx(const std::string &path, const Model &model, const SaveOptions &options) {
  onnx::ModelProto p;
  p.set_ir_version(std::max<int64_t>(model.ir_version, 8));
  p.set_producer_name("saltern");
  p.set_producer_version(version());
  set_opsets(p.mutable_opset_import(), model.opsets);
  for (const auto &[key, value] : model.metadata) {
    auto &entry = *p.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  for (const ModelFunction &f : model.functions) {
    auto &function = *p.add_functions();
    function.set_domain(f.domain);
    function.set_name(f.name);
    if (!f.overload.empty()) function.set_overload(f.overload);
    set_opsets(function.mutable_opset_import(), f.opsets);
    for (const std::string &i : f.body.inputs) function.add_input(i);
    for (const std::string &o : f.body.outputs) function.add_output(o);
    for (const std::string &a : f.attributes)
      if (!f.defaults.has(a)) function.add_attribute(a);
    for (const auto &[name, a] : f.defaults) {
      auto &attribute = *function.add_attribute_proto();
      attribute.set_name(name);
      std::visit(SetAttribute{attribute}, a);
    }
    for (const Graph::Node &n : f.body.nodes) set_node(*function.add_node(), n);
  }
  std::unique_ptr<ExternalData> outside;
  if (bytes_of_constants(model.graph) > options.most_inside) outside = std::make_unique<ExternalData>(path);
  set_graph(*p.mutable_graph(), model.graph, outside.get());
  std::string bytes;
  if (!p.SerializeToString(&bytes)) fail("cannot write ", path, ": the model is too large for one file");
  AtomicFile file(path);
  file.write(bytes.data(), bytes.size());
  if (outside) outside->commit();  // both are written by now: only two renames are left, one right after the other
  file.commit();
}

}  // namespace saltern
