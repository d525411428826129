#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <unordered_map>

#include "generators/model/emit.h"
#include "generators/model/passes/inlining.h"
#include "generators/model/passes/passes.h"

namespace saltern::generators {

namespace {

using formula::Expression;
using Kind = Expression::Kind;

// Rows that are longer leave the cache before they are used again, and a few of them would keep few threads busy.
constexpr int64_t longest_row = 1 << 16, least_rows = 8;
// What is smaller is one task anyhow (schedules/by_structure.h).
constexpr int64_t one_task = 16384;

// The axes that an expression depends on; nothing where it depends on steps of a reduction around it, too.
std::optional<std::set<int>> axes_alone(const Expression &e) {
  std::set<int> axes, own, steps;
  formula::for_each_node(e, [&](const Expression::Node &n) {
    for (const formula::ReductionStep &s : n.steps) own.insert(s.id);
    if (n.kind == Kind::axis) axes.insert(n.number);
    if (n.kind == Kind::step) steps.insert(n.number);
  });
  return std::includes(own.begin(), own.end(), steps.begin(), steps.end()) ? std::optional(axes) : std::nullopt;
}

// The axes that all reductions of a formula depend on, where these are the same and no reduction is inside another one's
// steps: then one walk over those axes computes all of them.
std::optional<std::set<int>> shared_axes(const Expression &element) {
  std::optional<std::set<int>> shared;
  bool alike = true;
  formula::for_each_node(element, [&](const Expression::Node &n) {
    if (n.kind != Kind::reduce) return;
    const auto axes = axes_alone(formula::interned(n));
    if (!shared) shared = axes;
    alike &= axes && *shared == *axes;
  });
  return alike ? shared : std::nullopt;
}

// What is divided by a root that elements share is multiplied by its inverse, which is taken once for all of them. The
// inverse of a root is never too great a number.
Expression with_inverse_roots(const Expression &element, const std::set<int> &shared) {
  return formula::transformed(element, [&](const Expression &at) -> Expression {
    if (at->kind != Kind::call || at->function != formula::Function::divide || !is_real(at.type())) return {};
    const Expression &divided = at->arguments[0], &by = at->arguments[1];
    if (by->kind != Kind::call || by->function != formula::Function::sqrt || axes_alone(by) != shared) return {};
    return divided->kind == Kind::constant ? Expression() : divided * (1.0 / by);
  });
}

int64_t longest_reduction(const Expression &element) {
  int64_t longest = 0;
  formula::for_each_node(element, [&](const Expression::Node &n) {
    int64_t steps = n.kind == Kind::reduce ? 1 : 0;
    for (const formula::ReductionStep &s : n.steps) steps *= s.extent;
    longest = std::max(longest, steps);
  });
  return longest;
}

class Fusing {
 public:
  explicit Fusing(Graph &graph) : graph_(graph) {
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      for (const std::string &o : graph.nodes[n].outputs) makers_[o] = n;
      for (const std::string &i : graph.nodes[n].inputs) readers_[i].insert(n);
    }
  }

  void run() {
    // The last reader of a chain takes all of it.
    for (size_t n = graph_.nodes.size(); n-- > 0;)
      if (graph_.nodes[n].operation == "formula" && !is_followed(n)) fuse(n);
    graph_.nodes.erase(std::remove_if(graph_.nodes.begin(), graph_.nodes.end(),
                                      [](const Graph::Node &n) { return n.outputs.empty(); }),
                       graph_.nodes.end());
    graph_.remove_unused();
  }

 private:
  // Whether an elementwise operation ends its kernel, which cannot follow a reduction.
  bool is_followed(size_t n) const {
    const std::string &made = graph_.nodes[n].outputs[0];
    const auto readers = readers_.find(made);
    if (!is_elementwise(graph_, graph_.nodes[n]) || readers == readers_.end() || readers->second.size() != 1)
      return false;
    const Graph::Node &reader = graph_.nodes[*readers->second.begin()];
    return is_elementwise(graph_, reader) && graph_.value(reader.outputs[0]).shape == graph_.value(made).shape;
  }

  bool reduces(const std::string &value) const {
    const auto maker = makers_.find(value);
    return maker != makers_.end() && graph_.nodes[maker->second].operation == "formula" &&
           longest_reduction(graph_.nodes[maker->second].attributes.expression("element")) > 0;
  }
  // A reduction, or what is computed of one and has as few elements: a deviation, of a variance.
  bool is_statistic(const Graph::Node &n) const {
    return reduces(n.outputs[0]) || std::any_of(n.inputs.begin(), n.inputs.end(), [&](const std::string &i) {
             return reduces(i) && elements(graph_.value(i).shape) == elements(graph_.value(n.outputs[0]).shape);
           });
  }

  // Elements less their mean, say: cheap enough to be computed by each of its readers.
  bool is_repeated(const Graph::Node &n) const {
    return is_elementwise(graph_, n) && !cost_of(n.attributes.expression("element")).dear &&
           std::any_of(n.inputs.begin(), n.inputs.end(), [&](const std::string &i) { return reduces(i); });
  }

  // Formulas whose values are read by `last` and by each other only, the latest first.
  std::vector<size_t> chain_before(size_t last) const {
    std::set<size_t, std::greater<>> chain, waiting = {last};
    while (!waiting.empty()) {
      const size_t reader = *waiting.begin();
      waiting.erase(waiting.begin());
      for (const std::string &input : graph_.nodes[reader].inputs) {
        const auto maker = makers_.find(input);
        if (maker == makers_.end() || chain.count(maker->second)) continue;
        const Graph::Node &made = graph_.nodes[maker->second];
        if (made.operation != "formula" || graph_.is_output(input) || !is_exact(graph_.value(input).type)) continue;
        if (!is_statistic(made) && !is_repeated(made)) continue;
        const std::set<size_t> &readers = readers_.at(input);
        if (std::all_of(readers.begin(), readers.end(), [&](size_t r) { return r == last || chain.count(r); })) {
          chain.insert(maker->second);
          waiting.insert(maker->second);
        }
      }
    }
    return {chain.begin(), chain.end()};
  }

  void fuse(size_t last) {
    const std::vector<size_t> chain = chain_before(last);
    if (chain.empty()) return;
    Graph::Node fused = graph_.nodes[last];
    int64_t fewest = std::numeric_limits<int64_t>::max();  // elements of a reduction
    for (size_t maker : chain) {
      const std::string &value = graph_.nodes[maker].outputs[0];
      if (reduces(value)) fewest = std::min(fewest, elements(graph_.value(value).shape));
      const Expression reading = fused.attributes.expression("element");
      const Graph::Node &made = graph_.nodes[maker];
      if (!is_small_together(cost_of(made.attributes.expression("element")), made.inputs.size(), cost_of(reading),
                             fused.inputs.size()))
        return;
      const std::vector<std::string> read = std::move(fused.inputs);
      fused.inputs.clear();
      fused.attributes = {{"element", inlined(reading, read, made, fused.inputs)}};
    }
    const Expression element = fused.attributes.expression("element");
    const auto axes = shared_axes(element);
    if (!axes || axes->empty() || !is_worth_it(element, *axes, graph_.value(fused.outputs[0]).shape, fewest)) return;
    fused.attributes.set("element", with_inverse_roots(element, *axes));
    graph_.nodes[last] = std::move(fused);
    for (size_t maker : chain) graph_.nodes[maker] = {};
  }

  // Where there are more rows than reductions, some would be computed again and again: those of a convolution, by a pool's
  // gradient, once for each element of a window.
  static bool is_worth_it(const Expression &element, const std::set<int> &axes, const Shape &shape, int64_t fewest) {
    int64_t rows = 1;
    for (int a : axes) rows *= shape[static_cast<size_t>(a)];
    if (rows > fewest) return false;
    const int64_t row = std::max(longest_reduction(element), elements(shape) / std::max<int64_t>(rows, 1));
    return row <= longest_row && (rows >= least_rows || rows * row <= one_task);
  }

  Graph &graph_;
  std::unordered_map<std::string, size_t> makers_;
  std::unordered_map<std::string, std::set<size_t>> readers_;
};

}  // namespace

Graph with_fused_statistics(Graph graph) {
  Fusing(graph).run();
  return graph;
}

}  // namespace saltern::generators
