#pragma once
// Compiled kernels kept on disk (cache.h), by what they compute: a model that is compiled again, or another one with a
// layer of the same shape, takes them from here. They are kept under a symbol of their own that is renamed when they are
// taken out.

#include <string>
#include <vector>

#include "generators/model/cache.h"
#include "generators/model/emit.h"
#include "schedules/machine.h"

namespace saltern::generators {

class KernelCache {
 public:
  // Makes the folder if need be.
  explicit KernelCache(const std::string &folder) : cache_(folder) {}

  bool has(const EmittedKernel &kernel, const std::vector<CpuTarget> &targets) const;
  // Puts the kernel's objects into `to` as SYMBOL*.o, and SYMBOL.memory, compiling it first if it is not here.
  void provide(const EmittedKernel &kernel, const std::vector<CpuTarget> &targets, const std::string &symbol,
               const std::string &to) const;
  // The same for Halide's run-time support.
  void provide_halide_runtime(const std::string &object) const;

 private:
  Cache cache_;
};

}  // namespace saltern::generators
