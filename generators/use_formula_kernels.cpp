// Linked into every program that links Saltern::compiler: formulas are compiled where it pays.

#include "generators/model/formula_kernels.h"

namespace saltern::generators {
namespace {

[[maybe_unused]] const bool is_set = (set_formula_compiler(formula_kernel), true);

}  // namespace
}  // namespace saltern::generators
