#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "dsl/exact_formulas.h"
#include "generators/model/emit.h"
#include "generators/model/passes/passes.h"

namespace saltern::generators {

namespace {

using formula::Expression;
using formula::Function;
using Kind = Expression::Kind;

// x, or x less its mean over a row, divided by a row's deviation; a row is all dimensions from `axis` on.
struct Core {
  std::string x;
  size_t axis;
  double epsilon;
  bool less_mean;
};

// What the exporters of other frameworks write for a norm: ReduceMean, Sub, Pow or Mul, ReduceMean, Add, Sqrt, Div or
// Reciprocal and Mul. Each is one formula here.
class Recognition {
 public:
  explicit Recognition(Graph &graph) : graph_(graph) {
    for (size_t n = 0; n < graph.nodes.size(); ++n)
      for (const std::string &o : graph.nodes[n].outputs) makers_[o] = n;
    for (const Graph::Node &n : graph.nodes)
      for (const std::string &i : n.inputs) {
        Readers &all = readers_[i];
        if (all.last != &n) ++all.count;
        all.last = &n;
      }
    outputs_.insert(graph.outputs.begin(), graph.outputs.end());
  }

  void run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n)
      if (const auto core = core_of(graph_.nodes[n].outputs[0])) replace(graph_.nodes[n].outputs[0], *core);
    graph_.remove_unused();
  }

 private:
  using Operands = std::pair<std::string, std::string>;
  struct Readers {
    const Graph::Node *last = nullptr;
    size_t count = 0;  // of nodes, however often each reads it
  };

  const Graph::Node *maker(const std::string &value) const {
    const auto it = makers_.find(value);
    return it == makers_.end() ? nullptr : &graph_.nodes[it->second];
  }

  // The formula that makes a value element by element out of f32; undefined where there is none.
  Expression element(const std::string &value) const {
    const Graph::Node *n = maker(value);
    if (!n || n->operation != "formula" || graph_.value(value).type != Type::f32 || !is_elementwise(graph_, *n))
      return {};
    return n->attributes.expression("element");
  }

  // The operand that an argument of a formula loads.
  std::string loaded(const std::string &value, const Expression &e) const {
    return e->kind == Kind::load ? maker(value)->inputs.at(static_cast<size_t>(e->number)) : "";
  }

  std::optional<Operands> call_of(const std::string &value, Function f) const {
    const Expression e = element(value);
    if (!e.defined() || e->kind != Kind::call || e->function != f || e->arguments.size() != 2) return std::nullopt;
    const Operands operands = {loaded(value, e->arguments[0]), loaded(value, e->arguments[1])};
    if (operands.first.empty() || operands.second.empty()) return std::nullopt;
    return operands;
  }

  // The only element of a constant.
  std::optional<double> number(const std::string &value) const {
    const Tensor &t = graph_.value(value).constant;
    if (!t.defined() || t.size() != 1 || t.type() != Type::f32) return std::nullopt;
    return t.item();
  }

  // v, where value = v^exponent.
  std::string base_of(const std::string &value, double exponent) const {
    const auto power = call_of(value, Function::power);
    return power && number(power->second) == exponent ? power->first : "";
  }

  std::string under_root(const std::string &value) const {
    const Expression e = element(value);
    if (e.defined() && e->kind == Kind::call && e->function == Function::sqrt) return loaded(value, e->arguments[0]);
    return base_of(value, 0.5);
  }

  // v, where value = 1 / sqrt(v).
  std::string under_inverse_root(const std::string &value) const {
    const Expression e = element(value);
    if (e.defined() && e->kind == Kind::call && e->function == Function::divide) {
      const Expression &one = e->arguments[0];
      const std::string divided = loaded(value, one), by = loaded(value, e->arguments[1]);
      const bool is_one = divided.empty() ? one->kind == Kind::constant && one->real == 1 : number(divided) == 1.0;
      return is_one && !by.empty() && has_readers(by, 1) ? under_root(by) : "";
    }
    return base_of(value, -0.5);
  }

  // x, where value is the mean of x over all dimensions from `axis` on, which keep an extent of 1.
  std::string mean_of(const std::string &value, size_t &axis) const {
    const Graph::Node *n = maker(value);
    if (!n || n->operation != "formula" || n->inputs.size() != 1) return "";
    const Graph::Value &x = graph_.value(n->inputs[0]), &y = graph_.value(value);
    if (x.type != Type::f32 || x.shape.size() != y.shape.size() || x.shape.empty()) return "";
    const formula::Value in = formula::input("x", {x.shape.begin(), x.shape.end()});
    const std::string given = to_string(n->attributes.expression("element"));
    std::vector<int> row;
    for (axis = x.shape.size(); axis-- > 0;) {
      row.push_back(static_cast<int>(axis));
      const formula::ExactFormulas mean =
          exact_formulas({in}, {formula::mean(in, row)}, {}, formula::Cut::where_needed);
      if (mean.stages.at(0).shape == y.shape && to_string(mean.stages[0].element) == given) return n->inputs[0];
    }
    return "";
  }

  bool has_readers(const std::string &value, size_t count) const {
    const auto it = readers_.find(value);
    return it != readers_.end() && it->second.count == count && outputs_.count(value) == 0;
  }

  // x, where value is x squared.
  std::string squared(const std::string &value) const {
    if (const auto product = call_of(value, Function::multiply))
      return product->first == product->second ? product->first : "";
    return base_of(value, 2);
  }

  // `divided` over the square root of `variance` with a number added.
  std::optional<Core> norm_of(const std::string &divided, const std::string &shifted) const {
    const auto sum = shifted.empty() ? std::nullopt : call_of(shifted, Function::add);
    if (!sum || !has_readers(shifted, 1)) return std::nullopt;
    const bool number_first = number(sum->first).has_value();
    const std::optional<double> epsilon = number(number_first ? sum->first : sum->second);
    const std::string variance = number_first ? sum->second : sum->first;
    size_t axis = 0;
    const std::string squares = mean_of(variance, axis);
    if (!epsilon || squares.empty() || squared(squares) != divided || !has_readers(variance, 1) ||
        !has_readers(squares, 1))
      return std::nullopt;
    if (const auto difference = call_of(divided, Function::subtract)) {
      size_t same_axis = 0;
      if (has_readers(divided, 2) && has_readers(difference->second, 1) &&
          mean_of(difference->second, same_axis) == difference->first && same_axis == axis)
        return Core{difference->first, axis, *epsilon, true};
    }
    return Core{divided, axis, *epsilon, false};
  }

  std::optional<Core> core_of(const std::string &value) const {
    if (const auto quotient = call_of(value, Function::divide)) {
      if (!has_readers(quotient->second, 1)) return std::nullopt;
      return norm_of(quotient->first, under_root(quotient->second));
    }
    if (const auto product = call_of(value, Function::multiply))
      for (const auto &[x, inverse] : {*product, Operands{product->second, product->first}})
        if (const auto core = has_readers(inverse, 1) ? norm_of(x, under_inverse_root(inverse)) : std::nullopt)
          return core;
    return std::nullopt;
  }

  // A constant for each element of a row that `value`'s only reader combines it with; `value` becomes that reader's.
  Tensor parameter(std::string &value, Function f, const Shape &row) const {
    if (!has_readers(value, 1)) return {};
    const std::string after = readers_.at(value).last->outputs[0];
    const auto combined = call_of(after, f);
    if (!combined || (combined->first != value) == (combined->second != value)) return {};
    const Tensor &t = graph_.value(combined->first == value ? combined->second : combined->first).constant;
    if (!t.defined() || t.type() != Type::f32) return {};
    Shape shape = t.shape();
    while (shape.size() > row.size() && shape[0] == 1) shape.erase(shape.begin());
    if (shape != row) return {};
    value = after;
    return t.in_layout(Layout::row_major).reshaped(row);
  }

  // The node that makes the norm, or what is scaled and shifted after it, becomes the norm.
  void replace(std::string y, const Core &core) {
    const Shape &x = graph_.value(core.x).shape;
    const Shape row(x.begin() + static_cast<std::ptrdiff_t>(core.axis), x.end());
    Tensor scale = parameter(y, Function::multiply, row);
    Tensor shift = core.less_mean ? parameter(y, Function::add, row) : Tensor();
    std::vector<std::string> inputs = {core.x};
    const auto add = [&](const Tensor &given, double otherwise, const char *name) {
      inputs.push_back(graph_.fresh_name(y + name));
      graph_.add_constant(inputs.back(), given.defined() ? given : Tensor::full(row, otherwise));
    };
    add(scale, 1, ".scale");
    if (core.less_mean) add(shift, 0, ".shift");
    Graph::Node &last = graph_.nodes[makers_.at(y)];
    last = {core.less_mean ? "layer_norm" : "rms_norm",
            {{"axis", static_cast<int64_t>(core.axis)}, {"epsilon", core.epsilon}},
            inputs,
            {y}};
  }

  Graph &graph_;
  std::unordered_map<std::string, size_t> makers_;
  std::unordered_map<std::string, Readers> readers_;
  std::unordered_set<std::string> outputs_;
};

}  // namespace

Graph with_recognised_norms(Graph graph) {
  Recognition(graph).run();
  return graph;
}

}  // namespace saltern::generators
