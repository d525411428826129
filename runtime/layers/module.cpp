#include "runtime/layers/module.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <sstream>
#include <typeinfo>

#include "runtime/tensor/memory.h"

namespace saltern {

namespace {

void erase_all(std::string &text, const std::string &part) {
  for (size_t at; (at = text.find(part)) != std::string::npos;) text.erase(at, part.size());
}

}  // namespace

std::string Module::class_name() const {
  int status = 0;
  const std::unique_ptr<char, void (*)(void *)> plain(
      abi::__cxa_demangle(typeid(*this).name(), nullptr, nullptr, &status), std::free);
  std::string name = status == 0 && plain ? plain.get() : typeid(*this).name();
  for (const char *part : {"saltern::", "(anonymous namespace)::"}) erase_all(name, part);
  return name;
}

EvaluationMode::EvaluationMode(Module &module) {
  for (Module *m : module.with_parts()) before_.emplace_back(m, m->training());
  module.eval();
}

EvaluationMode::~EvaluationMode() {
  for (auto &[module, training] : before_) module->training_ = training;
}

Variable inside(const std::string &name, Module &part, const Variable &x) {
  const auto said = [&](const Error &e) { return name + " (" + part.class_name() + "): " + e.what(); };
  try {
    return part(x);
  } catch (const OutOfMemory &) {
    throw;
  } catch (const BadIndex &e) {
    throw BadIndex(said(e));
  } catch (const Unsupported &e) {
    throw Unsupported(said(e));
  } catch (const Error &e) {
    throw Error(said(e));
  }
}

void Visitor::child(const std::string &name, Module &m) {
  const std::string outer = prefix_;
  prefix_ += name + ".";
  m.walk(*this);
  prefix_ = outer;
}

size_t Module::register_forward_pre_hook(PreHook hook) {
  pre_hooks_[hooks_made_] = std::move(hook);
  return hooks_made_++;
}

size_t Module::register_forward_hook(Hook hook) {
  hooks_[hooks_made_] = std::move(hook);
  return hooks_made_++;
}

void Module::remove_hook(size_t number) {
  pre_hooks_.erase(number);
  hooks_.erase(number);
}

void Module::before(const Variable &x) {
  for (const auto &[number, hook] : pre_hooks_) hook(*this, x);
}

Variable Module::behind(const Variable &x, Variable y) {
  for (const auto &[number, hook] : hooks_)
    if (const Variable changed = hook(*this, x, y); changed.defined()) y = changed;
  return y;
}

std::vector<std::pair<std::string, Module *>> Module::children() {
  struct Collect : Visitor {
    std::vector<std::pair<std::string, Module *>> found;
    void child(const std::string &name, Module &m) override { found.emplace_back(name, &m); }
  } visitor;
  visit(visitor);
  return visitor.found;
}

std::ostream &operator<<(std::ostream &out, Module &module) {
  out << module.class_name() << "(" << module.options();
  const auto parts = module.children();
  for (const auto &[name, part] : parts) {
    std::ostringstream text;
    text << *part;
    out << "\n  (" << name << "): ";
    for (const char c : text.str()) c == '\n' ? out << "\n  " : out << c;
  }
  return out << (parts.empty() ? ")" : "\n)");
}

std::vector<Module *> Module::with_parts() {
  struct Collect : Visitor {
    std::vector<Module *> found;
    void on_module(Module &m) override { found.push_back(&m); }
  } visitor;
  walk(visitor);
  return visitor.found;
}

void Module::train(bool on) {
  for (Module *m : with_parts()) m->training_ = on;
}

std::vector<std::pair<std::string, Variable>> Module::named_parameters() {
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

std::vector<Variable> Module::parameters() {
  std::vector<Variable> all;
  for (auto &[name, p] : named_parameters()) all.push_back(p);
  return all;
}

int64_t Module::parameter_count() {
  int64_t n = 0;
  for (const Variable &p : parameters()) n += p.size();
  return n;
}

void Module::clear_gradients() {
  for (const Variable &p : parameters()) p.set_gradient({});
}

void Module::requires_grad(bool on) {
  for (const Variable &p : parameters()) p.set_requires_gradient(on);
}

std::map<std::string, Tensor> Module::state() {
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

void copy_state(const std::map<std::string, Tensor> &to, const std::map<std::string, Tensor> &from) {
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

void Module::load_state(const std::map<std::string, Tensor> &state) { copy_state(this->state(), state); }

}  // namespace saltern
