#pragma once
// Values that are a piece of another value's memory: a reshape, a slice, a part of what is joined. homes.h says which of
// them need no kernel, beside those that are one dense piece.

#include <optional>
#include <vector>

#include "generators/model/piece.h"
#include "runtime/graph/graph.h"

namespace saltern::generators {

// Kernels take all they read and write to be aligned so, unless told otherwise (EmittedArgument).
constexpr int64_t buffer_alignment = 64;

// Where the node's only output begins in the memory of its only input, in bytes, if it is one dense piece of it.
std::optional<int64_t> view_offset(const Graph &graph, const Graph::Node &node);
inline bool is_view(const Graph &graph, const Graph::Node &node) { return view_offset(graph, node).has_value(); }

// The part of its only input's memory that the node's only output is, if it moves nothing else: for a slice of channels,
// rows.
std::optional<Piece> loaded_piece(const Graph &graph, const Graph::Node &node);

// The places of a concat's parts in the memory of its output; empty where they do not lie there as they do alone.
std::vector<Piece> part_pieces(const Graph &graph, const Graph::Node &concat);

}  // namespace saltern::generators
