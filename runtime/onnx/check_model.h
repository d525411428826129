#pragma once
// What is asked of an imported model before anybody sees it. Checks fail and name the culprit.

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

}  // namespace saltern
