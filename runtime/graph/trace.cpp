#include "runtime/graph/trace.h"

#include <algorithm>
#include <set>

#include "runtime/autograd/formula_operation.h"

namespace saltern {

namespace {

class Tracer {
 public:
  explicit Tracer(const std::map<std::string, Tensor> &names) {
    for (const auto &[name, tensor] : names) names_.emplace(tensor.raw(), name);
  }

  Graph run(const NamedVariables &inputs, const NamedVariables &outputs) {
    for (const auto &[name, v] : inputs) {
      graph_.add_input(name, v.shape(), v.value().type());
      leaves_[v.identity()] = name;
    }
    for (const auto &[name, v] : outputs)
      if (v.step()) collect(v.step());
    // Steps are numbered as they were taken: an order in which they can be taken again.
    std::sort(steps_.begin(), steps_.end(), [](const Step *a, const Step *b) { return a->number() < b->number(); });
    for (const auto &[name, v] : outputs)
      if (v.step() && !wanted_.count({v.step().get(), v.index()}) && reserved_.insert(name).second)
        wanted_[{v.step().get(), v.index()}] = name;
    for (const Step *s : steps_) add(*s);
    for (const auto &[name, v] : outputs) graph_.outputs.push_back(name_of(v));
    validate(graph_);
    return std::move(graph_);
  }

 private:
  // Without recursion: a net may be deeper than the stack.
  void collect(const std::shared_ptr<Step> &last) {
    std::vector<const Step *> open = {last.get()};
    while (!open.empty()) {
      const Step *s = open.back();
      open.pop_back();
      if (!seen_.insert(s).second) continue;
      if (s->released()) fail("tracing: the tape was freed by backward(); trace the net on a run of its own");
      steps_.push_back(s);
      for (const Variable &v : s->inputs())
        if (v.defined() && v.step()) open.push_back(v.step().get());
    }
  }

  void add(const Step &s) {
    Graph::Node node = {s.operation().name, s.attributes(), {}, {}};
    for (const Variable &v : s.inputs()) {
      if (!v.defined()) fail("tracing: operation '", s.operation().name, "' has an undefined input");
      node.inputs.push_back(name_of(v));
    }
    if (s.operation().algorithm) return add_formulas(s, node.inputs);
    for (size_t i = 0; i < s.output_count(); ++i) {
      const Tensor &t = s.outputs()[i];
      const auto known = wanted_.find({&s, static_cast<int>(i)});
      const std::string name = known != wanted_.end() ? known->second : fresh(s.operation().name);
      if (graph_.values.count(name)) fail("tracing: the name '", name, "' is taken");
      graph_.values[name] = {t.shape(), t.type(), {}};
      made_[{&s, static_cast<int>(i)}] = name;
      node.outputs.push_back(name);
    }
    graph_.nodes.push_back(std::move(node));
  }

  // A formula is written down as it is: whoever reads the graph needs not know the operation.
  void add_formulas(const Step &s, std::vector<std::string> names) {
    std::vector<Tensor> inputs;
    for (const Variable &v : s.inputs()) inputs.push_back(v.value());
    const formula::ExactFormulas all = formulas_of(s.operation(), inputs, s.attributes());
    const auto output_of = [&](size_t number) {
      for (size_t o = 0; o < all.outputs.size(); ++o)
        if (static_cast<size_t>(all.outputs[o]) == number) return static_cast<int>(o);
      return -1;
    };
    for (const formula::ExactFormula &f : all.stages) {
      if (f.is_scatter())
        fail("tracing: operation '", s.operation().name, "' adds at places that data says, which graphs cannot yet");
      const int output = output_of(names.size());
      const auto wanted = wanted_.find({&s, output});
      const std::string name = wanted != wanted_.end() ? wanted->second : fresh(s.operation().name);
      if (graph_.values.count(name)) fail("tracing: the name '", name, "' is taken");
      Graph::Node node = {"formula", {{"element", f.element}}, {}, {name}};
      for (int o : f.operands) node.inputs.push_back(names.at(static_cast<size_t>(o)));
      graph_.values[name] = {f.shape, f.type, {}};
      graph_.nodes.push_back(std::move(node));
      names.push_back(name);
    }
    for (size_t o = 0; o < all.outputs.size(); ++o)
      made_[{&s, static_cast<int>(o)}] = names.at(static_cast<size_t>(all.outputs[o]));
  }

  std::string fresh(const std::string &stem) {
    for (int64_t &last = numbers_[stem];;) {
      std::string name = stem + "_" + std::to_string(++last);
      if (!graph_.values.count(name) && !reserved_.count(name)) return name;
    }
  }

  std::string name_of(const Variable &v) {
    if (v.step()) return made_.at({v.step().get(), v.index()});
    const auto known = leaves_.find(v.identity());
    if (known != leaves_.end()) return known->second;
    // Buffers are wrapped in a new Variable each time; their memory tells that they are the same.
    const void *memory = v.value().raw();
    const auto same = constants_.find(memory);
    if (same != constants_.end() && graph_.value(same->second).shape == v.shape()) return same->second;
    const auto named = names_.find(memory);
    const std::string name =
        named != names_.end() && !graph_.values.count(named->second) ? named->second : fresh("constant");
    graph_.add_constant(name, v.value().clone());
    constants_[memory] = name;
    return leaves_[v.identity()] = name;
  }

  using Output = std::pair<const Step *, int>;

  Graph graph_;
  std::set<const Step *> seen_;
  std::vector<const Step *> steps_;
  std::map<Output, std::string> made_, wanted_;
  std::set<std::string> reserved_;          // the names of outputs that are steps' own
  std::map<std::string, int64_t> numbers_;  // the last one that a stem was given
  std::map<const void *, std::string> names_, leaves_, constants_;
};

}  // namespace

Graph trace(const NamedVariables &inputs, const NamedVariables &outputs, const std::map<std::string, Tensor> &names) {
  return Tracer(names).run(inputs, outputs);
}

Graph trace(Module &net, const Shape &input) {
  const EvaluationMode evaluation(net);
  const Recording recording;
  const Variable x(Tensor::zeros(input));
  const Variable y = net(x);
  return trace({{"x", x}}, {{"y", y}}, net.state());
}

}  // namespace saltern
