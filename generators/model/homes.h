#pragma once
// Which values share memory with another one: views of it, and parts that are computed in their places of what is
// joined of them. A join along channels has rows of channels in its parts' places (piece.h): kernels that read or write
// such a part are compiled for its strides. A join of joins, as each layer of a DenseNet adds one, is one memory that
// fills up.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "generators/model/emit.h"
#include "generators/model/piece.h"
#include "runtime/graph/graph_index.h"

namespace saltern::generators {

// What calls read and write, before anything is said about where: a kernel for each group, but for dense views, joins
// and what has no elements.
struct GroupCall {
  Group group;
  std::optional<EmittedKernel> kernel;
};

class Homes {
 public:
  struct Home {
    std::string value;  // in whose memory it lies
    Piece piece;        // of that
  };

  // The graph must live as long as this.
  Homes(const Graph &graph, const std::vector<GroupCall> &calls);

  Home of(const std::string &value) const;
  // The same for what an argument is, which may be a part of a value.
  Home of(const EmittedArgument &argument) const;
  // Whether the kernel that makes this value is not needed: it would copy what can be read where it is.
  bool is_read_in_place(const std::string &value) const { return in_place_.count(value) > 0; }
  // Whether an input of a concat is computed in its place there.
  bool is_placed(const Graph::Node &concat, size_t input) const;
  // Whether the concat is nothing but copies of those parts that are not placed; else one kernel makes it.
  bool is_joined_by_parts(const Graph::Node &concat) const { return placed_.count(concat.outputs[0]) > 0; }

  // Puts `result` into the memory of `operand`, of the same size. Not possible where either is a part of something
  // else: returns false then.
  bool take_over(const std::string &result, const std::string &operand);

 private:
  struct Use {
    std::vector<int> extents;
    Piece piece;
  };

  std::optional<Home> find(const std::string &value) const;
  // Puts a value into another one's memory, if all that touches it, or what lies in it, can do so there.
  bool put(const std::string &value, const std::string &into, const Piece &piece);
  // The same, whether they can or not; false where it would not be one piece.
  bool add(const std::string &value, const Home &into, const Piece &piece);
  bool fits(const std::string &value) const;
  void place_parts(const Graph::Node &concat);
  Piece whole(const std::string &value) const;

  const Graph &graph_;
  const GraphIndex index_;
  std::unordered_map<std::string, Home> homes_;
  std::unordered_map<std::string, std::vector<std::string>> tenants_;  // what lies in a value, one level down
  std::unordered_map<std::string, size_t> tenant_counts_;              // on all levels
  std::unordered_map<std::string, std::vector<Use>> uses_;             // how calls see a value
  std::unordered_map<std::string, std::vector<bool>> placed_;          // by a concat's output
  std::unordered_set<std::string> in_place_;
};

}  // namespace saltern::generators
