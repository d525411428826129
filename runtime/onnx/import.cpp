#include <filesystem>
#include <set>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include "runtime/files/file.h"
#include "runtime/onnx/check_model.h"
#include "runtime/onnx/model.h"
#include "runtime/onnx/operators/lowering.h"
#include "runtime/onnx/tensor_proto.h"

namespace saltern {

namespace {

constexpr int deepest_graph = 32;

std::string plain_domain(const std::string &domain) { return domain == "ai.onnx" ? "" : domain; }

// Where a value's type and shape are said.
void set_tensor_type(Graph::Value &v, const onnx::TypeProto_Tensor &t) {
  v.type = type_of_onnx(t.elem_type());
  v.ranked = t.has_shape();
  for (const auto &d : t.shape().dim()) {
    // Some exporters write -1 for an extent that is open.
    const bool known = d.value_case() == onnx::TensorShapeProto_Dimension::kDimValue && d.dim_value() != -1;
    if (known && d.dim_value() < 0) fail("an extent of ", d.dim_value());
    v.shape.push_back(known ? d.dim_value() : -1);
    v.symbols.push_back(known ? "" : d.dim_param());
  }
}

Graph::Value value_of(const onnx::TypeProto &p) {
  using Container = Graph::Container;
  Graph::Value v;
  switch (p.value_case()) {
    case onnx::TypeProto::kTensorType:
      set_tensor_type(v, p.tensor_type());
      return v;
    case onnx::TypeProto::kSequenceType:
      if (p.sequence_type().elem_type().value_case() == onnx::TypeProto::kMapType)
        v.ranked = false;  // what a classifier ends with; nothing looks inside
      else
        v = value_of(p.sequence_type().elem_type());
      v.container = Container::sequence;
      return v;
    case onnx::TypeProto::kOptionalType:
      v = value_of(p.optional_type().elem_type());
      v.container = v.container == Container::sequence ? Container::optional_sequence : Container::optional;
      return v;
    case onnx::TypeProto::kSparseTensorType:
      unsupported("a sparse tensor");
    case onnx::TypeProto::kMapType:
      unsupported("a map");
    default:
      v.ranked = false;
      return v;
  }
}

class Importer {
 public:
  explicit Importer(std::string folder) : folder_(std::move(folder)) {}

  Graph graph(const onnx::GraphProto &p) {
    if (++depth_ > deepest_graph) fail("graphs are nested more than ", deepest_graph, " deep");
    Graph g;
    for (const auto &t : p.initializer()) add_constant(g, t.name(), tensor_of(t, folder_));
    for (const auto &t : p.sparse_initializer()) add_constant(g, t.values().name(), dense_tensor_of(t, folder_));
    std::set<std::string> inputs;
    for (const auto &i : p.input()) {
      if (i.name().empty()) fail("an input has no name");
      if (!inputs.insert(i.name()).second) fail("the input '", i.name(), "' is listed twice");
      g.inputs.push_back(i.name());
      declare(g, i, depth_ == 1);
    }
    for (const auto &v : p.value_info()) declare(g, v, false);
    for (const auto &o : p.output()) {
      g.outputs.push_back(o.name());
      declare(g, o, depth_ == 1);
    }
    for (const auto &n : p.node()) add_node(g, n);
    --depth_;
    return g;
  }

  ModelFunction function(const onnx::FunctionProto &p) {
    ModelFunction f{plain_domain(p.domain()), p.name(), p.overload()};
    f.attributes.assign(p.attribute().begin(), p.attribute().end());
    for (const auto &a : p.attribute_proto()) {
      f.attributes.push_back(a.name());
      f.defaults.set(a.name(), attribute(a));
    }
    f.body.inputs.assign(p.input().begin(), p.input().end());
    f.body.outputs.assign(p.output().begin(), p.output().end());
    f.opsets = opsets(p.opset_import());
    for (const auto &n : p.node()) add_node(f.body, n);
    return f;
  }

  template <typename List>
  static Opsets opsets(const List &list) {
    Opsets all;
    for (const auto &o : list) all[plain_domain(o.domain())] = o.version();
    return all;
  }

 private:
  static void add_constant(Graph &g, const std::string &name, Tensor value) {
    if (name.empty()) fail("a constant has no name");
    if (g.values.count(name)) fail("the constant '", name, "' is given twice");
    g.add_constant(name, std::move(value));
  }

  // The model's own inputs and outputs must have a type; inside, it may be left open.
  static void declare(Graph &g, const onnx::ValueInfoProto &p, bool typed) {
    try {
      if (typed && p.type().value_case() == onnx::TypeProto::VALUE_NOT_SET) fail("it has no type");
      const Graph::Value v = value_of(p.type());
      const auto [it, is_new] = g.values.emplace(p.name(), v);
      if (!is_new && !it->second.constant.defined() && p.has_type()) it->second = v;
    } catch (const Unsupported &e) {
      unsupported("'", p.name(), "': ", e.what());
    } catch (const Error &e) {
      fail("'", p.name(), "': ", e.what());
    }
  }

  Attribute attribute(const onnx::AttributeProto &a) {
    using P = onnx::AttributeProto;
    switch (a.type()) {
      case P::INT:
        return a.i();
      case P::FLOAT:
        return static_cast<double>(a.f());
      case P::STRING:
        return a.s();
      case P::INTS:
        return std::vector<int64_t>(a.ints().begin(), a.ints().end());
      case P::FLOATS:
        return std::vector<double>(a.floats().begin(), a.floats().end());
      case P::STRINGS:
        return std::vector<std::string>(a.strings().begin(), a.strings().end());
      case P::TENSOR:
        return tensor_of(a.t(), folder_);
      case P::SPARSE_TENSOR:
        return dense_tensor_of(a.sparse_tensor(), folder_);
      case P::GRAPH:
        return std::make_shared<const Graph>(graph(a.g()));
      case P::TYPE_PROTO: {
        auto g = std::make_shared<Graph>();  // a value without a graph around it
        g->values["type"] = value_of(a.tp());
        return SharedGraph(g);
      }
      default:
        unsupported("the attribute '", a.name(), "' of kind ", P::AttributeType_Name(a.type()));
    }
  }

  // Files of the first days leave out the kind.
  static onnx::AttributeProto with_kind(onnx::AttributeProto a) {
    using P = onnx::AttributeProto;
    if (a.type() != P::UNDEFINED) return a;
    a.set_type(a.has_f()              ? P::FLOAT
               : a.has_i()            ? P::INT
               : a.has_s()            ? P::STRING
               : a.has_t()            ? P::TENSOR
               : a.has_g()            ? P::GRAPH
               : a.floats_size() > 0  ? P::FLOATS
               : a.ints_size() > 0    ? P::INTS
               : a.strings_size() > 0 ? P::STRINGS
                                      : P::INTS);
    return a;
  }

  void add_node(Graph &g, const onnx::NodeProto &p) {
    Graph::Node n;
    n.operation = p.op_type();
    n.domain = plain_domain(p.domain());
    n.label = p.name();
    n.inputs.assign(p.input().begin(), p.input().end());
    n.outputs.assign(p.output().begin(), p.output().end());
    try {
      if (n.operation.empty()) fail("it has no operator");
      for (const auto &a : p.attribute()) {
        if (!a.ref_attr_name().empty())
          n.references[a.name()] = a.ref_attr_name();
        else if (n.attributes.has(a.name()))
          fail("the attribute '", a.name(), "' is given twice");
        else
          n.attributes.set(a.name(), attribute(with_kind(a)));
      }
    } catch (const Unsupported &e) {
      unsupported(describe(n), ": ", e.what());
    } catch (const Error &e) {
      fail(describe(n), ": ", e.what());
    }
    n.attributes.set_owner(n.operation);
    g.nodes.push_back(std::move(n));
  }

  std::string folder_;
  int depth_ = 0;
};

onnx::ModelProto parsed(google::protobuf::io::ZeroCopyInputStream &stream) {
  google::protobuf::io::CodedInputStream coded(&stream);
  onnx::ModelProto p;
  if (!p.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage()) fail("not an ONNX model, or damaged");
  if (!p.has_graph()) fail("not an ONNX model: it has no graph");
  if (p.ir_version() < 1) fail("not an ONNX model: its ir_version is ", p.ir_version());
  if (p.ir_version() > onnx::IR_VERSION)
    unsupported("its ir_version is ", p.ir_version(), "; the newest known here is ", onnx::IR_VERSION);
  return p;
}

Model imported(const onnx::ModelProto &p, const std::string &folder) {
  Importer importer(folder);
  Model m;
  m.ir_version = p.ir_version();
  m.producer = p.producer_name() + (p.producer_version().empty() ? "" : " " + p.producer_version());
  m.opsets = Importer::opsets(p.opset_import());
  // Files of the first days have no opsets: theirs is the first.
  constexpr int first_with_opsets = 3;
  if (m.ir_version < first_with_opsets) m.opsets.emplace("", 1);
  if (m.opsets.empty()) fail("it does not say which version of the operators (opset) it means");
  for (const auto &e : p.metadata_props()) m.metadata[e.key()] = e.value();
  for (const auto &f : p.functions()) m.functions.push_back(importer.function(f));
  m.graph = importer.graph(p.graph());
  check_model(m);
  check_signatures(m);
  return m;
}

// Errors begin with the name of what was read.
Model imported(google::protobuf::io::ZeroCopyInputStream &stream, const std::string &name, const std::string &folder) {
  try {
    return imported(parsed(stream), folder);
  } catch (const Unsupported &e) {
    unsupported(name, ": ", e.what());
  } catch (const Error &e) {
    fail(name, ": ", e.what());
  }
}

}  // namespace

int64_t Model::opset(const std::string &domain) const {
  const auto it = opsets.find(domain);
  return it == opsets.end() ? 1 : it->second;
}

const ModelFunction *Model::function(const std::string &domain, const std::string &name) const {
  for (const ModelFunction &f : functions)
    if (f.domain == domain && f.name == name) return &f;
  return nullptr;
}

Model load_onnx(const std::string &path) {
  const InputFile file(path);
  google::protobuf::io::FileInputStream stream(file.descriptor());
  return imported(stream, path, std::filesystem::path(path).parent_path().string());
}

Model decode_onnx(const std::vector<uint8_t> &bytes, const std::string &name, const std::string &folder) {
  if (bytes.size() > std::numeric_limits<int>::max())
    fail(name, " has ", bytes.size(), " bytes; a model has 2 GB at most");
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  return imported(stream, name, folder);
}

}  // namespace saltern
