// What the run world asks of Halide's run-time support, for programs that link no kernels.

#include <HalideRuntime.h>

#include "runtime/kernels/instruction_set.h"

extern "C" {

halide_error_handler_t halide_set_error_handler(halide_error_handler_t) { return nullptr; }
halide_malloc_t halide_set_custom_malloc(halide_malloc_t) { return nullptr; }
halide_free_t halide_set_custom_free(halide_free_t) { return nullptr; }
halide_do_par_for_t halide_set_custom_do_par_for(halide_do_par_for_t) { return nullptr; }
}

// Clang's names of what a CPU has are not those of dsl/cpu.h; without kernels nobody needs them.
saltern::InstructionSet saltern::instruction_set_in_use() { return InstructionSet::sse41; }
