#pragma once
// What every model must keep to, whatever its operators are.

#include "runtime/onnx/model.h"

namespace saltern {

// Fails, naming the culprit, where a value is read before it is made or made twice, where functions call themselves or
// call each other too deep, and where they stand for more nodes than anybody could run (a few lines that each call the
// next one twice are 2^40 nodes).
void check_model(const Model &model);

}  // namespace saltern
