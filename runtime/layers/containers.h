#pragma once
// Modules that hold others.
//
//   Sequential net{nn::Conv2d(1, 32, 3), nn::ReLU(), nn::Flatten(), nn::Linear(21632, 10)};
//   ModuleList blocks{Block(), Block()};                       for (Module &block : blocks) x = block(x);
//   ModuleDict heads;                                          heads.add("left", nn::Linear(64, 2));
//
// Modules are given by value, or as shared_ptr to be shared with other nets. Names are their positions: "0.weight"; those
// of a ModuleDict are given. Between braces layers are made from left to right, and so draw the parameters that a net of
// Python's draws from the same seed; between parentheses the order is the compiler's.

#include <memory>

#include "runtime/layers/module.h"

namespace saltern {

// What the three have in common: parts by name, in the order in which they were added.
class Container : public Module {
 public:
  size_t size() const { return parts_.size(); }
  Module &at(size_t i) const { return *parts_.at(i).second; }
  void visit(Visitor &v) override {
    for (auto &[name, part] : parts_) v.child(name, *part);
  }

  // for (Module &part : container)
  class Iterator {
   public:
    Iterator(const Container &all, size_t i) : all_(all), i_(i) {}
    Module &operator*() const { return all_.at(i_); }
    Iterator &operator++() { return ++i_, *this; }
    bool operator!=(const Iterator &other) const { return i_ != other.i_; }

   private:
    const Container &all_;
    size_t i_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 protected:
  template <typename Part>
  void add_named(const std::string &name, Part &&part) {
    using Plain = std::decay_t<Part>;
    std::shared_ptr<Module> held;
    if constexpr (std::is_convertible_v<Plain, std::shared_ptr<Module>>)
      held = std::forward<Part>(part);
    else
      held = std::make_shared<Plain>(std::forward<Part>(part));
    if (!held) fail("a container was given a null module as '", name, "'");
    parts_.emplace_back(name, std::move(held));
  }
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> parts_;
};

// Modules by their positions.
template <typename Self>
class ListOfModules : public Container {
 public:
  ListOfModules() = default;
  template <typename... Parts, typename = std::enable_if_t<(sizeof...(Parts) != 1) ||
                                                           !(std::is_base_of_v<Self, std::decay_t<Parts>> && ...)>>
  explicit ListOfModules(Parts &&...parts) {
    (add(std::forward<Parts>(parts)), ...);
  }
  template <typename Part>
  void add(Part &&part) {
    add_named(std::to_string(size()), std::forward<Part>(part));
  }
};

// One after another. An error says which layer it came from: "layer 3 (Linear): ...".
class Sequential : public ListOfModules<Sequential> {
 public:
  using ListOfModules::ListOfModules;
  Variable forward(const Variable &x) override {
    Variable y = x;
    for (auto &[name, part] : parts_) y = inside("layer " + name, *part, y);
    return y;
  }
};

// To be called one by one.
class ModuleList : public ListOfModules<ModuleList> {
 public:
  using ListOfModules::ListOfModules;
};

// Modules by names of one's own.
class ModuleDict : public Container {
 public:
  template <typename Part>
  void add(const std::string &name, Part &&part) {
    for (const auto &[known, held] : parts_)
      if (known == name) fail("ModuleDict: there is a module '", name, "' already");
    add_named(name, std::forward<Part>(part));
  }
  Module &at(const std::string &name) const {
    for (const auto &[known, part] : parts_)
      if (known == name) return *part;
    fail("ModuleDict: there is no module '", name, "'");
  }
};

}  // namespace saltern
