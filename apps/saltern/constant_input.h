#pragma once
// --constant NAME=1,2 or NAME=FILE.pb: an input of a model that always has the same value.

#include <string>

#include "runtime/onnx/model.h"

namespace saltern {

// Makes the input a constant. Throws an Error that names the option where there is no such input, or the value does not
// fit it.
void fix_input(Model &model, const std::string &text);

}  // namespace saltern
