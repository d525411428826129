#pragma once
// Graphs as text, one value or node a line, so that people can read what a model holds:
//
//   saltern graph 1
//   size batch 117937                                              the number that stands for an open size
//   size "floor(batch / 2)" 115201 = 117937 / 2                    a quotient of one, rounded down
//   input x f32 [batch, 1, 28, ?]                                  extents by number, by name, or open
//   constant conv.weight f32 [32, 1, 3, 3]                         its elements stand beside the text, by its name
//   constant two f32 [] = [2.0]                                    or in it
//   node conv2d(x, conv.weight, "") {pads = [1, 1, 1, 1], slope = 0.5, mode = "same"} -> y f32 [1, 32, 28, 28]
//   output y
//   state count -> next_count = [0]                                an input, the output that it becomes, its beginning
//
// An imported graph has more to say. An input or output that is absent is "", and what is not known is left out:
//
//   input s sequence f32 any                                       a container; a shape of which nothing is known
//   input start i64 [1] = [0]                                      an input with a default
//   value seen f32 [3]                                             declared, and neither input nor made here
//   graph body                                                     a graph for attributes of nodes below it
//     input i i64 []
//     node Identity(i) -> o
//     output o
//   end
//   node Loop(n, c) of some.domain as "node 7" {body = graph body, t = tensor u8 [2] = [1, 2]} with {to = kind} -> y
//
// `of` is the operator's domain, `as` the node's name in its file, `with` the attributes that are a function's own.
// Lists without an element say their kind: reals [], words []. Tensors stand in the text or beside it (= @name).

#include <map>
#include <string>

#include "runtime/graph/graph.h"

namespace saltern {

struct GraphText {
  std::string text;
  std::map<std::string, Tensor> tensors;  // that stand beside it
};

// Tensors of up to `largest_inside` elements are in the text.
GraphText text_of(const Graph &graph, int64_t largest_inside);
// For people to read, and for comparison.
std::string to_text(const Graph &graph);
// [batch, 3, ?]
std::string shape_text(const Graph::Value &v);

// Throw an Error that names `source`, the line and what was expected there. The result is valid: a lowered graph by
// validate(), an imported one by validate_imported().
Graph parse_graph(const std::string &text, const std::map<std::string, Tensor> &tensors, const std::string &source);
Graph parse_imported_graph(const std::string &text, const std::map<std::string, Tensor> &tensors,
                           const std::string &source);

}  // namespace saltern
