#pragma once
// Values of exact sizes as a list of formulas whose loads are numbered: what interpreters run and graphs hold.

#include <map>

#include "dsl/value.h"

namespace saltern::formula {

struct ExactRecurrence;

// One stage. Operands are numbered through: inputs first, then the formulas in their order.
struct ExactFormula {
  std::string name;
  Type type = Type::f32;
  std::vector<int64_t> shape;
  Expression element;  // x0 is operands[0]
  std::vector<int> operands;

  // A scatter adds element(t) at targets(t) for all t in `space`, whose first dimensions are those of the shape. A target
  // that is undefined is the t of its dimension.
  std::vector<int64_t> space;
  std::vector<Expression> targets;
  bool is_scatter() const { return !targets.empty(); }

  // A scan goes along this dimension, and its first element sees `before`.
  int along = -1;
  Expression before = {};
  bool is_scan() const { return along >= 0; }

  // A state after each turn; operands are the states before the first turn, then what turns read.
  std::shared_ptr<const ExactRecurrence> recurrence = {};
  int state = 0;
  bool is_recurrent() const { return recurrence != nullptr; }
};

struct ExactFormulas {
  std::vector<ExactFormula> stages;
  std::vector<int> outputs;  // numbers of operands
};

struct ExactRecurrence {
  ExactFormulas turn;         // of states, what is read, and the number of the turn: the next states
  std::vector<bool> by_turn;  // for each that is read: of it a turn has its own part alone, without the first dimension
  int64_t turns = 0;
  bool backwards = false;

  size_t states() const { return turn.outputs.size(); }
  size_t operands() const { return states() + by_turn.size(); }
};
// The same turn of whole operands, those of one number `turn`.
ExactFormulas at_turn(const ExactRecurrence &r, int64_t turn);

using Numbers = std::map<std::string, double>;

// A formula for each stage; or one for as many as possible, where one map alone reads a stage, and at its own element:
// what operators of a graph are, whose compiler looks for whole ones.
enum class Cut : uint8_t { at_stages, where_needed };

// `numbers` are what the symbols stand for. Throws std::invalid_argument that names a symbol without a number, an input
// that is not among `inputs`, or an extent that is negative.
ExactFormulas exact_formulas(const Values &inputs, const Values &outputs, const Numbers &numbers = {},
                             Cut cut = Cut::at_stages);

// The way back: a formula as a Value of its operands, and the outputs of formulas as Values of their inputs. Of
// recurrences there is none.
Value value_of(const ExactFormula &f, const Values &operands);
Values values_of(const ExactFormulas &formulas, const Values &inputs);

// The number of an expression of symbols.
int64_t number_of(const Expression &e, const Numbers &numbers);

}  // namespace saltern::formula
