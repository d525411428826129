// Linked into every program that links Saltern::compiler: formulas are compiled where it pays, and library kernels for
// devices.

#include "generators/model/device_kernels.h"
#include "generators/model/formula_kernels.h"
#include "generators/model/loaded_kernel.h"
#include "runtime/kernels/device_kernels.h"

namespace saltern::generators {
namespace {

[[maybe_unused]] const bool is_set =
    (set_formula_compiler(formula_kernel), set_device_support({device_memory, device_kernel}), true);

}  // namespace
}  // namespace saltern::generators
