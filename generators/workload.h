#pragma once
// Something for a kernel to do: one call with random inputs and memory for the outputs, run through the registry or
// by an exact kernel. For benchmarks and the tuner.

#include <HalideBuffer.h>

#include <string>
#include <vector>

#include "generators/call.h"
#include "generators/just_in_time.h"

namespace saltern::generators {

class Workload {
 public:
  // Fails where the call does not fit the kernel or this machine's memory.
  Workload(const std::string &kernel, const Call &call);

  void run_library();
  void run(const ExactKernel &kernel);

  // Of all buffers together: what must be read or written at least once.
  double bytes() const;

  // The largest difference between the outputs of the library kernel and of an exact one, relative to the largest
  // value or 1; infinite where either has what is not a number.
  double difference(const ExactKernel &kernel);

 private:
  using Buffer = Halide::Runtime::Buffer<>;

  std::string kernel_;
  std::vector<ArgumentFacts> facts_;
  std::vector<Buffer> inputs_, outputs_;
  std::vector<halide_scalar_value_t> scalars_;
  std::vector<void *> library_arguments_;
  std::vector<halide_buffer_t *> exact_arguments_;
};

}  // namespace saltern::generators
