#pragma once
// Updates of parameters, as kernels, in place.
//   SGD:   g' = g + decay p;  v = momentum v + (1 - dampening) g';  p -= rate (nesterov ? g' + momentum v : v)
//          without momentum p -= rate g', and no v is kept
//   Adam:  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  p -= rate (m / c1) / (sqrt(v / c2) + epsilon)
//   AdamW: Adam whose weight decay acts on p itself, not on g
// Steps are counted for each parameter from its first gradient on, as PyTorch does: c1 = 1 - b1^steps, c2 likewise.
//
//   SGD optimizer(net, {0.02, 0.9});
//   backward(loss);  optimizer.step();  optimizer.clear_gradients();

#include <map>
#include <string>
#include <vector>

#include "runtime/layers/module.h"

namespace saltern {

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Throws where the loss depends on something that requires a gradient and is no parameter here, so that it would stay
  // as it is: a Module whose visit() does not name all its parts. For the first step of a training, before backward().
  void check(const Variable &loss) const;

  // Updates every parameter that has a gradient.
  void step();
  void clear_gradients() const;

  double rate() const { return rate_; }
  void set_rate(double rate) { rate_ = rate; }

  // Slots of every parameter ("momentum.0.weight") and its steps ("steps.0.weight"), sharing memory with this optimizer.
  std::map<std::string, Tensor> state() const;
  void load_state(const std::map<std::string, Tensor> &state);

 protected:
  struct Parameter {
    std::string name;
    Variable variable;
    std::vector<Tensor> slots;
    Tensor steps;  // i64, of one element
    int64_t step_count() const { return *steps.data<int64_t>(); }
  };

  // Throws where the module has no parameters.
  Optimizer(Module &module, double rate, std::vector<std::string> slot_names);
  virtual void update(const Parameter &p, const Tensor &gradient) const = 0;

 private:
  double rate_;
  std::vector<std::string> slot_names_;
  std::vector<Parameter> parameters_;
};

struct SgdOptions {
  double rate = 0.01, momentum = 0, weight_decay = 0, dampening = 0;
  bool nesterov = false;
};

class SGD : public Optimizer {
 public:
  explicit SGD(Module &module, const SgdOptions &options = {})
      : Optimizer(module, options.rate, slot_names(options)), options_(options) {}

 protected:
  void update(const Parameter &p, const Tensor &gradient) const override;

 private:
  static std::vector<std::string> slot_names(const SgdOptions &options) {
    return options.momentum == 0 ? std::vector<std::string>{} : std::vector<std::string>{"momentum"};
  }

  SgdOptions options_;
};

struct AdamOptions {
  double rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
};

class Adam : public Optimizer {
 public:
  explicit Adam(Module &module, const AdamOptions &options = {}) : Adam(module, options, false) {}

 protected:
  Adam(Module &module, const AdamOptions &options, bool decoupled)
      : Optimizer(module, options.rate, {"mean", "square"}), options_(options), decoupled_(decoupled) {}
  void update(const Parameter &p, const Tensor &gradient) const override;

 private:
  AdamOptions options_;
  bool decoupled_;
};

class AdamW : public Adam {
 public:
  explicit AdamW(Module &module, const AdamOptions &options = {1e-3, 0.9, 0.999, 1e-8, 1e-2})
      : Adam(module, options, true) {}
};

}  // namespace saltern
