#pragma once
// What functions and layers are told in Python, as C++ has it (runtime/nn/argument.h), and their results.

#include <nanobind/nanobind.h>

#include "runtime/nn/signature.h"

namespace saltern::python {

namespace nb = nanobind;

nn::Argument argument(nb::handle h);
nb::object object(const nn::Argument &a);

// A signature, for help(): of each argument its name, whether it is required, its default, and whether it is given by name only.
nb::list described(const nn::Signature &s);

// By place and by name.
struct Given {
  std::vector<nn::Argument> positional;
  nn::Named named;

  Given(const nb::args &args, const nb::kwargs &kwargs);
};

}  // namespace saltern::python
