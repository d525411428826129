#include "runtime/optim/optimizer.h"

#include <cmath>
#include <set>

#include "runtime/kernels/kernels.h"
#include "runtime/tensor/strided.h"

namespace saltern {

Optimizer::Optimizer(Module &module, double rate, std::vector<std::string> slot_names)
    : rate_(rate), slot_names_(std::move(slot_names)) {
  for (auto &[name, variable] : module.named_parameters()) {
    Parameter p = {name, variable, {}, Tensor::zeros({}, Type::i64)};
    if (!variable.value().is_dense()) fail("the parameter '", name, "' has holes in its memory");
    for (size_t s = 0; s < slot_names_.size(); ++s) {
      const Tensor slot = Tensor::like(variable.value());
      slot.copy_from(Tensor::zeros(slot.shape()));
      p.slots.push_back(slot);
    }
    parameters_.push_back(std::move(p));
  }
  if (parameters_.empty())
    fail("an optimizer was given a module without parameters (", class_name(module),
         "): does its visit() name its parameters and children?");
}

void Optimizer::check(const Variable &loss) const {
  if (!loss.defined()) fail("Optimizer::check() of an undefined Variable");
  std::set<const void *> known;
  for (const Parameter &p : parameters_) known.insert(p.variable.identity());
  std::vector<std::shared_ptr<Step>> open = {loss.step()};
  std::set<const Step *> seen;
  while (!open.empty()) {
    const std::shared_ptr<Step> step = std::move(open.back());
    open.pop_back();
    if (!step || !seen.insert(step.get()).second) continue;
    for (size_t i = 0; i < step->inputs().size(); ++i) {
      const Variable &in = step->inputs()[i];
      if (in.requires_gradient() && !in.step() && !known.count(in.identity()))
        fail("the loss depends on something that requires a gradient and that the optimizer does not know: input ", i,
             " of operation '", step->operation().name, "', ", to_string(in.shape()),
             "; does visit() of its module name it?");
      open.push_back(in.step());
    }
  }
}

void Optimizer::step() {
  for (const Parameter &p : parameters_) {
    if (!p.variable.gradient().defined()) continue;
    ++*p.steps.data<int64_t>();
    update(p, arranged_like(p.variable.gradient().value(), p.variable.value()));
  }
}

void Optimizer::clear_gradients() const {
  for (const Parameter &p : parameters_) p.variable.set_gradient({});
}

std::map<std::string, Tensor> Optimizer::state() const {
  std::map<std::string, Tensor> all;
  for (const Parameter &p : parameters_) {
    all["steps." + p.name] = p.steps;
    for (size_t s = 0; s < slot_names_.size(); ++s) all[slot_names_[s] + "." + p.name] = p.slots[s];
  }
  return all;
}

void Optimizer::load_state(const std::map<std::string, Tensor> &state) { copy_state(this->state(), state); }

void SGD::update(const Parameter &p, const Tensor &gradient) const {
  const auto real = [](double v) { return static_cast<float>(v); };
  const View value = flat(p.variable.value());
  const bool moves = options_.momentum != 0;
  // The kernel always has a velocity: without momentum anything finite may go in, and what comes out is let go.
  const View before = moves ? flat(p.slots[0]) : flat(gradient);
  const View after = moves ? before : flat(Tensor::like(gradient));
  // The first step takes the gradient as it is, as PyTorch does; velocity starts at zero, so only dampening differs.
  const double dampening = p.step_count() == 1 || !moves ? 0 : options_.dampening;
  call("sgd", {value, flat(gradient), before, real(rate()), real(options_.momentum), real(dampening),
               real(options_.weight_decay), options_.nesterov ? 1.0f : 0.0f, value, after});
}

void Adam::update(const Parameter &p, const Tensor &gradient) const {
  const auto real = [](double v) { return static_cast<float>(v); };
  const View value = flat(p.variable.value()), mean = flat(p.slots[0]), square = flat(p.slots[1]);
  const double t = static_cast<double>(p.step_count());
  call("adam", {value, flat(gradient), mean, square, real(rate()), real(options_.beta1), real(options_.beta2),
                real(options_.epsilon), real(options_.weight_decay), real(1 - std::pow(options_.beta1, t)),
                real(1 - std::pow(options_.beta2, t)), decoupled_ ? 1.0f : 0.0f, value, mean, square});
}

}  // namespace saltern
