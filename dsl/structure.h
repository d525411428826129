#pragma once
// What kind of work a stage is, told from its formula alone; schedules are chosen by it (schedules/by_structure.h).
//
//   map           y[a0, a1] = f(x[a0, a1], ...)                                   gather   an index comes from data
//   row           y[a0] = sum{a1} x[a0, a1]: steps run along the innermost dimension of what is read
//   column        y[a1] = sum{a0} x[a0, a1]: axes do
//   window        y[a0] = max{a1} x[a0 s + a1]: an index of an axis and a step, unless there are rows
//   contraction   y[a0, a1] = sum{a2} x[a0, a2] w[a1, a2]: one operand varies with one axis, the other with another
//   scatter       y[x[a0]] += ...
//   scan          y[a0, a1] = f(y[a0, a1 - 1], ...)
//   recurrence    a state after each turn (recurrence.h): no kernel of its own, but one for a turn

#include <map>
#include <set>

#include "dsl/value.h"

namespace saltern::formula {

enum class Pattern : uint8_t { map, gather, row, column, window, contraction, scatter, scan, recurrence };
const char *name(Pattern p);
Pattern classify(const Stage &s);

// The numbers of the axes that an expression depends on; those of steps are behind those of the result.
std::set<int> axes_in(const Expression &e);
std::vector<Expression> loads_in(const Expression &e);

// The two operands of a contraction, its column (the innermost axis of the result) and its row (another one).
struct Contraction {
  Expression by_column, by_row;  // loads
  Expression where;              // the steps that count, if not all do; says nothing of column and row
  int column = -1, row = -1;
};
std::optional<Contraction> contraction_of(const Stage &s);

// Whether a stage of the extents of its reader is read where that is written.
bool is_at_own_place(const Expression &load, const Stage &reader);

// Of maps that are kept or results: the contraction that each is an epilogue of. It alone reads that, and at its own place
// only, so that what a tile of the contraction gives can be stored as the map makes it.
std::map<const Stage *, std::shared_ptr<const Stage>> epilogues_of(const Values &outputs);

// Whether each stage is worth memory: reductions are, and maps that are costly and read more than once.
std::vector<std::shared_ptr<const Stage>> worth_keeping(const Values &outputs);

// Whether an element is made by a few instructions, with all maps that it is made of.
bool is_light(const Value &v);

// What a gradient need not make again, since the forward has made it: whoever computes both keeps it in between.
// Stages of `outputs` that their `gradients` read and that are dear to make: contractions, windows, scans, states. Sums along
// rows and columns are not: a kernel has them by the way, and to write them down would take it apart.
Values worth_giving(const Values &outputs, const Values &gradients);

// The same values, which read `given` instead of making `stages`.
Values with_given(const Values &values, const Values &stages, const Values &given);

// The kinds of all stages that outputs are made of; a copy of an input is a map.
std::set<Pattern> classes_of(const Values &outputs);

// The element of a value with all maps that it loads written in their places, whether or not they are stages.
Expression written_out(const Value &v);

}  // namespace saltern::formula
