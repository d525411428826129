#pragma once
// What layers and nets have in common: parameters, buffers and children by name, training and evaluation mode, state.
//
//   struct Block : Module {
//     Linear first, second;
//     explicit Block(Random &random) : first(random, 8, 8), second(random, 8, 8) {}
//     Variable forward(const Variable &x) override { return x + second(relu(first(x))); }
//     void visit(Visitor &v) override {
//       v.child("first", first);
//       v.child("second", second);
//     }
//   };
//
// Names are dotted, as in PyTorch: first.weight. A copy of a layer shares its parameters.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/autograd/variable.h"
#include "runtime/tensor/memory.h"

namespace saltern {

class Module;

// Walks a module's parts; each override gets what it asks for, under its dotted name.
class Visitor {
 public:
  virtual ~Visitor() = default;

  void parameter(const std::string &name, Variable &p) { on_parameter(prefix_ + name, p); }
  void buffer(const std::string &name, Tensor &b) { on_buffer(prefix_ + name, b); }
  void child(const std::string &name, Module &m);

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
  virtual Variable forward(const Variable &) { fail("this module has no forward() of one input"); }
  Variable operator()(const Variable &x) { return forward(x); }

  // Names all parts to the visitor.
  virtual void visit(Visitor &) {}
  void walk(Visitor &visitor) {
    visitor.on_module(*this);
    visit(visitor);
  }

  bool training() const { return training_; }
  void train(bool on = true);
  void eval() { train(false); }

  // Each once, under its first name, in the order of visiting.
  std::vector<std::pair<std::string, Variable>> named_parameters();
  std::vector<Variable> parameters();
  int64_t parameter_count();
  void clear_gradients();

  // Parameters and buffers by name, sharing memory with this module. Row-major or not: strides tell.
  std::map<std::string, Tensor> state();
  // Copies values in; names and shapes must be those of state().
  void load_state(const std::map<std::string, Tensor> &state);

 private:
  friend class EvaluationMode;
  bool training_ = true;
};

// While it lives, a module and its parts are in evaluation mode; then each is in the mode again that it was in.
class EvaluationMode {
 public:
  explicit EvaluationMode(Module &module) {
    struct Note : Visitor {
      std::vector<std::pair<Module *, bool>> modes;
      void on_module(Module &m) override { modes.emplace_back(&m, m.training_); }
    } visitor;
    module.walk(visitor);
    before_ = std::move(visitor.modes);
    module.eval();
  }
  ~EvaluationMode() {
    for (auto &[module, training] : before_) module->training_ = training;
  }
  EvaluationMode(const EvaluationMode &) = delete;
  EvaluationMode &operator=(const EvaluationMode &) = delete;

 private:
  std::vector<std::pair<Module *, bool>> before_;
};

// The name of a module's class, as messages say it: "Linear".
std::string class_name(const Module &module);

// A part's result; its errors begin with what it is called and its class. For modules that are made of others.
inline Variable inside(const std::string &name, Module &part, const Variable &x) {
  try {
    return part.forward(x);
  } catch (const OutOfMemory &) {
    throw;
  } catch (const Error &e) {
    fail(name, " (", class_name(part), "): ", e.what());
  }
}

inline void Visitor::child(const std::string &name, Module &m) {
  const std::string outer = prefix_;
  prefix_ += name + ".";
  m.walk(*this);
  prefix_ = outer;
}

inline void Module::train(bool on) {
  struct Switch : Visitor {
    bool on;
    explicit Switch(bool on) : on(on) {}
    void on_module(Module &m) override { m.training_ = on; }
  } visitor(on);
  walk(visitor);
}

inline std::vector<std::pair<std::string, Variable>> Module::named_parameters() {
  struct Collect : Visitor {
    std::vector<std::pair<std::string, Variable>> found;
    std::set<const void *> seen;
    void on_parameter(const std::string &name, Variable &p) override {
      if (p.defined() && seen.insert(p.identity()).second) found.emplace_back(name, p);
    }
  } visitor;
  walk(visitor);
  return visitor.found;
}

inline std::vector<Variable> Module::parameters() {
  std::vector<Variable> all;
  for (auto &[name, p] : named_parameters()) all.push_back(p);
  return all;
}

inline int64_t Module::parameter_count() {
  int64_t n = 0;
  for (const Variable &p : parameters()) n += p.value().size();
  return n;
}

inline void Module::clear_gradients() {
  for (const Variable &p : parameters()) p.set_gradient({});
}

inline std::map<std::string, Tensor> Module::state() {
  struct Collect : Visitor {
    std::map<std::string, Tensor> found;
    void on_parameter(const std::string &name, Variable &p) override {
      if (p.defined()) found[name] = p.value();
    }
    void on_buffer(const std::string &name, Tensor &b) override {
      if (b.defined()) found[name] = b;
    }
  } visitor;
  walk(visitor);
  return visitor.found;
}

// Copies the tensors of `from` into those of `to`; both must have the same names, shapes and types.
inline void copy_state(const std::map<std::string, Tensor> &to, const std::map<std::string, Tensor> &from) {
  for (const auto &[name, t] : from)
    if (!to.count(name)) fail("the state has a tensor '", name, "' that is not expected");
  for (const auto &[name, t] : to) {
    auto it = from.find(name);
    if (it == from.end()) fail("the state has no tensor '", name, "'");
    if (it->second.shape() != t.shape() || it->second.type() != t.type())
      fail("the state's '", name, "' is ", facts(it->second.type()).name, to_string(it->second.shape()), "; expected ",
           facts(t.type()).name, to_string(t.shape()));
  }
  for (const auto &[name, t] : to) t.copy_from(from.at(name));
}

inline void Module::load_state(const std::map<std::string, Tensor> &state) { copy_state(this->state(), state); }

}  // namespace saltern
