#include "runtime/optim/optimizer.h"

#include <set>

namespace saltern {

Optimizer::Optimizer(Module &module, Update update) : update_(std::move(update)) {
  for (auto &[name, variable] : module.named_parameters()) {
    Parameter p = {name, variable, Tensor::zeros({}, Type::i64), {}};
    if (!variable.value().is_dense()) fail("the parameter '", name, "' has holes in its memory");
    for (size_t s = 0; s < update_.slots.size(); ++s) {
      const Tensor slot = Tensor::like(variable.value());
      slot.copy_from(Tensor::zeros(slot.shape()));
      p.slots.push_back(slot);
    }
    parameters_.push_back(std::move(p));
  }
  if (parameters_.empty())
    fail("an optimizer was given a module without parameters (", module.class_name(),
         "): does its visit() name its parameters and children?");
}

void Optimizer::check(const Variable &loss) const {
  if (!loss.defined()) fail("Optimizer::check() of an undefined Variable");
  std::set<const void *> known;
  for (const Parameter &p : parameters_) known.insert(p.variable.identity());
  for (const auto &step : steps_behind({loss}))
    for (size_t i = 0; i < step->inputs().size(); ++i) {
      const Variable &in = step->inputs()[i];
      if (in.requires_gradient() && !in.step() && !known.count(in.identity()))
        fail("the loss depends on something that requires a gradient and that the optimizer does not know: input ", i,
             " of operation '", step->operation().name, "', ", to_string(in.shape()),
             "; does visit() of its module name it?");
    }
}

void Optimizer::step() {
  const Tensor rate = Tensor::full({}, update_.rate);
  for (const Parameter &p : parameters_) {
    if (!p.variable.gradient().defined()) continue;
    std::vector<Tensor> in = {p.variable.value(), Tensor(), rate, p.steps};
    in.insert(in.end(), p.slots.begin(), p.slots.end());
    update_in_place(update_, p.variable.gradient(), in);
  }
}

void Optimizer::clear_gradients() const {
  for (const Parameter &p : parameters_) p.variable.set_gradient({});
}

std::map<std::string, Tensor> Optimizer::state() const {
  std::map<std::string, Tensor> all;
  for (const Parameter &p : parameters_) {
    all["steps." + p.name] = p.steps;
    for (size_t s = 0; s < p.slots.size(); ++s) all[update_.slots[s] + "." + p.name] = p.slots[s];
  }
  return all;
}

void Optimizer::load_state(const std::map<std::string, Tensor> &state) { copy_state(this->state(), state); }

namespace {

Update sgd(const SgdOptions &o) {
  const Attributes a = {{"momentum", o.momentum},
                        {"dampening", o.dampening},
                        {"weight_decay", o.weight_decay},
                        {"nesterov", int64_t{o.nesterov}}};
  return {"sgd", a, o.momentum == 0 ? std::vector<std::string>() : std::vector<std::string>{"momentum"}, o.rate};
}

Update adam(const AdamOptions &o, bool decoupled) {
  const Attributes a = {{"beta1", o.beta1},
                        {"beta2", o.beta2},
                        {"epsilon", o.epsilon},
                        {"weight_decay", o.weight_decay},
                        {"decoupled", int64_t{decoupled}}};
  return {"adam", a, {"mean", "square"}, o.rate};
}

Update sparse_adam(const AdamOptions &o) {
  Update update = adam(o, false);
  update.attributes.set("only_touched", int64_t{1});
  return update;
}

}  // namespace

SGD::SGD(Module &module, const SgdOptions &options) : Optimizer(module, sgd(options)) {}
Adam::Adam(Module &module, const AdamOptions &options) : Optimizer(module, adam(options, false)) {}
SparseAdam::SparseAdam(Module &module, const AdamOptions &options) : Optimizer(module, sparse_adam(options)) {}
AdamW::AdamW(Module &module, const AdamOptions &options) : Optimizer(module, adam(options, true)) {}

}  // namespace saltern
