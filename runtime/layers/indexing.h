#pragma once
// Parts of a Variable, as NumPy has them:
//
//   x[0], x[{0, slice(2, 5), all}], x[{dots, slice({}, {}, 2)}], x[{new_axis, -1}], x[mask], x[{rows, columns}]
//
// A number takes its dimension away; tensors of whole numbers, which broadcast, pick elements; a tensor of truths picks
// where it is true, of as many dimensions as it has. Tensors stand where the first of them stood if they are neighbours,
// else in front.

#include <optional>
#include <variant>

#include "runtime/layers/movement.h"

namespace saltern {

struct Slice {
  std::optional<int64_t> begin, end;  // negative ones count from the end
  int64_t step = 1;
};
inline Slice slice(std::optional<int64_t> begin, std::optional<int64_t> end, int64_t step = 1) {
  return {begin, end, step};
}
inline const Slice all;
// As many as are left.
inline constexpr struct Dots {
} dots;
inline constexpr struct NewAxis {
} new_axis;

struct Index {
  Index(int number) : of(int64_t{number}) {}                                   // NOLINT: x[{0, all}]
  Index(int64_t number) : of(number) {}                                        // NOLINT
  Index(const Slice &part) : of(part) {}                                       // NOLINT
  Index(Dots d) : of(d) {}                                                     // NOLINT
  Index(NewAxis n) : of(n) {}                                                  // NOLINT
  Index(const Variable &numbers_or_truths) : of(numbers_or_truths) {}          // NOLINT
  Index(const Tensor &numbers_or_truths) : of(Variable(numbers_or_truths)) {}  // NOLINT
  Index(const std::vector<int64_t> &numbers);                                  // NOLINT

  std::variant<int64_t, Slice, Dots, NewAxis, Variable> of;
};

// What x[...] is. A number that is not there, or too many of them, is a BadIndex.
Variable part_of(const Variable &x, const std::vector<Index> &index);

// ---- What it is made of.

// Every step-th of a part.
Variable strided_slice(const Variable &x, int64_t axis, int64_t begin, int64_t count, int64_t step);
// By whole numbers, for some dimensions.
Variable indexed(const Variable &x, const std::vector<int64_t> &dimensions, const std::vector<Variable> &numbers);
// Throws where one is outside, from -extent to extent - 1.
void expect_inside(const std::string &who, const Variable &numbers, int64_t extent);
// Negative numbers from the end, in a formula.
formula::Expression counted(const formula::Expression &number, const formula::Expression &extent);

}  // namespace saltern
