#pragma once
// Parameters in groups, which an update (updates.h) moves in place. Every optimizer of rows.h, by the names that PyTorch and
// Keras have for it and its options:
//
//   Optimizer adamw = optimizer("adamw", net, {{"lr", 1e-3}, {"weight_decay", 0.1}});
//   Optimizer lion = optimizer("keras.lion", {{backbone.named_parameters(), {{"learning_rate", 1e-5}}},
//                                             {head.named_parameters()}}, {{"learning_rate", 1e-4}});
//   backward(loss);  adamw.step();  adamw.clear_gradients();
//
// SGD, Adam, AdamW and SparseAdam have types, too:  SGD optimizer(net, {0.02, 0.9});
// LBFGS, which asks for the loss many times, is in lbfgs.h; schedules of rates are in schedules.h.
// Steps are counted for each parameter from its first gradient on, as PyTorch does.

#include <map>
#include <string>
#include <vector>

#include "runtime/layers/module.h"
#include "runtime/optim/updates.h"

namespace saltern {

// Parameters with options of their own, beside those that all groups have.
struct ParameterGroup {
  std::vector<std::pair<std::string, Variable>> parameters;
  Attributes options = {};
};

class Optimizer {
 public:
  // One group with all parameters of a module. Throws where it has none.
  Optimizer(Module &module, Update update);
  // Of a row, with options for all groups. Throws where a parameter, or a name, is there twice.
  Optimizer(const std::string &row, const std::vector<ParameterGroup> &groups, const Attributes &options = {});
  void add_group(const ParameterGroup &group);

  // Throws where the loss depends on something that requires a gradient and is no parameter here, so that it would stay
  // as it is: a Module whose visit() does not name all its parts. For the first step of a training, before backward().
  void check(const Variable &loss) const;

  // Updates every parameter that has a gradient.
  void step();
  void clear_gradients() const;
  std::vector<Variable> parameters() const;

  size_t group_count() const { return groups_.size(); }
  double rate(size_t group = 0) const { return groups_.at(group).rate; }
  void set_rate(size_t group, double rate) { groups_.at(group).rate = rate; }
  void set_rate(double rate);  // of all groups
  const Update &update(size_t group = 0) const { return groups_.at(group); }
  // That of the parameter of this name.
  const Update &update_of(const std::string &parameter) const;
  // Another value of an option of a group, such as a momentum that a schedule moves.
  void set_option(size_t group, const std::string &name, const Attribute &value);

  // Slots of every parameter ("momentum.0.weight") and its steps ("steps.0.weight"), sharing memory with this optimizer.
  std::map<std::string, Tensor> state() const;
  void load_state(const std::map<std::string, Tensor> &state);

 private:
  struct Parameter {
    std::string name;
    Variable variable;
    size_t group;
    Tensor steps;  // i64, of one element
    std::vector<std::pair<std::string, Tensor>> slots;
  };
  void add(const std::string &name, const Variable &variable);

  std::string row_;     // empty: an update of one's own
  Attributes options_;  // of all groups
  std::vector<Update> groups_;
  std::vector<Parameter> parameters_;
};

Optimizer optimizer(const std::string &row, Module &module, const Attributes &options = {});
Optimizer optimizer(const std::string &row, const std::vector<ParameterGroup> &groups, const Attributes &options = {});

// ---- With types.

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
