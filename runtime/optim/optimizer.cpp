#include "runtime/optim/optimizer.h"

#include <set>

namespace saltern {

Optimizer::Optimizer(Module &module, Update update) : groups_({std::move(update)}) {
  for (const auto &[name, variable] : module.named_parameters()) add(name, variable);
  if (parameters_.empty())
    fail("an optimizer was given a module without parameters (", module.class_name(),
         "): does its visit() name its parameters and children?");
}

Optimizer::Optimizer(const std::string &row, const std::vector<ParameterGroup> &groups, const Attributes &options)
    : row_(row), options_(options) {
  if (groups.empty()) fail("the optimizer '", row, "' was given no parameters");
  for (const ParameterGroup &group : groups) add_group(group);
}

void Optimizer::add_group(const ParameterGroup &group) {
  if (row_.empty()) fail("an optimizer that is no row of the table has one group of parameters");
  if (group.parameters.empty())
    fail("a group of the optimizer '", row_, "' has no parameters");
  Attributes all = options_;
  for (const auto &[name, value] : group.options) all.set(name, value);
  groups_.push_back(saltern::update_of(row_, all));
  if (groups_.size() > 1) groups_.back().rate_name += "." + std::to_string(groups_.size() - 1);
  for (const auto &[name, variable] : group.parameters) add(name, variable);
}

void Optimizer::add(const std::string &name, const Variable &variable) {
  if (!variable.value().is_dense()) fail("the parameter '", name, "' has holes in its memory");
  for (const Parameter &p : parameters_)
    if (p.name == name || p.variable.identity() == variable.identity())
      fail("an optimizer was given the parameter '", name, "' twice",
           p.name == name ? "" : ", first as '" + p.name + "'");
  parameters_.push_back(
      {name, variable, groups_.size() - 1, Tensor::zeros({}, Type::i64), slots_of(groups_.back(), variable.value())});
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
  std::vector<Tensor> rates;
  for (const Update &group : groups_) rates.push_back(Tensor::full({}, group.rate));
  for (const Parameter &p : parameters_) {
    if (!p.variable.gradient().defined()) continue;
    std::vector<Tensor> in = {p.variable.value(), Tensor(), rates[p.group], p.steps};
    for (const auto &[name, slot] : p.slots) in.push_back(slot);
    update_in_place(groups_[p.group], p.variable.gradient(), in);
  }
}

void Optimizer::clear_gradients() const {
  for (const Parameter &p : parameters_) p.variable.set_gradient({});
}

std::vector<Variable> Optimizer::parameters() const {
  std::vector<Variable> all;
  for (const Parameter &p : parameters_) all.push_back(p.variable);
  return all;
}

void Optimizer::set_rate(double rate) {
  for (Update &group : groups_) group.rate = rate;
}

const Update &Optimizer::update_of(const std::string &parameter) const {
  for (const Parameter &p : parameters_)
    if (p.name == parameter) return groups_[p.group];
  fail("the optimizer has no parameter '", parameter, "': was it made of another net?");
}

void Optimizer::set_option(size_t group, const std::string &name, const Attribute &value) {
  Update &update = groups_.at(group);
  if (!update.attributes.has(name)) fail("the update '", update.operation, "' has no option '", name, "'");
  update.attributes.set(name, value);
  // It may be one that decides on what is kept, as a momentum does.
  for (Parameter &p : parameters_) {
    if (p.group != group) continue;
    auto slots = slots_of(update, p.variable.value());
    for (auto &[slot, tensor] : slots)
      for (const auto &[known, kept] : p.slots)
        if (known == slot) tensor = kept;
    p.slots = std::move(slots);
  }
}

std::map<std::string, Tensor> Optimizer::state() const {
  std::map<std::string, Tensor> all;
  for (const Parameter &p : parameters_) {
    all["steps." + p.name] = p.steps;
    for (const auto &[name, slot] : p.slots) all[name + "." + p.name] = slot;
  }
  return all;
}

void Optimizer::load_state(const std::map<std::string, Tensor> &state) { copy_state(this->state(), state); }

Optimizer optimizer(const std::string &row, Module &module, const Attributes &options) {
  return Optimizer(module, update_of(row, options));
}
Optimizer optimizer(const std::string &row, const std::vector<ParameterGroup> &groups, const Attributes &options) {
  return Optimizer(row, groups, options);
}

namespace {

Attributes options_of(const SgdOptions &o) {
  return {{"lr", o.rate},
          {"momentum", o.momentum},
          {"dampening", o.dampening},
          {"weight_decay", o.weight_decay},
          {"nesterov", int64_t{o.nesterov}}};
}

Attributes options_of(const AdamOptions &o, bool decays = true) {
  Attributes all = {{"lr", o.rate}, {"betas", Reals{o.beta1, o.beta2}}, {"eps", o.epsilon}};
  if (decays) all.set("weight_decay", o.weight_decay);
  return all;
}

}  // namespace

SGD::SGD(Module &module, const SgdOptions &options)
    : Optimizer(module, saltern::update_of("sgd", options_of(options))) {}
Adam::Adam(Module &module, const AdamOptions &options)
    : Optimizer(module, saltern::update_of("adam", options_of(options))) {}
SparseAdam::SparseAdam(Module &module, const AdamOptions &options)
    : Optimizer(module, saltern::update_of("sparseadam", options_of(options, false))) {}
AdamW::AdamW(Module &module, const AdamOptions &options)
    : Optimizer(module, saltern::update_of("adamw", options_of(options))) {}

}  // namespace saltern
