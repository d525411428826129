#include "runtime/graph/graph.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_set>

namespace saltern {

namespace {

bool contains(const std::vector<std::string> &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void validate_value(const std::string &name, const Graph::Value &v, int64_t most_elements) {
  if (name.empty()) fail("a value has no name");
  if (v.container != Graph::Container::tensor) fail("value '", name, "' is not a tensor");
  if (v.shape.size() > 8) fail("value '", name, "' has rank ", v.shape.size(), "; expected 8 at most");
  int64_t count = 1;
  for (int64_t e : v.shape) {
    if (e < 0) fail("value '", name, "' has the shape ", to_string(v.shape), "; expected extents of 0 or more");
    if (e > most_elements / std::max<int64_t>(count, 1))
      fail("value '", name, "' has the shape ", to_string(v.shape), "; expected fewer than 2^31 elements");
    count *= e;
  }
  if (!v.constant.defined()) return;
  if (v.constant.shape() != v.shape || v.constant.type() != v.type)
    fail("constant '", name, "' is declared as ", facts(v.type).name, " ", to_string(v.shape), " and holds ",
         facts(v.constant.type()).name, " ", to_string(v.constant.shape()));
}

// Hashed, as every pass asks for every name; the strings are the graph's.
using NameSet = std::unordered_set<std::string_view>;

// The values that one graph's nodes can read; an inner graph reads those of the graphs around it too.
struct Names {
  NameSet own = {};
  const Names *outer = nullptr;

  bool has(std::string_view name) const {
    for (const Names *n = this; n; n = n->outer)
      if (n->own.count(name)) return true;
    return false;
  }
};

void validate_imported(const Graph &g, const Names *outer);

// That each node reads what is there before it, and makes what is not; then everything is known. What an imported node
// does not read or make has no name.
void validate_nodes(const Graph &g, Names &known, bool imported) {
  for (const Graph::Node &n : g.nodes) {
    if (n.operation.empty()) fail(describe(n), imported ? " has no operator" : " has no operation");
    if (n.outputs.empty() && !imported) fail(describe(n), " has no output");
    for (const std::string &i : n.inputs)
      if (!(imported && i.empty()) && !known.has(i))
        fail(describe(n), " reads '", i, "', which nothing before it makes");
    for (const auto &[name, a] : n.attributes)
      if (const auto *inner = std::get_if<SharedGraph>(&a)) validate_imported(**inner, &known);
    for (const std::string &o : n.outputs)
      if (!(imported && o.empty()) && !known.own.insert(o).second)
        fail(describe(n), " makes '", o, "', which exists already");
  }
  for (const std::string &o : g.outputs)
    if (!known.has(o)) fail("nothing makes the output '", o, "'");
}

void validate_imported(const Graph &g, const Names *outer) {
  if (!g.state.empty()) fail("an imported graph has no state; this one has '", g.state[0].value, "'");
  Names known;
  known.outer = outer;
  known.own.reserve(g.values.size() + g.nodes.size());
  for (const auto &[name, v] : g.values) {
    if (name.empty()) fail("a value has no name");
    if (v.constant.defined()) known.own.insert(name);
  }
  NameSet inputs;
  for (const std::string &i : g.inputs) {
    if (i.empty()) fail("an input has no name");
    if (!inputs.insert(i).second) fail("the input '", i, "' is listed twice");
  }
  known.own.insert(inputs.begin(), inputs.end());
  validate_nodes(g, known, /*imported=*/true);
}

bool is_same(const Graph::Value &a, const Graph::Value &b) {
  if (a.shape != b.shape || a.type != b.type || a.ranked != b.ranked || a.container != b.container ||
      a.layout != b.layout || !is_same(Attribute(a.constant), Attribute(b.constant)))
    return false;
  for (size_t d = 0; d < a.shape.size(); ++d)
    if (a.symbol(d) != b.symbol(d)) return false;
  return true;
}

bool is_same(const Graph::State &a, const Graph::State &b) {
  return a.value == b.value && a.next == b.next && is_same(Attribute(a.initial), Attribute(b.initial));
}

bool is_same(const Graph::Node &a, const Graph::Node &b) {
  return a.operation == b.operation && a.domain == b.domain && a.label == b.label && a.inputs == b.inputs &&
         a.outputs == b.outputs && a.references == b.references && a.attributes == b.attributes;
}

template <typename Key, typename T>
bool is_same(const std::pair<Key, T> &a, const std::pair<Key, T> &b) {
  return a.first == b.first && is_same(a.second, b.second);
}

template <typename List>
bool are_same(const List &a, const List &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto &x, const auto &y) { return is_same(x, y); });
}

}  // namespace

bool is_same(const Graph &a, const Graph &b) {
  return a.inputs == b.inputs && a.outputs == b.outputs && a.sizes == b.sizes && are_same(a.state, b.state) &&
         are_same(a.nodes, b.nodes) && are_same(a.values, b.values);
}

void validate_imported(const Graph &graph) { validate_imported(graph, nullptr); }

std::string describe(const Graph::Node &n) {
  std::string name = n.label;
  for (size_t i = 0; name.empty() && i < n.outputs.size(); ++i) name = n.outputs[i];
  const std::string operation = n.domain.empty() ? n.operation : n.domain + "." + n.operation;
  return "node '" + (name.empty() ? std::string("?") : name) + "' (" + operation + ")";
}

bool is_plain_name(const std::string &name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || name.size() > 200) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '/' || c == ':' || c == '-';
  });
}

bool Graph::Value::can_be(const Shape &other) const {
  if (!ranked) return true;
  if (shape.size() != other.size()) return false;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] >= 0 && shape[d] != other[d]) return false;
  return true;
}

const Graph::Value &Graph::value(const std::string &name) const {
  auto it = values.find(name);
  if (it == values.end()) fail("the graph has no value '", name, "'");
  return it->second;
}

const Graph::Node *Graph::producer(const std::string &name) const {
  for (const Node &n : nodes)
    if (contains(n.outputs, name)) return &n;
  return nullptr;
}

int Graph::uses(const std::string &name) const {
  int count = is_output(name) ? 1 : 0;
  for (const Node &n : nodes) count += static_cast<int>(std::count(n.inputs.begin(), n.inputs.end(), name));
  return count;
}

bool Graph::is_output(const std::string &name) const { return contains(outputs, name); }

std::vector<std::string> Graph::given() const {
  NameSet kept;
  for (const State &s : state) kept.insert(s.value);
  std::vector<std::string> all;
  for (const std::string &i : inputs)
    if (!kept.count(i)) all.push_back(i);
  return all;
}

std::vector<std::string> Graph::asked() const {
  NameSet kept;
  for (const State &s : state) kept.insert(s.next);
  std::vector<std::string> all;
  for (const std::string &o : outputs)
    if (!kept.count(o)) all.push_back(o);
  return all;
}

std::string Graph::fresh_name(const std::string &stem) const {
  if (!values.count(stem)) return stem;
  // Numbers are mostly taken one after another: the first free one is looked for in steps that double, then halve, so
  // that thousands of values with one stem do not take millions of questions.
  const auto numbered = [&](int64_t i) { return stem + "_" + std::to_string(i); };
  int64_t taken = 0, free = 1;
  for (; values.count(numbered(free)); free *= 2) taken = free;
  while (free - taken > 1) {
    const int64_t middle = (taken + free) / 2;
    (values.count(numbered(middle)) ? taken : free) = middle;
  }
  return numbered(free);
}

void Graph::add_input(const std::string &name, Shape shape, Type type) {
  inputs.push_back(name);
  values[name] = {std::move(shape), type, {}};
}

void Graph::add_constant(const std::string &name, Tensor value) { values[name] = {value.shape(), value.type(), value}; }

void Graph::add_state(const std::string &name, const std::string &next, Tensor initial) {
  values[name] = {initial.shape(), initial.type(), {}};
  inputs.push_back(name);
  if (next != name) outputs.push_back(next);
  state.push_back({name, next, std::move(initial)});
}

std::string Graph::add_node(const std::string &operation, std::vector<std::string> from, const std::string &to,
                            Shape shape, Attributes attributes, Type type) {
  const std::string name = fresh_name(to);
  values[name] = {std::move(shape), type, {}};
  nodes.push_back({operation, std::move(attributes), std::move(from), {name}});
  return name;
}

void Graph::replace_uses(const std::string &from, const std::string &to) {
  for (Node &n : nodes) std::replace(n.inputs.begin(), n.inputs.end(), from, to);
  std::replace(outputs.begin(), outputs.end(), from, to);
  for (State &s : state)
    if (s.next == from) s.next = to;
}

NameSet Graph::needed_for(const std::vector<std::string> &wanted) const {
  NameSet needed;
  needed.reserve(values.size());
  for (const std::string &name : wanted) {
    const auto own = values.find(name);  // the caller's may not last
    needed.insert(own == values.end() ? std::string_view(name) : own->first);
  }
  for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) {
    const auto is_needed = [&](const std::string &o) { return needed.count(o) != 0; };
    if (std::none_of(n->outputs.begin(), n->outputs.end(), is_needed)) continue;
    needed.insert(n->inputs.begin(), n->inputs.end());
    needed.insert(n->outputs.begin(), n->outputs.end());
  }
  return needed;
}

void Graph::remove_unused() {
  NameSet needed = needed_for(outputs);
  std::vector<bool> unused;
  for (const Node &n : nodes)
    unused.push_back(
        std::none_of(n.outputs.begin(), n.outputs.end(), [&](const std::string &o) { return needed.count(o) != 0; }));
  needed.insert(inputs.begin(), inputs.end());
  for (auto it = values.begin(); it != values.end();) it = needed.count(it->first) ? std::next(it) : values.erase(it);
  size_t at = 0;  // nodes last, as the names are theirs
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), [&](const Node &) { return unused[at++]; }), nodes.end());
}

namespace {

void validate_state(const Graph &graph) {
  const NameSet inputs(graph.inputs.begin(), graph.inputs.end()), outputs(graph.outputs.begin(), graph.outputs.end());
  NameSet values, nexts;
  for (const Graph::State &s : graph.state) {
    const auto is = [&](const Tensor &t, const Graph::Value &v) { return t.shape() == v.shape && t.type() == v.type; };
    const auto about = [](const Shape &shape, Type type) {
      return std::string(facts(type).name) + " " + to_string(shape);
    };
    const Graph::Value &v = graph.value(s.value), &next = graph.value(s.next);
    if (!values.insert(s.value).second) fail("the state '", s.value, "' is listed twice");
    if (!inputs.count(s.value)) fail("the state '", s.value, "' is not among the inputs");
    if (!s.initial.defined() || !is(s.initial, v))
      fail("the state '", s.value, "' is ", about(v.shape, v.type), " and begins as ",
           s.initial.defined() ? about(s.initial.shape(), s.initial.type()) : "nothing");
    if (s.next == s.value) continue;
    if (!nexts.insert(s.next).second) fail("'", s.next, "' is the next value of two states");
    if (!outputs.count(s.next))
      fail("'", s.next, "', which the state '", s.value, "' becomes, is not among the outputs");
    if (!is(s.initial, next))
      fail("the state '", s.value, "' is ", about(v.shape, v.type), " and becomes ", about(next.shape, next.type),
           " ('", s.next, "')");
  }
}

}  // namespace

void validate(const Graph &graph) {
  // What stands for an open size is large, and never made.
  const int64_t most_elements = graph.sizes.empty() ? std::numeric_limits<int32_t>::max() : int64_t{1} << 60;
  Names known;
  known.own.reserve(graph.values.size());
  for (const auto &[name, v] : graph.values) {
    validate_value(name, v, most_elements);
    if (v.constant.defined()) known.own.insert(name);
  }
  if (graph.outputs.empty()) fail("the graph has no output");
  for (const std::string &i : graph.inputs) {
    if (graph.value(i).constant.defined()) fail("'", i, "' is both an input and a constant");
    if (!known.own.insert(i).second) fail("the input '", i, "' is listed twice");
  }
  validate_nodes(graph, known, /*imported=*/false);
  for (const auto &[name, v] : graph.values)
    if (!known.has(name)) fail("the value '", name, "' is neither input nor constant, and no node makes it");
  validate_state(graph);
  if (known.own.size() == graph.values.size()) return;
  for (const Graph::Node &n : graph.nodes)
    for (const std::string &o : n.outputs) graph.value(o);  // throws where a node makes what is no value
}

}  // namespace saltern
