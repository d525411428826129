#include "runtime/graph/drawing.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace saltern {

namespace {

using Kind = Drawing::Kind;

constexpr size_t longest_formula = 300;  // in a hint

struct OperationsOfKind {
  Kind kind;
  std::vector<std::string_view> operations;  // of ONNX, and Saltern's own; those that end in * begin like this
};

const std::vector<OperationsOfKind> &kinds() {
  static const std::vector<OperationsOfKind> table = {
      {Kind::product,
       {"Conv*", "conv2d*", "Gemm", "MatMul*", "QLinearConv", "QLinearMatMul", "dense", "matmul", "Einsum",
        "*Attention", "attention", "LSTM", "GRU", "RNN", "DeformConv"}},
      {Kind::normalization,
       {"*Normalization", "batch_norm", "layer_norm", "rms_norm", "LRN", "Softmax", "LogSoftmax", "Hardmax", "softmax",
        "log_softmax", "LpNormalization"}},
      {Kind::reduction,
       {"Reduce*", "*Pool", "Global*", "max_pool2d", "average_pool2d", "sum", "ArgMax", "ArgMin", "TopK", "CumSum"}},
      {Kind::movement,
       {"Reshape",      "Transpose", "Concat*",  "Slice",  "Split*",  "Gather*",   "Scatter*", "Squeeze",
        "Unsqueeze",    "Flatten",   "Expand",   "Tile",   "Pad",     "Resize",    "Upsample", "DepthToSpace",
        "SpaceToDepth", "Shape",     "Identity", "Cast*",  "reshape", "transpose", "expand",   "identity",
        "Sequence*",    "Constant*", "Range",    "OneHot", "concat",  "slice"}},
      {Kind::control, {"If", "Loop", "Scan"}},
  };
  return table;
}

bool fits(std::string_view pattern, std::string_view name) {
  if (pattern.back() == '*') return name.substr(0, pattern.size() - 1) == pattern.substr(0, pattern.size() - 1);
  if (pattern.front() != '*') return name == pattern;
  const std::string_view end = pattern.substr(1);
  return name.size() >= end.size() && name.substr(name.size() - end.size()) == end;
}

bool fits(const OperationsOfKind &row, const std::string &operation) {
  return std::any_of(row.operations.begin(), row.operations.end(),
                     [&](std::string_view pattern) { return fits(pattern, operation); });
}

// Whether the result has the shape of an operand; one that is not known may be it.
bool keeps_a_shape(const Graph &graph, const Graph::Node &n) {
  const auto made = graph.values.find(n.outputs[0]);
  return std::any_of(n.inputs.begin(), n.inputs.end(), [&](const std::string &i) {
    const auto read = graph.values.find(i);
    if (made == graph.values.end() || read == graph.values.end()) return !i.empty();
    return made->second.ranked == read->second.ranked && made->second.shape == read->second.shape;
  });
}

// What is in no row computes element by element, as most operators do, unless it makes something of another shape.
Kind kind_of(const Graph &graph, const Graph::Node &n) {
  for (const OperationsOfKind &r : kinds())
    if (fits(r, n.operation)) return r.kind;
  return n.outputs.size() == 1 && n.domain.empty() && keeps_a_shape(graph, n) ? Kind::elementwise : Kind::other;
}

// 1 x 3 x 224 x 224; nothing where it is not known.
std::string shape_text(const Graph &graph, const std::string &value) {
  const auto it = graph.values.find(value);
  if (it == graph.values.end() || !it->second.ranked) return "";
  const Graph::Value &v = it->second;
  std::string text;
  for (size_t d = 0; d < v.shape.size(); ++d) {
    const std::string symbol = d < v.symbols.size() && !v.symbols[d].empty() ? v.symbols[d] : "?";
    text += (d == 0 ? "" : " x ") + (v.shape[d] >= 0 ? std::to_string(v.shape[d]) : symbol);
  }
  return text.empty() ? "scalar" : text;
}

std::string type_text(const Graph &graph, const std::string &value) {
  const auto it = graph.values.find(value);
  return it == graph.values.end() ? "" : std::string(facts(it->second.type).name);
}

Drawing::Box box_of(const Graph &graph, const Graph::Node &n) {
  Drawing::Box box = {n.operation, {}, {}, kind_of(graph, n)};
  std::string constants, matrices;
  for (const std::string &i : n.inputs) {
    const auto v = graph.values.find(i);
    if (v == graph.values.end() || !v->second.constant.defined()) continue;
    constants += (constants.empty() ? "" : ", ") + shape_text(graph, i);
    if (v->second.shape.size() > 1) matrices += (matrices.empty() ? "" : ", ") + shape_text(graph, i);
  }
  const std::string shape = shape_text(graph, n.outputs[0]);
  box.detail = shape.empty() ? matrices : shape;
  box.hint = describe(n) + "\nmakes '" + n.outputs[0] + "'" + (shape.empty() ? "" : ", " + shape);
  if (!constants.empty()) box.hint += "\nconstants: " + constants;
  if (n.operation == "formula") {
    const std::string formula = to_string(n.attributes.expression("element"));
    box.hint += "\n" + (formula.size() <= longest_formula ? formula : formula.substr(0, longest_formula) + " ...");
  }
  return box;
}

}  // namespace

const std::vector<KindFacts> &drawing_kinds() {
  static const std::vector<KindFacts> kinds = {
      {Kind::edge, "input, output", "#dfe5ec"},          {Kind::product, "product", "#f4b183"},
      {Kind::normalization, "normalization", "#c9b6e4"}, {Kind::reduction, "reduction", "#a9d8b8"},
      {Kind::elementwise, "elementwise", "#ffe08a"},     {Kind::movement, "movement", "#b7d7f2"},
      {Kind::control, "control flow", "#f2a6b8"},        {Kind::other, "other", "#eeeeee"},
  };
  return kinds;
}

Drawing drawing_of(const Graph &graph) {
  Drawing d;
  std::map<std::string, size_t> makers;  // boxes, by the value that they make
  const auto connect = [&](const std::string &value, size_t to) {
    const auto maker = makers.find(value);
    if (maker != makers.end()) d.lines.push_back({maker->second, to});
  };
  for (const std::string &i : graph.inputs) {
    if (graph.value(i).constant.defined()) continue;
    makers[i] = d.boxes.size();
    d.boxes.push_back({i, shape_text(graph, i), "input '" + i + "' " + type_text(graph, i), Kind::edge});
  }
  for (const Graph::Node &n : graph.nodes) {
    const size_t here = d.boxes.size();
    if (n.outputs.empty()) continue;
    d.boxes.push_back(box_of(graph, n));
    std::vector<std::string> read = n.inputs;  // one line for a value that is read twice
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    for (const std::string &i : read) connect(i, here);
    for (const std::string &o : n.outputs) makers[o] = here;
  }
  for (const std::string &o : graph.outputs) {
    connect(o, d.boxes.size());
    d.boxes.push_back({o, shape_text(graph, o), "output '" + o + "' " + type_text(graph, o), Kind::edge});
  }
  return d;
}

std::string to_dot(const Drawing &drawing) {
  const auto quoted = [](const std::string &text) {
    std::string all = "\"";
    for (char c : text) {
      if (c == '"' || c == '\\') all += '\\';
      all += c == '\n' ? "\\n" : std::string(1, c);
    }
    return all + "\"";
  };
  std::string text = "digraph model {\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n";
  for (size_t i = 0; i < drawing.boxes.size(); ++i) {
    const Drawing::Box &b = drawing.boxes[i];
    text += "  n" + std::to_string(i) + " [label=" + quoted(b.title + (b.detail.empty() ? "" : "\n" + b.detail)) +
            ", tooltip=" + quoted(b.hint) + ", fillcolor=\"" + drawing_kinds()[static_cast<size_t>(b.kind)].colour +
            "\"];\n";
  }
  for (const Drawing::Line &l : drawing.lines)
    text += "  n" + std::to_string(l.from) + " -> n" + std::to_string(l.to) + ";\n";
  return text + "}\n";
}

}  // namespace saltern
