#pragma once
// Stages that read as zero outside of their extents: a schedule may keep them with the zeros around them, tiles may reach
// past their edges, and whoever asks whether an index is inside to take 0 elsewhere need not.

#include <Halide.h>

#include <functional>
#include <map>
#include <set>

#include "dsl/value.h"

namespace saltern::generators {

class ZerosOutside {
 public:
  // Of these dimensions, or of all.
  void add(const formula::Value &v, std::set<int> dimensions);
  bool has(const formula::Stage &s) const { return dimensions_.count(&s) > 0; }
  bool has(const formula::Stage &s, int dimension) const;
  // Whether a stage needs no zeros around it: it reads what has some, at its own place or at a quotient of that.
  bool are_made_of_others(const formula::Stage &s) const;
  // An element without the conditions under which one of these, or a product that it is a factor of, is 0 by itself.
  formula::Expression without_idle_questions(const formula::Expression &element) const;
  // The function of such a stage with the zeros, where `size` says what its extents are.
  Halide::Func around(const formula::Stage &s, const Halide::Func &f,
                      const std::function<Halide::Expr(const formula::Expression &)> &size) const;

 private:
  bool is_idle(const formula::Expression &question, const formula::Expression &asked_for) const;

  std::map<const formula::Stage *, std::set<int>> dimensions_;
};

// The parts of a condition that have to hold all.
std::vector<formula::Expression> all_of(const formula::Expression &condition);

}  // namespace saltern::generators
