#include <cstdio>

#include "runtime/graph/text.h"
#include "runtime/graph/text_line.h"
#include "runtime/tensor/element.h"

namespace saltern {

namespace {

constexpr int64_t easily_read = 16;  // elements of a tensor

std::string quoted(const std::string &s) {
  std::string q = "\"";
  for (char c : s) {
    char code[8];
    if (c == '\n') {
      q += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned char>(c));
      q += code;
    } else {
      if (c == '"' || c == '\\') q += '\\';
      q += c;
    }
  }
  return q + '"';
}

// Numbers with a fraction keep a point or an exponent, which tells them from integers.
std::string number(double d) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", d);
  std::string s = text;
  return s.find_first_of(".einf") == std::string::npos ? s + ".0" : s;
}

std::string name_text(const std::string &name) { return is_plain_name(name) ? name : quoted(name); }

std::string joined(const std::vector<std::string> &parts) {
  std::string all;
  for (const std::string &p : parts) all += (all.empty() ? "" : ", ") + p;
  return all;
}

template <typename List, typename Text>
std::string listed(const List &list, const Text &text) {
  std::vector<std::string> parts;
  for (const auto &e : list) parts.push_back(text(e));
  return "[" + joined(parts) + "]";
}

std::string elements_text(const Tensor &t) {
  if (t.type() == Type::text) {
    const Tensor dense = t.in_layout(Layout::row_major);
    return listed(std::vector<std::string>(dense.data<std::string>(), dense.data<std::string>() + dense.size()),
                  quoted);
  }
  if (is_real(t.type())) return listed(t.reals(), number);
  return listed(t.integers(), [](int64_t i) { return std::to_string(i); });
}

// Whether elements come back from text bit by bit: integers beyond 2^53 and NaNs of all kinds do not.
bool survives(const Tensor &t) {
  if (t.type() == Type::text) return true;
  const Tensor back = Tensor::empty(t.shape(), t.type());
  const std::vector<double> values = t.reals();
  for (size_t i = 0; i < values.size(); ++i) set_element(t.type(), back.raw(), static_cast<int64_t>(i), values[i]);
  return is_same(Attribute(t), Attribute(back));
}

std::string value_text(const Graph::Value &v) {
  std::string text;
  if (v.container != Graph::Container::tensor) text += std::string(name(v.container)) + " ";
  text += std::string(facts(v.type).name) + " " + shape_text(v);
  return v.layout == Layout::channels_last ? text + " channels_last" : text;
}

class Writer {
 public:
  explicit Writer(int64_t largest_inside) : largest_inside_(largest_inside) {}

  GraphText write(const Graph &g) {
    made_.text = std::string(first_line_of_graph) + "\n";
    for (const auto &[name, s] : g.sizes)
      line("", "size " + name_text(name) + " " + std::to_string(s.number) +
                   (s.by > 0 ? " = " + std::to_string(s.of) + " / " + std::to_string(s.by) : ""));
    lines_of(g, "", "");
    return std::move(made_);
  }

 private:
  void line(const std::string &indent, const std::string &text) { made_.text += indent + text + "\n"; }

  // `place` is where the graph is, for the names of tensors that stand beside the text.
  void lines_of(const Graph &g, const std::string &indent, const std::string &place) {
    std::map<std::string, bool> mentioned;
    const auto about = [&](const std::string &name) {
      mentioned[name] = true;
      const auto v = g.values.find(name);
      return v == g.values.end() ? name_text(name) : name_text(name) + " " + value_text(v->second);
    };
    for (const std::string &i : g.inputs) {
      std::string text = "input " + about(i);
      if (const auto v = g.values.find(i); v != g.values.end() && v->second.constant.defined())
        text += " = " + tensor_text(v->second.constant, place + i);
      line(indent, text);
    }
    for (const auto &[name, v] : g.values) {
      if (!v.constant.defined() || mentioned.count(name)) continue;
      const std::string elements = tensor_text(v.constant, place + name);
      line(indent, "constant " + about(name) + (elements == "@" + name_text(name) ? "" : " = " + elements));
    }
    for (const Graph::Node &n : g.nodes)
      for (const std::string &o : n.outputs) mentioned[o] = true;
    for (const auto &[name, v] : g.values)
      if (!mentioned.count(name)) line(indent, "value " + about(name));
    for (const Graph::Node &n : g.nodes) node_lines(g, n, indent, place);
    for (const std::string &o : g.outputs) line(indent, "output " + name_text(o));
    for (const Graph::State &s : g.state) {
      const std::string elements = tensor_text(s.initial, place + s.value);
      line(indent, "state " + name_text(s.value) + " -> " + name_text(s.next) +
                       (elements == "@" + name_text(s.value) ? "" : " = " + elements));
    }
  }

  void node_lines(const Graph &g, const Graph::Node &n, const std::string &indent, const std::string &place) {
    std::vector<std::string> settings, references, made, read;
    for (const auto &[key, a] : n.attributes) {
      const std::string inside = place + (n.outputs.empty() ? "" : n.outputs[0]) + "/" + key;
      settings.push_back(name_text(key) + " = " +
                         std::visit([&](const auto &value) { return attribute(value, indent, inside); }, a));
    }
    for (const auto &[key, of_function] : n.references)
      references.push_back(name_text(key) + " = " + name_text(of_function));
    for (const std::string &o : n.outputs) {
      const auto v = g.values.find(o);
      made.push_back(v == g.values.end() ? name_text(o) : name_text(o) + " " + value_text(v->second));
    }
    for (const std::string &i : n.inputs) read.push_back(name_text(i));
    std::string text = "node " + name_text(n.operation) + "(" + joined(read) + ")";
    if (!n.domain.empty()) text += " of " + name_text(n.domain);
    if (!n.label.empty()) text += " as " + name_text(n.label);
    if (!settings.empty()) text += " {" + joined(settings) + "}";
    if (!references.empty()) text += " with {" + joined(references) + "}";
    line(indent, text + " -> " + joined(made));
  }

  using Text = const std::string &;
  std::string attribute(int64_t i, Text, Text) { return std::to_string(i); }
  std::string attribute(double d, Text, Text) { return number(d); }
  std::string attribute(const std::vector<int64_t> &list, Text, Text) { return to_string(list); }
  std::string attribute(Text s, Text, Text) { return quoted(s); }
  std::string attribute(const std::vector<double> &list, Text, Text) {
    return list.empty() ? "reals []" : listed(list, number);
  }
  std::string attribute(const std::vector<std::string> &list, Text, Text) {
    return list.empty() ? "words []" : listed(list, quoted);
  }
  std::string attribute(const formula::Expression &e, Text, Text) { return "formula " + quoted(formula::to_string(e)); }
  std::string attribute(const Tensor &t, Text, Text place) {
    if (!t.defined()) return "tensor none";
    return "tensor " + std::string(facts(t.type()).name) + " " + to_string(t.shape()) + " = " + tensor_text(t, place);
  }
  // The graph's lines stand before those of the node, under a name of their own.
  std::string attribute(const SharedGraph &g, Text indent, Text place) {
    const std::string name = "graph" + std::to_string(++graphs_);
    line(indent, "graph " + name);
    lines_of(*g, indent + "  ", place + "/");
    line(indent, "end");
    return "graph " + name;
  }

  std::string tensor_text(const Tensor &t, std::string name) {
    if (t.size() <= largest_inside_ && survives(t)) return elements_text(t);
    while (made_.tensors.count(name)) name += "_";
    made_.tensors[name] = t;
    return "@" + name_text(name);
  }

  int64_t largest_inside_;
  int graphs_ = 0;
  GraphText made_;
};

}  // namespace

std::string shape_text(const Graph::Value &v) {
  if (!v.ranked) return "any";
  std::vector<std::string> extents;
  for (size_t d = 0; d < v.shape.size(); ++d) {
    const std::string &symbol = v.symbol(d);
    const bool plain = is_plain_name(symbol) && !(symbol[0] >= '0' && symbol[0] <= '9') && symbol[0] != '-';
    extents.push_back(v.shape[d] >= 0  ? std::to_string(v.shape[d])
                      : symbol.empty() ? "?"
                      : plain          ? symbol
                                       : quoted(symbol));
  }
  return "[" + joined(extents) + "]";
}

GraphText text_of(const Graph &graph, int64_t largest_inside) { return Writer(largest_inside).write(graph); }

std::string to_text(const Graph &graph) { return text_of(graph, easily_read).text; }

}  // namespace saltern
