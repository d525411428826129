#pragma once
// What layers and nets have in common: parameters, buffers and children by name, training and evaluation mode, state.
//
//   struct Block : Module {
//     nn::Layer first = nn::Linear(8, 8), second = nn::Linear(8, 8);          // runtime/nn/all.h
//     Variable forward(const Variable &x) override { return x + second(relu(first(x))); }
//     void visit(Visitor &v) override {
//       v.child("first", first);
//       v.child("second", second);
//     }
//   };
//
// Names are dotted, as in PyTorch: first.weight. A copy of a layer shares its parameters.

#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "runtime/autograd/variable.h"

namespace saltern {

class Module;

// Walks a module's parts; each override gets what it asks for, under its dotted name.
class Visitor {
 public:
  virtual ~Visitor() = default;

  void parameter(const std::string &name, Variable &p) { on_parameter(prefix_ + name, p); }
  void buffer(const std::string &name, Tensor &b) { on_buffer(prefix_ + name, b); }
  // Goes on into it.
  virtual void child(const std::string &name, Module &m);

 protected:
  virtual void on_parameter(const std::string &, Variable &) {}
  virtual void on_buffer(const std::string &, Tensor &) {}
  virtual void on_module(Module &) {}

 private:
  friend class Module;
  std::string prefix_;
};

class Module {
 public:
  Module() = default;
  Module(const Module &) = default;
  Module &operator=(const Module &) = default;
  virtual ~Module() = default;

  // For modules of one input; others have a function of their own.
  virtual Variable forward(const Variable &) { fail(class_name(), " has no forward() of one input"); }
  Variable operator()(const Variable &x) {
    before(x);
    return behind(x, forward(x));
  }

  // What it is called where it is printed and in messages, and what stands there in brackets.
  virtual std::string class_name() const;
  virtual std::string options() const { return {}; }

  // Names all parts to the visitor.
  virtual void visit(Visitor &) {}
  void walk(Visitor &visitor) {
    visitor.on_module(*this);
    visit(visitor);
  }

  // Called before forward() with what goes in.
  using PreHook = std::function<void(Module &, const Variable &x)>;
  // Called behind it; what it gives, unless that is undefined, comes out instead.
  using Hook = std::function<Variable(Module &, const Variable &x, const Variable &y)>;
  // Each gives the number that takes it away again.
  size_t register_forward_pre_hook(PreHook hook);
  size_t register_forward_hook(Hook hook);
  void remove_hook(size_t number);

  // This, and all that it is made of.
  std::vector<Module *> with_parts();
  // What it names as its children.
  std::vector<std::pair<std::string, Module *>> children();
  bool training() const { return training_; }
  void train(bool on = true);
  void eval() { train(false); }

  // Each once, under its first name, in the order of visiting.
  std::vector<std::pair<std::string, Variable>> named_parameters();
  std::vector<Variable> parameters();
  int64_t parameter_count();
  void clear_gradients();
  // Whether its parameters get gradients: without, they stay as they are in training.
  void requires_grad(bool on = true);

  // Parameters and buffers by name, sharing memory with this module. Row-major or not: strides tell.
  std::map<std::string, Tensor> state();
  // Copies values in; names and shapes must be those of state().
  void load_state(const std::map<std::string, Tensor> &state);

 protected:
  // Call the hooks.
  void before(const Variable &x);
  Variable behind(const Variable &x, Variable y);
  bool has_hooks() const { return !pre_hooks_.empty() || !hooks_.empty(); }

 private:
  friend class EvaluationMode;
  bool training_ = true;
  size_t hooks_made_ = 0;
  std::map<size_t, PreHook> pre_hooks_;
  std::map<size_t, Hook> hooks_;
};

// As PyTorch prints nets: a line for each part, those of parts further in.
std::ostream &operator<<(std::ostream &out, Module &module);

// While it lives, a module and its parts are in evaluation mode; then each is in the mode again that it was in.
class EvaluationMode {
 public:
  explicit EvaluationMode(Module &module);
  ~EvaluationMode();
  EvaluationMode(const EvaluationMode &) = delete;
  EvaluationMode &operator=(const EvaluationMode &) = delete;

 private:
  std::vector<std::pair<Module *, bool>> before_;
};

// A part's result; its errors begin with what it is called and its class. For modules that are made of others.
Variable inside(const std::string &name, Module &part, const Variable &x);

// Copies the tensors of `from` into those of `to`; both must have the same names, shapes and types.
void copy_state(const std::map<std::string, Tensor> &to, const std::map<std::string, Tensor> &from);

}  // namespace saltern
