#pragma once
// Maps that read elements at other places than their own: a transposition, which goes by blocks of a line of the cache both
// ways. The turned weights of a convolution, 512 x 512 x 3 x 3, take 1.8 ms for 13.4 row by row, where each element that is
// read is in a line of its own (AMD Zen 4).

#include "schedules/known_sizes.h"
#include "schedules/machine.h"

namespace saltern::schedules {

// Whether something is read at another place along the innermost axis than at its own.
inline bool moves_elements(const formula::Stage &s) {
  const formula::Expression column = formula::axis(s.rank - 1);
  for (const formula::Expression &l : formula::loads_in(s.element))
    for (const formula::Expression &i : l->arguments)
      if (!is_same(i, column) && formula::axes_in(i).count(s.rank - 1) > 0) return true;
  return false;
}

// Whether rows of a map that moves nothing are known to be shorter than vectors, and two of its dimensions together are not:
// a picture of three channels.
inline bool has_short_rows(const formula::Stage &s, const Machine &m, int lanes) {
  if (s.rank < 2 || !s.is_map() || moves_elements(s)) return false;
  const int64_t columns = known(s.extents[static_cast<size_t>(s.rank) - 1]),
                both = columns * known(s.extents[static_cast<size_t>(s.rank) - 2]);
  return columns > 1 && columns < m.float_lanes() && both >= 4 * lanes;
}

// Several rows are a vector, whose elements lie side by side.
inline void by_several_rows(Halide::Func out, int lanes) {
  const std::vector<Halide::Var> args = out.args();
  const Halide::Var several("several");
  out.fuse(args[0], args[1], several).vectorize(several, lanes, Halide::TailStrategy::GuardWithIf);
  if (args.size() > 2) out.parallel(args[2]);
}

constexpr int turned_block = 16;

// The axis along which what is read lies in memory where that is not the innermost one, of extents that are known and that
// blocks divide: so no element is written twice, and what is written in the place of an operand is right. -1: none.
inline int turned_along(const formula::Stage &s, int lanes) {
  const std::vector<formula::Expression> loads =
      s.is_map() ? formula::loads_in(s.element) : std::vector<formula::Expression>();
  if (loads.size() != 1 || loads[0]->arguments.empty()) return -1;
  const std::set<int> along = formula::axes_in(loads[0]->arguments.back());
  const int column = s.rank - 1;
  if (along.size() != 1 || *along.begin() >= column || formula::axes_in(loads[0]).count(column) == 0) return -1;
  const int64_t columns = known(s.extents[static_cast<size_t>(column)]),
                dense = known(s.extents[static_cast<size_t>(*along.begin())]);
  return columns > 0 && columns % lanes == 0 && dense > 0 && dense % turned_block == 0 ? *along.begin() : -1;
}

// `out` is a copy of s, which is dense along `axis`.
inline void in_turned_blocks(Halide::Func out, const formula::Stage &s, int axis, int lanes) {
  const std::vector<Halide::Var> args = out.args();
  const Halide::Var row("row"), column("column"), block("block"), along = args[static_cast<size_t>(s.rank - 1 - axis)];
  std::vector<Halide::VarOrRVar> order = {row, column, args[0]};
  for (int d = 1; d < s.rank; ++d)
    if (d != s.rank - 1 - axis) order.emplace_back(args[static_cast<size_t>(d)]);
  order.emplace_back(block);
  out.split(args[0], args[0], row, lanes)
      .split(along, block, column, turned_block)
      .reorder(order)
      .vectorize(row)
      .unroll(column)
      .parallel(block);
}

}  // namespace saltern::schedules
