#pragma once
// What an imported model goes through before anybody sees it. Checks fail and name the culprit.

#include "runtime/onnx/model.h"

namespace saltern {

// What every model must keep to, whatever its operators are: fails where a value is read before it is made or made
// twice, where functions call themselves or call each other too deep, and where they stand for more nodes than anybody
// could run (a few lines that each call the next one twice are 2^40 nodes).
void check_model(const Model &model);

// What ONNX's own definitions say of its operators, a table that comes from ONNX's wheel when Saltern is built
// (cmake/onnx_signatures.py): fails where a file is not one that ONNX allows: versions of operators that there never
// were, nodes with inputs, outputs or attributes that their operator has not, or without those that it needs;
// Unsupported where a version is newer than the table. Operators that are not in the table, and those that the model
// brings along, are not judged.
void check_signatures(const Model &model);

// FlexAttention has graphs as attributes that change its scores and its probabilities. In the graph and all inside it, it
// is replaced by its parts (runtime/onnx/operators/attention.cpp) with the nodes of those graphs between them, so that
// whatever runs or lowers the graph sees nothing but nodes.
void take_apart_flex_attention(Graph &graph);

}  // namespace saltern
