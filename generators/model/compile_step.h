#pragma once
// A net's training step, compiled for the exact shapes of its batches:
//
//   Adam optimizer(net);
//   const CompiledStep step = compile_step(net, mean_squared_error, optimizer, x, labels);
//   for (const auto &[x, labels] : batches) const float loss = step(x, labels);
//
// Forward, loss, gradients and updates are one plan of fused kernels (runtime/optim/training_step.h, compile.h). Parameters,
// running statistics, what the optimizer keeps and the stream of random numbers are read and written where net, optimizer
// and this thread have them: at any time they may be saved, loaded, evaluated, or go on with the tape. The rate is
// optimizer.rate(). What is compiled is kept in the cache, for all nets of the same structure, whatever their parameters.
//
// It needs a C compiler (compile.h). Nothing here needs the Halide compiler's headers.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/optim/training_step.h"

namespace saltern {

struct StepOptions {
  int threads = 0;                                  // 0: as many as the library has (runtime/kernels/thread_pool.h)
  std::function<void(int done, int all)> progress;  // how many kernels of how many are compiled
  // The bytes that a step may take (memory_bytes()); 0: as many as it likes. Where that is less, values of the forward half are
  // computed again for the backward half, as few as it takes. An Error has the least that is possible where it is more.
  int64_t memory = 0;
  // So many batches make a step: their gradients are added up, and the optimizer moves by the mean.
  int accumulate = 1;
  bool exact_convolutions = false;  // CompileOptions' (compile.h)
  // Gradients whose norm together is above are scaled down to it; 0: they stay as they are. Where this or accumulate is given,
  // gradients are compiled, and the optimizer's update is the tape's.
  double clip_norm = 0;
};

class CompiledStep {
 public:
  CompiledStep(CompiledStep &&) noexcept;
  CompiledStep &operator=(CompiledStep &&) noexcept;
  ~CompiledStep();

  // Takes a step, or of several batches (StepOptions::accumulate) a part of one, and gives the loss from before it. Throws
  // where shapes or types are not those of the example.
  float operator()(const Tensor &x, const Tensor &labels) const { return (*this)({x, labels}); }
  float operator()(const std::vector<Tensor> &inputs) const;

  // Ends a step of several batches with those that there were, if any: the last one of an epoch.
  void finish() const;

  // State that kernels cannot reach where it is, since it lies otherwise in memory: copied there and back in every step.
  std::vector<std::string> copied() const;
  // Of a step: state, inputs, and what is computed of them.
  size_t memory_bytes() const;
  // As CompiledLibrary::watch().
  void watch(std::function<void(const std::string &value)> after_kernel) const;

 private:
  friend CompiledStep compile_step(Module &, const NamedTensors &, const LossOfInputs &, Optimizer &,
                                   const StepOptions &);
  struct Parts;
  explicit CompiledStep(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

// Each part of the net in the mode that it is in, as it is: parameters that require no gradient stay as they are. The elements
// of x and labels mean nothing. The optimizer must live as long as what is returned.
CompiledStep compile_step(Module &net, const Loss &loss, Optimizer &optimizer, const Tensor &x, const Tensor &labels,
                          const StepOptions &options = {});
// The same for a net of several inputs.
CompiledStep compile_step(Module &net, const NamedTensors &inputs, const LossOfInputs &loss, Optimizer &optimizer,
                          const StepOptions &options = {});

}  // namespace saltern
