#pragma once
// Declared kernels, compiled just in time for one exact call, for programs that do not see the Halide compiler:
// nothing here includes Halide.h, and all errors are saltern::Error.

#include <HalideRuntime.h>

#include <memory>
#include <string>
#include <vector>

#include "generators/call.h"
#include "runtime/kernels/instruction_set.h"
#include "schedules/knobs.h"

namespace saltern::generators {

// One argument of one call of a kernel, in the order in which a library kernel takes them: inputs, then outputs.
struct ArgumentFacts {
  enum class Kind { buffer, scalar, output };
  Kind kind;
  std::string name;
  halide_type_t type;
  std::vector<int> extents;   // of a buffer or an output, innermost first
  double value = 0;           // of a scalar
  double low = -1, high = 1;  // the values that a buffer may be filled with for a trial
};

bool is_declared(const std::string &kernel);

// A call that a kernel's declaration says is worth timing.
struct DeclaredTiming {
  std::string kernel, label;
  Call call;
  double flops;
};
std::vector<DeclaredTiming> declared_timings();

// What the call's arguments are. Fails where the call does not fit the kernel.
std::vector<ArgumentFacts> arguments_of(const std::string &kernel, const Call &call);

// The knobs that the kernel's schedule asks for when built for this call.
std::vector<schedules::Knob> knob_space(const std::string &kernel, const Call &call, InstructionSet set);

// The vector registers that a schedule for this instruction set has.
int vector_registers(InstructionSet set);

// A kernel compiled for the extents and scalars of one call. Parallel loops run on the run world's thread pool.
class ExactKernel {
 public:
  ExactKernel(const std::string &kernel, const Call &call, InstructionSet set, const Knobs &knobs = {});

  // The buffers of the call, then its outputs; scalars are compiled in.
  void operator()(const std::vector<halide_buffer_t *> &buffers) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace saltern::generators
