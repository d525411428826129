#pragma once
// A model that was compiled into a shared library, loaded at run time.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace saltern {

class CompiledLibrary {
 public:
  // `name` is what the library's symbols begin with. Throws an Error that names the file.
  CompiledLibrary(const std::string &path, const std::string &name, int threads = 1);
  ~CompiledLibrary();
  CompiledLibrary(const CompiledLibrary &) = delete;
  CompiledLibrary &operator=(const CompiledLibrary &) = delete;

  struct Edge {
    std::string name;
    Type type;
    Shape shape;
  };
  const std::vector<Edge> &inputs() const { return inputs_; }
  const std::vector<Edge> &outputs() const { return outputs_; }
  // What a run leaves for the next one, in the handle that this has; none for most models.
  const std::vector<Edge> &states() const { return states_; }

  // Of the handle that this has, beside what it is given.
  size_t memory_bytes() const;

  // Inputs and outputs in the model's order.
  std::vector<Tensor> run(const std::vector<Tensor> &inputs) const;

  Tensor state(size_t number) const;
  void set_state(size_t number, const Tensor &value) const;
  // From now on it lies in this tensor's memory, which has its layout, is aligned to 64 bytes and lives as long as runs do.
  void lend_state(size_t number, const Tensor &memory) const;
  Layout state_layout(size_t number) const;

  // From now on, calls `after_step` when a step has run, with the name of the value that it made; null ends that.
  void watch(std::function<void(const std::string &value)> after_step);

 private:
  struct Functions;
  std::function<void(const std::string &)> after_step_;
  std::unique_ptr<Functions> functions_;
  std::vector<Edge> inputs_, outputs_, states_;
};

}  // namespace saltern
