// Formulas in operators of ONNX, which compute with whole tensors where a formula has one element.
//
// Every value is a tensor with a dimension for each axis of the result and, behind them, for each step of the reductions
// that are open at once: its extent there, or 1 where it does not depend on that index. Broadcasting does the rest.

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "dsl/index_bounds.h"
#include "runtime/onnx/export_einsum.h"
#include "runtime/onnx/net_export.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/onnx_types.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using formula::Expression;
using formula::Function;
using Kind = Expression::Kind;

// Beside what is one operator for every type (operator_of).
struct FunctionRow {
  Function function;
  const char *name, *of_booleans = nullptr;  // null: the same
};
constexpr FunctionRow function_rows[] = {
    {Function::stopped, "Identity"},        {Function::sum, "ReduceSum"},
    {Function::product, "ReduceProd"},      {Function::greatest, "ReduceMax"},
    {Function::least, "ReduceMin"},         {Function::first_greatest, "ArgMax"},
    {Function::first_least, "ArgMin"},      {Function::last_greatest, "ArgMax"},
    {Function::last_least, "ArgMin"},       {Function::invert, "BitwiseNot", "Not"},
    {Function::both, "BitwiseAnd", "And"},  {Function::either, "BitwiseOr", "Or"},
    {Function::differ, "BitwiseXor", "Xor"}};

// The operator of the same meaning, for operands of a type; throws Unsupported where there is none.
const char *operator_named(const Graph::Node &node, Function f, Type type) {
  for (const FunctionRow &r : function_rows)
    if (r.function == f) return type == Type::boolean && r.of_booleans ? r.of_booleans : r.name;
  if (const char *found = operator_of(f)) return found;
  unsupported(describe(node), ": ONNX has no operator for ", formula::name(f));
}

// How many steps of reductions are open at once.
size_t depth_of(const Expression &e) {
  std::unordered_map<const Expression::Node *, size_t> known;
  const std::function<size_t(const Expression &)> depth = [&](const Expression &at) {
    if (const auto it = known.find(at.get()); it != known.end()) return it->second;
    size_t most = 0;
    for (const Expression &a : at->arguments) most = std::max(most, depth(a));
    return known[at.get()] = most + at->steps.size();
  };
  return depth(e);
}

class FormulaExport {
 public:
  FormulaExport(NetExport &to, const Graph::Node &node)
      : to_(to),
        node_(node),
        element_(node.attributes.expression("element")),
        shape_(to.value(node.outputs.at(0)).shape),
        rank_(shape_.size() + depth_of(element_)),
        bounds_(shape_) {}

  void run() {
    // What broadcasting has left at 1 is repeated, and the dimensions of steps go.
    Shape whole = shape_;
    whole.resize(rank_, 1);
    const std::string all = made("Expand", {value(element_), integers(whole)});
    to_.add("Reshape", {all, to_.shape(stem(), shape_)}, node_.outputs);
  }

 private:
  std::string stem() const { return node_.outputs[0] + ".formula"; }
  std::string integers(const Shape &all) { return to_.integers(stem(), all); }
  std::string made(const char *op, std::vector<std::string> from, Attributes attributes = {}) {
    const std::string name = to_.temporary(stem());
    to_.add(op, std::move(from), {name}, std::move(attributes));
    return name;
  }

  std::string value(const Expression &e) {
    const auto known = values_.find(e.get());
    if (known != values_.end()) return known->second;
    std::string made = new_value(e);
    return values_[e.get()] = std::move(made);
  }

  std::string new_value(const Expression &e) {
    const Expression::Node &n = *e.get();
    switch (n.kind) {
      case Kind::constant:
        return constant(n);
      case Kind::axis:
      case Kind::step:
        return numbers(place_of(n), extent_of(n));
      case Kind::load:
        return load(n);
      case Kind::call:
        return call(n);
      case Kind::select:
        return made("Where", {value(n.arguments[0]), value(n.arguments[1]), value(n.arguments[2])});
      case Kind::cast:
        return made("Cast", {value(n.arguments[0])}, {{"to", int64_t{onnx_type(n.type)}}});
      case Kind::reduce:
        return reduced(n);
      case Kind::carried:
        unsupported(describe(node_), ": it carries something and is no scan");
      case Kind::symbol:
        unsupported(describe(node_), ": the size '", n.name, "' is open");
      case Kind::bits:
        unsupported(describe(node_), ": ONNX has no operator for the bits of a value");
    }
    return {};
  }

  // Integers by their 64 bits: not all of them are numbers that a double holds.
  std::string constant(const Expression::Node &n) {
    if (is_real(n.type)) return to_.constant(stem(), Tensor::full({}, n.real, n.type));
    const std::string wide = to_.integer(stem(), n.integer);
    return n.type == Type::i64 ? wide : made("Cast", {wide}, {{"to", int64_t{onnx_type(n.type)}}});
  }

  // ---- Indices.

  size_t place_of(const Expression::Node &index) const {
    return index.kind == Kind::axis ? static_cast<size_t>(index.number) : places_.at(index.number);
  }
  int64_t extent_of(const Expression::Node &index) const {
    return index.kind == Kind::axis ? shape_.at(static_cast<size_t>(index.number)) : index.integer;
  }
  // 0, 1, ... along a dimension.
  std::string numbers(size_t place, int64_t extent) {
    Shape shape(rank_, 1);
    shape.at(place) = extent;
    if (to_.is_open(extent)) {
      const auto end = to_.integer(stem(), extent), zero = to_.integer(stem(), 0), one = to_.integer(stem(), 1);
      return made("Reshape", {made("Range", {zero, end, one}), to_.shape(stem(), shape)});
    }
    return to_.constant(stem(), Tensor::of<int64_t>(shape, numbers_below(static_cast<size_t>(extent))));
  }

  // The dimensions at which a load reads all of its operand, each at an index of its own, or rank_ where there is but one
  // element to read; nothing where it reads otherwise.
  std::optional<std::vector<size_t>> places_in(const Expression::Node &load) const {
    const Shape &shape = to_.value(node_.inputs.at(static_cast<size_t>(load.number))).shape;
    std::vector<size_t> places;
    for (size_t d = 0; d < shape.size(); ++d) {
      const Expression::Node &index = *load.arguments[d].get();
      if (index.kind == Kind::constant && index.integer == 0 && shape[d] == 1) {
        places.push_back(rank_);
        continue;
      }
      if ((index.kind != Kind::axis && index.kind != Kind::step) || extent_of(index) != shape[d]) return std::nullopt;
      if (std::count(places.begin(), places.end(), place_of(index)) > 0) return std::nullopt;
      places.push_back(place_of(index));
    }
    return places;
  }

  std::string load(const Expression::Node &n) {
    const std::string &operand = node_.inputs.at(static_cast<size_t>(n.number));
    const Shape &from = to_.value(operand).shape;
    if (from.empty()) return operand;
    const auto places = places_in(n);
    if (!places) return gathered(operand, from, n);
    std::vector<int64_t> order = numbers_below(from.size());
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return (*places)[static_cast<size_t>(a)] < (*places)[static_cast<size_t>(b)];
    });
    Shape shape(rank_, 1);
    for (size_t d = 0; d < from.size(); ++d)
      if ((*places)[d] < rank_) shape[(*places)[d]] = from[d];
    const bool stays = std::is_sorted(order.begin(), order.end());
    if (stays && shape == from) return operand;
    return made("Reshape",
                {stays ? operand : made("Transpose", {operand}, {{"perm", order}}), to_.shape(stem(), shape)});
  }

  // One element of the operand for each place, wherever that is. What lies outside is the nearest one inside.
  std::string gathered(const std::string &operand, const Shape &from, const Expression::Node &n) {
    std::vector<std::string> columns;
    Shape whole(rank_, 1);
    for (const Expression &index : n.arguments)
      formula::for_each_node(index, [&](const Expression::Node &i) {
        if (i.kind == Kind::axis || i.kind == Kind::step) whole[place_of(i)] = extent_of(i);
      });
    const std::string last = integers({static_cast<int64_t>(rank_)}), all = integers(whole);
    for (size_t d = 0; d < from.size(); ++d) {
      std::string at = value(n.arguments[d]);
      const formula::Interval bounds = bounds_.of(n.arguments[d]);
      if (bounds.least < 0) at = made("Max", {at, to_.integer(stem(), 0)});
      if (bounds.greatest >= from[d] || to_.is_open(from[d])) at = made("Min", {at, to_.integer(stem(), from[d] - 1)});
      columns.push_back(made("Unsqueeze", {made("Expand", {at, all}), last}));
    }
    const std::string indices =
        columns.size() == 1 ? columns[0] : made("Concat", columns, {{"axis", static_cast<int64_t>(rank_)}});
    return made("GatherND", {operand, indices});
  }

  // ---- Functions.

  std::string call(const Expression::Node &n) {
    std::vector<std::string> from;
    for (const Expression &a : n.arguments) from.push_back(value(a));
    const Type type = n.arguments[0].type();
    switch (n.function) {
      case Function::remainder:
        return made("Mod", from, {{"fmod", int64_t{1}}});
      case Function::modulo:
        if (!is_real(type)) return made("Mod", from);
        return floor_modulo(type, from);
      case Function::quotient:
        return made("Div", {made("Sub", {from[0], made("Mod", from)}), from[1]});
      case Function::shift_left:
      case Function::shift_right:
        if (facts(type).kind != TypeFacts::Kind::natural) break;  // others are no operands of it
        return made("BitShift", from,
                    {{"direction", std::string(n.function == Function::shift_left ? "LEFT" : "RIGHT")}});
      case Function::truncate:
        return is_real(type) ? made("Mul", {made("Sign", from), made("Floor", {made("Abs", from)})}) : from[0];
      case Function::floor:
      case Function::ceiling:
      case Function::round:
        if (!is_real(type)) return from[0];
        break;
      default:
        break;
    }
    return made(operator_named(node_, n.function, type), from);
  }

  // The remainder, which has the dividend's sign, or that and the divisor. A quotient would be rounded, or overflow.
  std::string floor_modulo(Type type, const std::vector<std::string> &from) {
    const std::string zero = to_.constant(stem(), Tensor::full({}, 0, type));
    const std::string rest = made("Mod", from, {{"fmod", int64_t{1}}});
    const std::string differs = made("Xor", {made("Less", {rest, zero}), made("Less", {from[1], zero})});
    const std::string moves = made("And", {differs, made("Not", {made("Equal", {rest, zero})})});
    return made("Where", {moves, made("Add", {rest, from[1]}), rest});
  }

  // ---- Reductions.

  std::string reduced(const Expression::Node &n) {
    const size_t before = open_;
    std::vector<int64_t> axes;
    Shape whole(rank_, 1);
    for (const formula::ReductionStep &s : n.steps) {
      if (s.extent < 0) unsupported(describe(node_), ": a reduction over an open size");
      const size_t here = shape_.size() + open_++;
      const auto [known, is_new] = places_.emplace(s.id, here);
      if (!is_new && known->second != here) values_.clear();  // of the same steps in another reduction, elsewhere
      known->second = here;
      axes.push_back(static_cast<int64_t>(here));
      whole[here] = s.extent;
    }
    std::string result = n.function == Function::sum ? product_of_loads(n) : "";
    if (result.empty()) {
      // Also over steps that the body does not depend on.
      const std::string body = made("Expand", {value(n.arguments[0]), integers(whole)});
      result = formula::finds_a_place(n.function) ? place(n, body, axes) : over(axes, n, body);
    }
    open_ = before;
    return result;
  }

  // Few runtimes add natural numbers, which are whole numbers of more bits, and what is left of these.
  std::string over(const std::vector<int64_t> &axes, const Expression::Node &n, const std::string &body) {
    const auto cast = [&](const std::string &x, Type type) {
      return made("Cast", {x}, {{"to", int64_t{onnx_type(type)}}});
    };
    const bool is_natural = facts(n.type).kind == TypeFacts::Kind::natural && facts(n.type).bits < 64;
    const std::string all =
        made(operator_named(node_, n.function, n.type), {is_natural ? cast(body, Type::i64) : body, integers(axes)},
             {{"keepdims", int64_t{1}}});
    return is_natural ? cast(all, n.type) : all;
  }

  // The number of a step, counted with the last one fastest: the dimensions of all steps, which lie together and are
  // the last that are open, are one.
  std::string place(const Expression::Node &n, std::string body, const std::vector<int64_t> &axes) {
    if (axes.size() > 1) {
      Shape merged(rank_, 1);
      std::fill_n(merged.begin(), axes[0], 0);  // as it is
      for (const formula::ReductionStep &s : n.steps) merged[static_cast<size_t>(axes[0])] *= s.extent;
      body = made("Reshape", {body, integers(merged)});
    }
    const bool last = n.function == Function::last_greatest || n.function == Function::last_least;
    return made(operator_named(node_, n.function, n.type), {body},
                {{"axis", axes.at(0)}, {"keepdims", int64_t{1}}, {"select_last_index", int64_t{last}}});
  }

  // An Einsum, which needs no tensor of all products. Empty where it is none.
  std::string product_of_loads(const Expression::Node &n) {
    std::vector<size_t> own;
    std::map<size_t, int64_t> extents;  // of dimensions
    for (const formula::ReductionStep &s : n.steps) {
      own.push_back(places_.at(s.id));
      extents[own.back()] = s.extent;
    }
    for (size_t p = 0; p < shape_.size(); ++p) extents[p] = shape_[p];
    const auto product = einsum_of(
        n.arguments[0], own, shape_.size(), [&](const Expression::Node &load) { return places_in(load); },
        [&](const Expression::Node &index) { return place_of(index); });
    if (!product) return "";
    std::vector<std::string> operands;
    for (const EinsumFactor &f : product->factors) {
      if (f.is_whole) {
        operands.push_back(node_.inputs.at(static_cast<size_t>(f.element->number)));
        continue;
      }
      Shape shape;
      for (size_t p : f.places) shape.push_back(extents.at(p));
      operands.push_back(made("Reshape", {value(f.element), to_.shape(stem(), shape)}));
    }
    Shape shape(rank_, 1);
    for (size_t p : product->kept) shape[p] = shape_[p];
    return made("Reshape", {made("Einsum", operands, {{"equation", product->equation}}), to_.shape(stem(), shape)});
  }

  NetExport &to_;
  const Graph::Node &node_;
  const Expression element_;
  const Shape shape_;
  const size_t rank_;
  formula::IndexBounds bounds_;
  size_t open_ = 0;                         // steps
  std::unordered_map<int, size_t> places_;  // of steps, by id
  std::unordered_map<const Expression::Node *, std::string> values_;
};

}  // namespace

void export_formula(NetExport &to, const Graph::Node &node) { FormulaExport(to, node).run(); }

}  // namespace saltern
