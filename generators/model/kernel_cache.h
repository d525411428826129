#pragma once
// Compiled kernels kept on disk, by what they compute: a model that is compiled again, or another one with a layer of
// the same shape, takes them from here.
//
// An entry is a folder with the kernel's objects, under a symbol of its own that is renamed when it is taken out, and
// the key in full, so that two keys with one hash never stand for each other. Several processes may use one cache.

#include <string>
#include <vector>

#include "generators/model/emit.h"
#include "schedules/machine.h"

namespace saltern::generators {

class KernelCache {
 public:
  // Makes the folder if need be.
  explicit KernelCache(const std::string &folder);

  bool has(const EmittedKernel &kernel, const std::vector<CpuTarget> &targets) const;
  // Puts the kernel's objects into `to` as SYMBOL*.o, and SYMBOL.memory, compiling it first if it is not here.
  void provide(const EmittedKernel &kernel, const std::vector<CpuTarget> &targets, const std::string &symbol,
               const std::string &to) const;
  // The same for Halide's run-time support.
  void provide_halide_runtime(const std::string &object) const;

 private:
  std::string entry(const std::string &key) const;
  template <typename Compile>
  std::string find_or_make(const std::string &key, const Compile &compile) const;

  std::string folder_;
};

}  // namespace saltern::generators
