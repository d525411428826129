#pragma once
// Updates of parameters (updates.h), in place.
//   SGD:   g' = g + decay p;  v = momentum v + (1 - dampening) g';  p -= rate (nesterov ? g' + momentum v : v)
//          without momentum p -= rate g', and no v is kept
//   Adam:  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  p -= rate (m / c1) / (sqrt(v / c2) + epsilon)
//   AdamW: Adam whose weight decay acts on p itself, not on g
//   SparseAdam: Adam of the rows that a sparse gradient has (runtime/autograd/sparse.h); others, and their m and v, stay
// Steps are counted for each parameter from its first gradient on, as PyTorch does: c1 = 1 - b1^steps, c2 likewise.
//
//   SGD optimizer(net, {0.02, 0.9});
//   backward(loss);  optimizer.step();  optimizer.clear_gradients();

#include <map>
#include <string>
#include <vector>

#include "runtime/layers/module.h"
#include "runtime/optim/updates.h"

namespace saltern {

class Optimizer {
 public:
  // Throws where the module has no parameters.
  Optimizer(Module &module, Update update);

  // Throws where the loss depends on something that requires a gradient and is no parameter here, so that it would stay
  // as it is: a Module whose visit() does not name all its parts. For the first step of a training, before backward().
  void check(const Variable &loss) const;

  // Updates every parameter that has a gradient.
  void step();
  void clear_gradients() const;

  double rate() const { return update_.rate; }
  void set_rate(double rate) { update_.rate = rate; }
  const Update &update() const { return update_; }

  // Slots of every parameter ("momentum.0.weight") and its steps ("steps.0.weight"), sharing memory with this optimizer.
  std::map<std::string, Tensor> state() const;
  void load_state(const std::map<std::string, Tensor> &state);

 private:
  struct Parameter {
    std::string name;
    Variable variable;
    Tensor steps;  // i64, of one element
    std::vector<Tensor> slots;
  };

  Update update_;
  std::vector<Parameter> parameters_;
};

struct SgdOptions {
  double rate = 0.01, momentum = 0, weight_decay = 0, dampening = 0;
  bool nesterov = false;
};

struct SGD : Optimizer {
  explicit SGD(Module &module, const SgdOptions &options = {});
};

struct AdamOptions {
  double rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
};

struct Adam : Optimizer {
  explicit Adam(Module &module, const AdamOptions &options = {});
};

struct SparseAdam : Optimizer {
  explicit SparseAdam(Module &module, const AdamOptions &options = {});
};

struct AdamW : Optimizer {
  explicit AdamW(Module &module, const AdamOptions &options = {1e-3, 0.9, 0.999, 1e-8, 1e-2});
};

}  // namespace saltern
