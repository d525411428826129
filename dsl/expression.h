#pragma once
// Formulas as data: how one element of a tensor comes from elements of others.
//
//   y(a0, a1) = max(x0[a0, a1] * 2, x1[a1])           an axis a is an index into the result, x an operand
//   y(a0)     = sum{s0 < 7}(x0[a0, s0])               a step s is an index that a reduction runs over
//
// An importer writes operators down in this form once; from it come the interpreter's result (runtime/formula), the
// compiled kernel (generators/model) and the fusion of several formulas into one. Nothing here needs Halide. Tensors that
// are formulas of each other are Values (value.h), whose loads name them instead of an operand's number.
//
// Nodes are interned: equal expressions are one node, which is_same() compares. Index arithmetic is kept in one form,
// a polynomial of axes, steps and sizes (polynomial.h), so that h + pad - pad is h.
//
// Indices are i64, in the order that users know (outermost first). An index outside its operand reads some element of
// it, whatever which: a formula may look past an edge as long as a select() drops what it saw. Elements of f16 and bf16
// are computed in f32 and rounded by a cast and at the end; integers wrap; the types that are stored only
// (types.h) can be loaded and cast, nothing else.

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "dsl/types.h"

namespace saltern::formula {

enum class Function : uint8_t {
  // Of one operand.
  negate,
  absolute,
  exp,
  log,
  sqrt,
  sine,
  cosine,
  tangent,
  arcsine,
  arccosine,
  arctangent,
  sinh,
  cosh,
  tanh,
  arcsinh,
  arccosh,
  arctanh,
  erf,
  floor,
  ceiling,
  round,
  truncate,
  invert,
  is_nan,
  is_infinite,
  stopped,  // the operand, whose gradient is not taken
  // Of two. Division of integers truncates, remainder has the sign of the dividend, modulo that of the divisor; a
  // quotient is of indices and rounded down, so that quotient(a, b) * b + modulo(a, b) is a. A NaN
  // is the maximum and the minimum of anything and it. `round` goes to even. `invert`, `both`, `either` and `differ`
  // are logical on booleans, bitwise on integers.
  add,
  subtract,
  multiply,
  divide,
  remainder,
  modulo,
  quotient,
  power,
  maximum,
  minimum,
  less,
  less_equal,
  equal,
  both,
  either,
  differ,
  shift_left,
  shift_right,
  // Of all steps. Those that find a place give the number of its step, counted with the last step fastest.
  sum,
  product,
  greatest,
  least,
  first_greatest,
  last_greatest,
  first_least,
  last_least
};

const std::string &name(Function f);
// How many operands it has; 0 for a reduction.
int operand_count(Function f);

struct Stage;

class Expression {
 public:
  enum class Kind : uint8_t { constant, axis, step, symbol, carried, load, call, select, cast, bits, reduce };
  struct Node;

  Expression() = default;
  explicit Expression(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  Expression(int index);      // NOLINT: numbers read as indices and extents
  Expression(int64_t index);  // NOLINT

  bool defined() const { return node_ != nullptr; }
  const Node *operator->() const { return node_.get(); }
  const Node *get() const { return node_.get(); }
  Type type() const;

 private:
  std::shared_ptr<const Node> node_;
};

struct ReductionStep {
  int id;
  int64_t extent;        // -1: known at run time only,
  Expression open = {};  // as this says
};

struct Expression::Node {
  Kind kind;
  Type type;
  Function function = Function::negate;     // of call and reduce
  int number = 0;                           // of axis and operand; the id of a step
  double real = 0;                          // a constant of a real type; the typical value of a symbol
  int64_t integer = 0;                      // or of another one; the extent of a step; the least value of a symbol
  std::vector<Expression> arguments;        // indices of a load; select: condition, then, otherwise; reduce: the body;
                                            // a step whose extent is open: the extent
  std::vector<ReductionStep> steps;         // of reduce
  std::string name = {};                    // of a symbol
  std::shared_ptr<const Stage> stage = {};  // what a load reads, where that is a Value
  // Known of every node that was interned.
  size_t hash = 0;        // the same in every process
  bool is_index = false;  // an i64 made of axes, steps, symbols and constants alone
};

inline Type Expression::type() const { return node_->type; }

// The one node that says this, as it is.
Expression interned(Expression::Node node);
inline bool is_same(const Expression &a, const Expression &b) { return a.get() == b.get(); }
// An order of expressions that their structure alone decides.
bool stands_before(const Expression &a, const Expression &b);
struct ByStructure {
  bool operator()(const Expression &a, const Expression &b) const { return stands_before(a, b); }
};

// ---- Leaves.
Expression constant(Type type, double value);
Expression constant_integer(Type type, int64_t value);
Expression truth(bool value);
Expression axis(int number);
Expression load(int operand, Type type, std::vector<Expression> indices);
Expression load(const std::shared_ptr<const Stage> &stage, std::vector<Expression> indices);
// A number that is known at run time only. `typical` decides between forms that are equally right, nothing else.
Expression symbol(const std::string &name, Type type, int64_t least, double typical);
inline Expression size(const std::string &name, double typical = 256) { return symbol(name, Type::i64, 1, typical); }
// In a scan (value.h): the element before.
Expression carried(Type type);
// A step that no other expression has.
Expression fresh_step(const Expression &extent);
Expression extent_of_step(const Expression &step);

// ---- Composition. Operands of one function have one type; a plain number takes the type of the other.
Expression call(Function f, const Expression &a);
Expression call(Function f, const Expression &a, const Expression &b);
Expression select(const Expression &condition, const Expression &then, const Expression &otherwise);
// The value in another type, as C converts it; to a boolean: whether it is not 0. Small floats saturate.
Expression cast(Type type, const Expression &a);
// The same bits read as another type of the same size.
Expression bits_as(Type type, const Expression &a);
// Over all steps: body(s0, s1, ...), each s in [0, its extent).
using Body = std::function<Expression(const std::vector<Expression> &)>;
Expression reduce(Function f, const std::vector<int64_t> &extents, const Body &body);
// The same where extents may be known at run time only.
Expression reduce_open(Function f, const std::vector<Expression> &extents, const Body &body);
bool finds_a_place(Function f);
// A node of the same kind with other arguments, simplified anew.
Expression rebuilt(const Expression &like, std::vector<Expression> arguments);

inline Expression literal(const Expression &like, const Expression &a) { return (void)like, a; }
template <typename Number, typename = std::enable_if_t<std::is_arithmetic_v<Number>>>
Expression literal(const Expression &like, Number n) {
  if constexpr (std::is_integral_v<Number>) {
    if (!is_real(like.type())) return constant_integer(like.type(), static_cast<int64_t>(n));
  }
  return constant(like.type(), static_cast<double>(n));
}

// Two expressions, or one and a number.
template <typename A, typename B>
constexpr bool are_operands = (std::is_same_v<A, Expression> &&
                               (std::is_same_v<B, Expression> || std::is_arithmetic_v<B>)) ||
                              (std::is_arithmetic_v<A> && std::is_same_v<B, Expression>);
template <typename A, typename B>
Expression call_with_literals(Function f, const A &a, const B &b) {
  if constexpr (std::is_same_v<A, Expression>)
    return call(f, a, literal(a, b));
  else
    return call(f, literal(b, a), b);
}

#define SALTERN_BINARY(NAME, FUNCTION)                                               \
  template <typename A, typename B, typename = std::enable_if_t<are_operands<A, B>>> \
  Expression NAME(const A &a, const B &b) {                                          \
    return call_with_literals(Function::FUNCTION, a, b);                             \
  }
SALTERN_BINARY(operator+, add)
SALTERN_BINARY(operator-, subtract)
SALTERN_BINARY(operator*, multiply)
SALTERN_BINARY(operator/, divide)
SALTERN_BINARY(operator%, modulo)
SALTERN_BINARY(operator<, less)
SALTERN_BINARY(operator<=, less_equal)
SALTERN_BINARY(operator==, equal)
SALTERN_BINARY(operator&&, both)
SALTERN_BINARY(operator||, either)
SALTERN_BINARY(max, maximum)
SALTERN_BINARY(min, minimum)
SALTERN_BINARY(power, power)
#undef SALTERN_BINARY
template <typename A, typename B, typename = std::enable_if_t<are_operands<A, B>>>
Expression operator>(const A &a, const B &b) {
  return b < a;
}
template <typename A, typename B, typename = std::enable_if_t<are_operands<A, B>>>
Expression operator>=(const A &a, const B &b) {
  return b <= a;
}
inline Expression operator-(const Expression &a) { return call(Function::negate, a); }
inline Expression operator!(const Expression &a) { return call(Function::invert, a); }
inline Expression exp(const Expression &a) { return call(Function::exp, a); }
inline Expression log(const Expression &a) { return call(Function::log, a); }
inline Expression sqrt(const Expression &a) { return call(Function::sqrt, a); }
inline Expression abs(const Expression &a) { return call(Function::absolute, a); }
inline Expression floor(const Expression &a) { return call(Function::floor, a); }
inline Expression quotient(const Expression &a, const Expression &b) { return call(Function::quotient, a, b); }
inline Expression modulo(const Expression &a, const Expression &b) { return call(Function::modulo, a, b); }

// ---- Looking at expressions.

// The least and the greatest value that an index expression can take, as far as can be told; given the extents of the
// axes.
struct Interval {
  int64_t least, greatest;
};
Interval bounds(const Expression &index, const std::vector<int64_t> &axes);

// The same expression with other leaves: `replace` gives what stands for an axis or a load (whose indices are replaced
// already), or an undefined expression to keep it.
Expression replaced(const Expression &e, const std::function<Expression(const Expression &leaf)> &replace);

bool is_number(const Expression &e, double value);
bool is_truth(const Expression &e, bool value);
// Of a size or an index; steps and axes count as 0.
double typical_value(const Expression &e);

// The same expression with other nodes: `change` gives what stands for a node whose arguments are changed already, or an
// undefined expression to keep it. What has become a node of another kind by that is not asked for again.
Expression transformed(const Expression &e, const std::function<Expression(const Expression &)> &change);
// Axis i becomes by[i].
Expression with_axes(const Expression &e, const std::vector<Expression> &by);

// Walks. What several places use is one node, and a net that uses each of its values twice has 2^n uses after n layers:
// whoever follows each use never ends. These look at every node once.
// Calls `visit` once for each node, arguments first.
void for_each_node(const Expression &e, const std::function<void(const Expression::Node &)> &visit);
// Calls `enter` once for each node, before its arguments, which are left out where it returns false.
void descend(const Expression &e, const std::function<bool(const Expression::Node &)> &enter);

// The steps that expressions read and that no reduction inside of them runs over, by their ids; and what `also` gives
// for nodes without arguments, if that is not nothing.
class StepsRead {
 public:
  static constexpr int nothing = -2;
  explicit StepsRead(std::function<int(const Expression::Node &leaf)> also = nullptr) : also_(std::move(also)) {}
  // The expression must live as long as this.
  const std::set<int> &of(const Expression &e);

 private:
  std::function<int(const Expression::Node &)> also_;
  std::unordered_map<const Expression::Node *, std::set<int>> known_;
};

// A text that is equal for equal expressions, and that parse_expression() reads. Steps are numbered in their order.
std::string to_string(const Expression &e);
// Throws std::invalid_argument that says what was expected where.
Expression parse_expression(const std::string &text);

}  // namespace saltern::formula
