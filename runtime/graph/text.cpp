#include "runtime/graph/text.h"

#include <cstdio>
#include <cstdlib>

namespace saltern {

namespace {

constexpr const char *first_line = "saltern graph 1";
constexpr size_t longest_text = size_t{64} << 20;

std::string quoted(const std::string &s) {
  std::string q = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') q += '\\';
    if (c == '\n') {
      q += "\\n";
    } else {
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

template <typename List, typename Text>
std::string listed(const List &list, const Text &text) {
  std::string all;
  for (const auto &e : list) all += (all.empty() ? "" : ", ") + text(e);
  return "[" + all + "]";
}

struct AttributeText {
  std::string operator()(int64_t i) const { return std::to_string(i); }
  std::string operator()(double d) const { return number(d); }
  std::string operator()(const std::vector<int64_t> &list) const { return to_string(list); }
  std::string operator()(const std::string &s) const { return quoted(s); }
  std::string operator()(const std::vector<double> &list) const { return listed(list, number); }
  std::string operator()(const std::vector<std::string> &list) const { return listed(list, quoted); }
  std::string operator()(const formula::Expression &e) const { return "formula " + quoted(formula::to_string(e)); }
  // Tensors and graphs in attributes are imported graphs' matter; lowered ones have none.
  std::string operator()(const Tensor &t) const {
    return "tensor " + std::string(facts(t.type()).name) + " " + to_string(t.shape());
  }
  std::string operator()(const SharedGraph &g) const {
    return "graph of " + std::to_string(g->nodes.size()) + " nodes";
  }
};

std::string type_and_shape(const Graph::Value &v) { return std::string(facts(v.type).name) + " " + to_string(v.shape); }

std::string joined(const std::vector<std::string> &parts) {
  std::string all;
  for (const std::string &p : parts) all += (all.empty() ? "" : ", ") + p;
  return all;
}

// Reads one line from left to right.
class Line {
 public:
  Line(const std::string &text, const std::string &source, int number)
      : text_(text), source_(source), number_(number) {}

  template <typename... Parts>
  [[noreturn]] void wrong(const Parts &...parts) const {
    fail(source_, ", line ", number_, ", column ", at_ + 1, ": ", parts...);
  }

  bool at_end() {
    skip_spaces();
    return at_ == text_.size();
  }

  bool accept(const std::string &symbol) {
    skip_spaces();
    if (text_.compare(at_, symbol.size(), symbol) != 0) return false;
    at_ += symbol.size();
    return true;
  }

  void expect(const std::string &symbol) {
    if (!accept(symbol)) wrong("expected '", symbol, "'");
  }

  std::string name() {
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '"') return word();
    size_t end = at_;
    while (end < text_.size() && is_plain_name("_" + text_.substr(end, 1)) && !(text_.compare(end, 2, "->") == 0))
      ++end;
    const std::string found = text_.substr(at_, end - at_);
    if (!is_plain_name(found)) wrong("expected a name of letters, digits and _./:- or one in quotes");
    at_ = end;
    return found;
  }

  Type type() {
    const std::string found = name();
    for (const TypeFacts &t : all_types())
      if (t.name == found) return t.type;
    wrong("'", found, "' is not an element type");
  }

  std::vector<int64_t> list() {
    expect("[");
    std::vector<int64_t> all;
    if (accept("]")) return all;
    do all.push_back(integer());
    while (accept(","));
    expect("]");
    return all;
  }

  Graph::Value value() {
    Graph::Value v;
    v.type = type();
    v.shape = list();
    return v;
  }

  Attribute attribute() {
    skip_spaces();
    const char next = at_ < text_.size() ? text_[at_] : '\0';
    if (next == '[') return any_list();
    if (next == '"') return word();
    if (accept("formula ")) return formula();
    char *end = nullptr;
    const double real = std::strtod(text_.c_str() + at_, &end);
    const size_t length = static_cast<size_t>(end - (text_.c_str() + at_));
    if (length == 0) wrong("expected a number, a list in [] or a word in quotes");
    if (text_.substr(at_, length).find_first_of(".einfEINFaA") == std::string::npos) return integer();
    at_ += length;
    return real;
  }

  // Of integers, of real numbers or of words, as its first element says.
  Attribute any_list() {
    const size_t begin = at_;
    expect("[");
    if (accept("]")) return std::vector<int64_t>{};
    const Attribute first = attribute();
    if (std::holds_alternative<int64_t>(first)) {
      at_ = begin;
      return list();
    }
    std::vector<double> reals;
    std::vector<std::string> words;
    at_ = begin;
    expect("[");
    do {
      const Attribute each = attribute();
      if (const auto *real = std::get_if<double>(&each); real && words.empty())
        reals.push_back(*real);
      else if (const auto *word = std::get_if<std::string>(&each); word && reals.empty())
        words.push_back(*word);
      else
        wrong("expected a list of one kind of element");
    } while (accept(","));
    expect("]");
    if (words.empty()) return reals;
    return words;
  }

  formula::Expression formula() {
    const std::string text = word();
    try {
      return formula::parse_expression(text);
    } catch (const std::invalid_argument &e) {
      wrong(e.what());
    }
  }

  Attributes attributes() {
    Attributes all;
    if (!accept("{") || accept("}")) return all;
    do {
      const std::string key = name();
      if (all.has(key)) wrong("the attribute '", key, "' is given twice");
      expect("=");
      all.set(key, attribute());
    } while (accept(","));
    expect("}");
    return all;
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  int64_t integer() {
    skip_spaces();
    char *end = nullptr;
    errno = 0;
    const long long found = std::strtoll(text_.c_str() + at_, &end, 10);
    const size_t length = static_cast<size_t>(end - (text_.c_str() + at_));
    if (length == 0 || errno != 0) wrong("expected an integer of 64 bits");
    at_ += length;
    return found;
  }

  std::string word() {
    expect("\"");
    std::string all;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        all += text_[at_] == 'n' ? '\n' : text_[at_];
      } else {
        all += text_[at_];
      }
      ++at_;
    }
    expect("\"");
    return all;
  }

  const std::string &text_;
  const std::string &source_;
  int number_;
  size_t at_ = 0;
};

void declare(Graph &g, const Line &line, const std::string &name, Graph::Value v) {
  if (!g.values.emplace(name, std::move(v)).second) line.wrong("the value '", name, "' exists already");
}

void parse_constant(Graph &g, Line &line, const std::map<std::string, Tensor> &constants) {
  const std::string name = line.name();
  Graph::Value v = line.value();
  auto found = constants.find(name);
  if (found == constants.end()) line.wrong("there is no tensor for the constant '", name, "'");
  v.constant = found->second;
  declare(g, line, name, std::move(v));
}

void parse_node(Graph &g, Line &line) {
  Graph::Node n;
  n.operation = line.name();
  line.expect("(");
  if (!line.accept(")")) {
    do n.inputs.push_back(line.name());
    while (line.accept(","));
    line.expect(")");
  }
  n.attributes = line.attributes();
  line.expect("->");
  do {
    n.outputs.push_back(line.name());
    declare(g, line, n.outputs.back(), line.value());
  } while (line.accept(","));
  g.nodes.push_back(std::move(n));
}

void parse_line(Graph &g, Line &line, const std::map<std::string, Tensor> &constants) {
  if (line.accept("input ")) {
    g.inputs.push_back(line.name());
    declare(g, line, g.inputs.back(), line.value());
  } else if (line.accept("constant ")) {
    parse_constant(g, line, constants);
  } else if (line.accept("node ")) {
    parse_node(g, line);
  } else if (line.accept("output ")) {
    g.outputs.push_back(line.name());
  } else {
    line.wrong("expected input, constant, node or output");
  }
  if (!line.at_end()) line.wrong("the line should end here");
}

}  // namespace

std::string to_text(const Graph &graph) {
  std::string text = std::string(first_line) + "\n";
  for (const std::string &i : graph.inputs)
    text += "input " + name_text(i) + " " + type_and_shape(graph.value(i)) + "\n";
  for (const auto &[name, v] : graph.values)
    if (v.constant.defined()) text += "constant " + name_text(name) + " " + type_and_shape(v) + "\n";
  for (const Graph::Node &n : graph.nodes) {
    std::vector<std::string> settings, made, read;
    for (const auto &[key, a] : n.attributes)
      settings.push_back(name_text(key) + " = " + std::visit(AttributeText{}, a));
    for (const std::string &o : n.outputs) made.push_back(name_text(o) + " " + type_and_shape(graph.value(o)));
    for (const std::string &i : n.inputs) read.push_back(name_text(i));
    text += "node " + name_text(n.operation) + "(" + joined(read) + ")";
    if (!settings.empty()) text += " {" + joined(settings) + "}";
    text += " -> " + joined(made) + "\n";
  }
  for (const std::string &o : graph.outputs) text += "output " + name_text(o) + "\n";
  return text;
}

Graph parse_graph(const std::string &text, const std::map<std::string, Tensor> &constants, const std::string &source) {
  if (text.size() > longest_text)
    fail(source, ": a graph of ", text.size(), " bytes; expected ", longest_text, " at most");
  Graph graph;
  int number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string content = text.substr(begin, end - begin);
    begin = end + 1;
    Line line(content, source, ++number);
    if (number == 1) {
      if (content != first_line) line.wrong("expected '", first_line, "'");
    } else if (!line.at_end()) {
      parse_line(graph, line, constants);
    }
  }
  if (number == 0) fail(source, ": the graph is empty; expected '", first_line, "'");
  try {
    validate(graph);
  } catch (const Error &e) {
    fail(source, ": ", e.what());
  }
  return graph;
}

}  // namespace saltern
