#pragma once
// One call of a kernel, in plain numbers. Nothing here needs the Halide compiler.

#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace saltern::generators {

// What one argument of a call is: a buffer's extents, innermost first, or a scalar's value.
struct CallArgument {
  std::vector<int> extents;
  double value = 0;
  CallArgument(std::initializer_list<int> e) : extents(e) {}
  CallArgument(std::vector<int> e) : extents(std::move(e)) {}
  CallArgument(int v) : value(v) {}
  CallArgument(double v) : value(v) {}
};

// The inputs of one call, in the order of their declaration.
using Call = std::vector<CallArgument>;

// Numbers that override a schedule's own, by name.
using Knobs = std::map<std::string, int>;

}  // namespace saltern::generators
