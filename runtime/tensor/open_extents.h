#pragma once
// Extents that are open while only shapes are known (outlines, tensor.h): numbers that stand for them, and divisions.
//
// A net runs on numbers; so an open size is a number that is large enough to show. With 117937 for the batch, 5778913 is
// 49 batch, and 117939 is batch + 2. What is left of a division would show no more: where it is rounded, the quotient is
// a size of its own, with a number of its own that says whatever comes of it.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/temporarily.h"

namespace saltern {

struct OpenSize {
  int64_t number;          // that stands for it
  int64_t of = 0, by = 0;  // by > 0: it is `of` (which may stand for something) divided by this, rounded down
  bool operator==(const OpenSize &o) const { return number == o.number && of == o.of && by == o.by; }
};
using OpenSizes =
    std::map<std::string, OpenSize>;  // by name; that of a quotient is its text: "floor((height + 1) / 2)"

// factor * names[0] * names[1] * ... + rest; where nothing is open, the number is the rest.
struct OpenNumber {
  int64_t factor = 0, rest = 0;
  std::vector<std::string> names = {};

  bool is_open() const { return !names.empty(); }
};

// A product of sizes: what stands for it, and what it is called.
struct OpenProduct {
  int64_t number;
  std::vector<std::string> names;
};
std::vector<OpenProduct> products_of(const OpenSizes &sizes);

OpenNumber open_number(int64_t number, const OpenSizes &sizes);
OpenNumber open_number(int64_t number, const std::vector<OpenProduct> &products);
// "49 * batch + 2".
std::string to_string(const OpenNumber &number);

bool is_stand_in(int64_t number);
// The greatest number below another that stands for none of these: a quotient is less than what it is of. Throws where
// there are too many.
int64_t next_stand_in(const OpenSizes &sizes, int64_t below = INT64_MAX);

// What layers divide extents by, rounded down: `extent` is at least 0. A net that divides one itself, and is to be traced
// with open sizes, does it with this, too.
int64_t extent_quotient(int64_t extent, int64_t by);

// While it lives, quotients of what stands for these sizes are sizes on this thread, and become some of them.
struct WithOpenSizes : Temporarily<OpenSizes *> {
  explicit WithOpenSizes(OpenSizes &sizes);
};

}  // namespace saltern
