#include "runtime/graph/trace.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "runtime/autograd/formula_operation.h"
#include "runtime/graph/formula_node.h"
#include "runtime/graph/open_sizes.h"
#include "runtime/graph/text.h"

namespace saltern {

namespace {

class Tracer {
 public:
  Tracer(const std::map<std::string, Tensor> &names, const OpenSizes &sizes) {
    graph_.sizes = sizes;
    for (const auto &[name, tensor] : names) names_.emplace(memory_of(tensor), name);
  }

  Tracer(Graph graph, const NamedVariables &known) : graph_(std::move(graph)) {
    for (const auto &[name, v] : known) {
      if (v.step()) known_.insert(v.step().get());
      if (v.step()) made_[{v.step().get(), v.index()}] = name;
      leaves_[v.identity()] = name;
      constants_[memory_of(v.value())] = name;
    }
  }

  Graph run(const NamedVariables &inputs, const NamedVariables &outputs) {
    for (const auto &[name, v] : inputs) {
      graph_.add_input(name, v.shape(), v.value().type());
      leaves_[v.identity()] = name;
    }
    graph_.outputs = add(outputs);
    graph_.sizes = with_sums(graph_.sizes, graph_.values);
    validate(graph_);
    return std::move(graph_);
  }

  // Their names.
  std::vector<std::string> add(const NamedVariables &outputs) {
    std::vector<Variable> results;
    for (const auto &[name, v] : outputs) results.push_back(v);
    const auto steps = steps_behind(results, [&](const Variable &v) { return known_.count(v.step().get()) == 0; });
    for (const auto &[name, v] : outputs)
      if (v.step() && !wanted_.count({v.step().get(), v.index()}) && reserved_.insert(name).second)
        wanted_[{v.step().get(), v.index()}] = name;
    for (const auto &s : steps) add(*s);
    std::vector<std::string> names;
    for (const auto &[name, v] : outputs) names.push_back(name_of(v));
    return names;
  }

  Graph take() { return std::move(graph_); }

 private:
  void add(const Step &s) {
    if (s.released()) fail("tracing: the tape was freed by backward(); trace the net on a run of its own");
    Graph::Node node = {s.operation().name, s.attributes(), {}, {}};
    for (const Variable &v : s.inputs()) {
      if (!v.defined()) fail("tracing: operation '", s.operation().name, "' has an undefined input");
      node.inputs.push_back(name_of(v));
    }
    if (!s.operation().has_kernels) return write_formulas(s, node.inputs);
    for (size_t i = 0; i < s.output_count(); ++i) {
      const Tensor &t = s.outputs()[i];
      const std::string name = name_for(s, static_cast<int>(i));
      graph_.values[name] = {t.shape(), t.type(), {}};
      made_[{&s, static_cast<int>(i)}] = name;
      node.outputs.push_back(name);
    }
    graph_.nodes.push_back(std::move(node));
  }

  // A formula is written down as it is: whoever reads the graph needs not know the operation.
  void write_formulas(const Step &s, std::vector<std::string> names) {
    std::vector<Tensor> inputs;
    for (const Variable &v : s.inputs()) inputs.push_back(v.value());
    const formula::ExactFormulas all = formulas_of(s.operation(), inputs, s.attributes());
    const size_t begin = graph_.nodes.size();
    const std::vector<std::string> made =
        add_formulas(graph_, all, std::move(names), [&](int output) { return name_for(s, output); });
    for (size_t o = 0; o < made.size(); ++o) made_[{&s, static_cast<int>(o)}] = made[o];
    if (s.attributes().has("element")) return;  // a formula of a graph is no operation of anybody's
    const std::string label = s.operation().name + ":" + std::to_string(++applied_[&s.operation()]);
    for (size_t n = begin; n < graph_.nodes.size(); ++n) graph_.nodes[n].label = label;
  }

  // Of an output that is made now.
  std::string name_for(const Step &s, int output) {
    const auto wanted = wanted_.find({&s, output});
    const std::string name = wanted != wanted_.end() ? wanted->second : fresh(s.operation().name);
    if (graph_.values.count(name)) fail("tracing: the name '", name, "' is taken");
    return name;
  }

  std::string fresh(const std::string &stem) {
    for (int64_t &last = numbers_[stem];;) {
      std::string name = stem + "_" + std::to_string(++last);
      if (!graph_.values.count(name) && !reserved_.count(name)) return name;
    }
  }

  std::string name_of(const Variable &v) {
    if (v.step()) return name_of_output(*v.step(), v.index());
    const auto known = leaves_.find(v.identity());
    if (known != leaves_.end()) return known->second;
    // Buffers are wrapped in a new Variable each time; their memory tells that they are the same.
    const Memory memory = memory_of(v.value());
    const auto same = constants_.find(memory);
    if (same != constants_.end() && graph_.value(same->second).shape == v.shape()) return same->second;
    const auto named = names_.find(memory);
    if (v.value().is_outline()) fail("tracing: a tensor of which only the shape is known comes from nowhere");
    const std::string name =
        named != names_.end() && !graph_.values.count(named->second) ? named->second : fresh("constant");
    graph_.add_constant(name, v.value().clone());
    constants_[memory] = name;
    return leaves_[v.identity()] = name;
  }

  // Of a step that the graph had before, outputs may be read that nobody needed until now.
  std::string name_of_output(const Step &s, int index) {
    const auto known = made_.find({&s, index});
    if (known != made_.end()) return known->second;
    const std::string &first = made_.at({&s, 0});
    if (makers_.empty())
      for (size_t n = 0; n < graph_.nodes.size(); ++n) makers_[graph_.nodes[n].outputs[0]] = n;
    Graph::Node &n = graph_.nodes[makers_.at(first)];
    for (int i = static_cast<int>(n.outputs.size()); i <= index; ++i) {
      const Tensor &t = s.outputs().at(static_cast<size_t>(i));
      n.outputs.push_back(graph_.fresh_name(first + "." + std::to_string(i)));
      graph_.values[n.outputs.back()] = {t.shape(), t.type(), {}};
      made_[{&s, i}] = n.outputs.back();
    }
    return made_.at({&s, index});
  }

  // Tensors that are the same; outlines have no address.
  using Memory = std::pair<const void *, const void *>;
  static Memory memory_of(const Tensor &t) { return {t.raw(), t.memory().get()}; }

  using Output = std::pair<const Step *, int>;

  Graph graph_;
  std::set<const Step *> known_;  // that the graph has already
  std::map<Output, std::string> made_, wanted_;
  std::set<std::string> reserved_;                  // the names of outputs that are steps' own
  std::map<std::string, int64_t> numbers_;          // the last one that a stem was given
  std::map<const Operation *, int64_t> applied_;    // how often operations that are formulas were
  std::unordered_map<std::string, size_t> makers_;  // nodes that the graph had before, by their first outputs
  std::map<const void *, std::string> leaves_;
  std::map<Memory, std::string> names_, constants_;
};

}  // namespace

Graph trace(const NamedVariables &inputs, const NamedVariables &outputs, const std::map<std::string, Tensor> &names,
            const OpenSizes &sizes) {
  return Tracer(names, sizes).run(inputs, outputs);
}

std::vector<std::string> trace_into(Graph &graph, const NamedVariables &known, const NamedVariables &outputs) {
  Tracer tracer(std::move(graph), known);
  std::vector<std::string> names = tracer.add(outputs);
  graph = tracer.take();
  return names;
}

namespace {

Graph traced(Module &net, const Tensor &input, OpenSizes sizes = {}) {
  const EvaluationMode evaluation(net);
  const Recording recording;
  const WithOpenSizes open(sizes);
  const Variable x(input);
  const Variable y = net(x);
  return trace({{"x", x}}, {{"y", y}}, net.state(), sizes);
}

template <typename Number>
Shape shape_of(const Extents &input, const Number &number) {
  Shape shape;
  for (const Extent &e : input) shape.push_back(e.name.empty() ? e.number : number(e.name));
  return shape;
}

// What a line says that another text has not.
std::string first_difference(const std::string &text, const std::string &other) {
  size_t begin = 0;
  for (size_t i = 0; i < text.size() && i < other.size() && text[i] == other[i]; ++i)
    if (text[i] == '\n') begin = i + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

// Numbers in its error are those that stand for sizes.
Graph traced_open(Module &net, const Shape &shape, const OpenSizes &sizes) {
  try {
    return traced(net, Tensor::outline(shape), sizes);
  } catch (const Error &e) {
    std::string which;
    for (const auto &[name, size] : sizes)
      which += (which.empty() ? "" : ", ") + std::to_string(size.number) + " for " + name;
    fail("tracing with open sizes (", which, "): ", e.what());
  }
}

// At small sizes, each another one, of which `least` is the first if the net can be as small; a larger one is as odd.
void expect_same_at(Module &net, const Extents &input, const Graph &open, int64_t least) {
  constexpr int64_t largest = 600;
  Graph::Sizes sizes;
  for (const auto &[name, size] : open.sizes)
    if (size.by == 0) sizes[name] = least + static_cast<int64_t>(sizes.size());
  const Shape shape = shape_of(input, [&](const std::string &name) { return sizes.at(name); });
  Graph small;
  try {
    small = traced(net, Tensor::outline(shape));
  } catch (const Error &) {  // a window may not fit
    if (least > largest) throw;
    return expect_same_at(net, input, open, 2 * least + least % 2);
  }
  const std::string is = to_text(small);
  std::string should_be;
  try {
    should_be = to_text(at_sizes(open, sizes));
  } catch (const Error &e) {
    fail(
        "tracing: the net is not the same for every size, of which some may have been divided (extent_quotient() in "
        "runtime/tensor/open_extents.h does so). At ",
        to_string(shape), ", ", e.what());
  }
  if (is != should_be)
    fail("tracing: the net is not the same for every size. At ", to_string(shape), " it has\n  ",
         first_difference(is, should_be), "\ninstead of\n  ", first_difference(should_be, is));
}

}  // namespace

Graph trace(Module &net, const Extents &input) {
  std::vector<std::string> names;
  for (const Extent &e : input)
    if (!e.name.empty()) names.push_back(e.name);
  const OpenSizes sizes = stand_ins(names);
  const auto stand_in = [&](const std::string &name) { return sizes.at(name).number; };
  if (names.empty()) return traced(net, Tensor::zeros(shape_of(input, stand_in)));
  const Graph open = traced_open(net, shape_of(input, stand_in), sizes);
  for (int64_t least : {2, 5}) expect_same_at(net, input, open, least);
  return open;
}

}  // namespace saltern
