#pragma once
// Values that need no kernel, since they are one piece of another value's memory: a reshape, a part along the outermost
// dimension; and joined values whose parts are computed in their places.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"

namespace saltern::generators {

// Kernels take all they read and write to be aligned so.
constexpr int64_t buffer_alignment = 64;

// Where the node's only output begins in the memory of its only input, in bytes; nothing where it needs a kernel.
std::optional<int64_t> view_offset(const Graph &graph, const Graph::Node &node);
inline bool is_view(const Graph &graph, const Graph::Node &node) { return view_offset(graph, node).has_value(); }

// Where the parts of a concat begin in the memory of its output, in bytes; empty where a part is not one piece of it, or
// not aligned.
std::vector<int64_t> part_offsets(const Graph &graph, const Graph::Node &concat);

// The homes of all values: the value whose memory each lies in, and where in it.
class Homes {
 public:
  struct Home {
    std::string value;
    int64_t offset;
  };

  explicit Homes(const Graph &graph);
  Home of(const std::string &value) const;
  // Puts `result` into the memory of `operand`, of the same size. Not possible where either is a part of something
  // else: returns false then.
  bool take_over(const Graph &graph, const std::string &result, const std::string &operand);
  // Whether an input of a concat is computed in its place there.
  bool is_placed(const Graph::Node &concat, size_t input) const;

 private:
  void place_parts(const Graph &graph, const Graph::Node &concat);

  std::map<std::string, Home> homes_;
  std::map<std::string, std::vector<bool>> placed_;  // by a concat's output
};

}  // namespace saltern::generators
