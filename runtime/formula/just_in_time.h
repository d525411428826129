#pragma once
// Kernels of formulas that are compiled while the program runs, by whoever knows how: the run world has no compiler, and
// Saltern::compiler (generators/model/formula_kernels.cpp) says that it is there when it is linked.
//
// What is compiled depends on formulas, sizes and the setting alone, not on what ran before or how long that took: the
// same program gives the same bits every time.

#include <functional>
#include <optional>
#include <string>

#include "dsl/exact_formulas.h"
#include "runtime/kernels/device.h"
#include "runtime/tensor/tensor.h"

namespace saltern {

enum class JustInTime { never, where_it_pays, always };

// The environment's SALTERN_JUST_IN_TIME (never, auto or always), else where_it_pays; until it is set.
JustInTime just_in_time();
void set_just_in_time(JustInTime when);

// The outputs of formulas, of operands that are dense and row-major; so are the outputs.
using FormulaKernel = std::function<std::vector<Tensor>(const std::vector<Tensor> &operands)>;
// Throws an Error where it cannot compile them for the device.
using FormulaCompiler =
    std::function<FormulaKernel(const formula::Values &inputs, const formula::Values &outputs, Device device)>;
void set_formula_compiler(FormulaCompiler compiler);

// How often formulas are likely to be computed: a kernel takes some tenths of a second to compile.
enum class Runs { once, often };

// Whether formulas are to be compiled that take so many of the interpreter's steps; never where nobody can.
bool is_worth_a_kernel(double steps, Runs runs);

// The same formulas with names for some sizes, of which their kernel serves all. Without outputs where nobody knows them.
struct AnySize {
  formula::Values inputs, outputs;
};

// The outputs, by a kernel for any such size or else for these, on the device in use or else on the CPU; nothing where none
// can be had, and the interpreter is to compute them.
std::optional<std::vector<Tensor>> computed_just_in_time(const formula::ExactFormulas &formulas,
                                                         const AnySize &any_size, const std::vector<Tensor> &operands);

// Why formulas that were to be compiled were left to the interpreter; empty: none was.
std::string last_just_in_time_failure();

}  // namespace saltern
