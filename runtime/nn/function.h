#pragma once
// Functions of tensors with PyTorch's names and arguments: rows of a table, which C++ and Python call and layers use.
//
//   const Function softshrink("softshrink", "input, lambd=0.5", by_formula([](const Arguments &a) {
//     return algorithms::shrink(a.value("input"), a.real("lambd"), -a.real("lambd"));
//   }));
//   const Function relu("relu", "input, inplace=False", [](const Arguments &a) { return saltern::relu(a.variable("input")); });
//
//   Variable y = softshrink(x, "lambd"_a = 0.1);      // or variable_of(call("softshrink", {x}, {{"lambd", 0.1}}))
//
// A function by a formula is an operation (runtime/autograd/operation.h): gradients of any order, kernels, compiled models
// and ONNX come from it. A function by others is as differentiable as these are.

#include "runtime/nn/signature.h"

namespace saltern::nn {

// "padding"_a = 1: an argument by its name.
struct NamedArgument {
  const char *name;
  Argument value;
};
struct Name {
  const char *text;
  NamedArgument operator=(Argument value) const { return {text, std::move(value)}; }
};
namespace literals {
inline Name operator""_a(const char *text, size_t) { return {text}; }
}  // namespace literals

// An argument as C++ writes it: by place, by name, or not at all.
struct Given {
  constexpr Given() = default;
  Given(const NamedArgument &a) : name(a.name), value(a.value), is_given(true) {}
  Given(std::initializer_list<Argument> list) : value(list), is_given(true) {}
  template <typename T, typename = std::enable_if_t<std::is_constructible_v<Argument, const T &>>>
  Given(const T &argument) : value(argument), is_given(true) {}

  std::string_view name = {};
  Argument value;
  bool is_given = false;
};
inline const Given none;

// First those by place, then those by name.
struct Call {
  std::vector<Argument> positional;
  Named named;

  explicit Call(std::initializer_list<const Given *> all);
};

struct ByFormula {
  std::function<Values(const Arguments &)> of;
  size_t results = 1;
};

// Of a function that gives a Value.
template <typename F>
ByFormula by_formula(const F &f) {
  return {[f](const Arguments &a) -> Values { return {f(a)}; }};
}
// Of one that gives so many Values.
inline ByFormula by_formula(size_t results, std::function<Values(const Arguments &)> of) {
  return {std::move(of), results};
}

class Function {
 public:
  using Body = std::function<Argument(const Arguments &)>;

  // Adds itself to the table; it must live as long as the program, at namespace scope.
  Function(std::string name, const std::string &signature, Body body);
  // `first` sees the arguments before the formula does: it refuses what a formula cannot see, such as labels of no class,
  // or gives the result by kernels, whose operation may have the function's name; or nothing, and the formula is computed.
  Function(std::string name, const std::string &signature, const ByFormula &formula, const Body &first = nullptr);
  Function(const Function &) = delete;
  Function &operator=(const Function &) = delete;

  const std::string &name() const { return name_; }
  const Signature &signature() const { return signature_; }
  // Null where it is a function by others.
  const Operation *operation() const { return operation_.get(); }

  Argument call(const std::vector<Argument> &positional, const Named &named = {}) const {
    return (*this)(signature_.bind(name_, positional, named));
  }
  Argument operator()(const Arguments &a) const;
  // The result, which is one tensor.
  Variable operator()(const Given &a, const Given &b = none, const Given &c = none, const Given &d = none) const {
    const Call all({&a, &b, &c, &d});
    return variable_of(call(all.positional, all.named));
  }

 private:
  std::string name_;
  Signature signature_;
  std::unique_ptr<const Operation> operation_;
  Body body_;
};

// Null where there is none.
const Function *find_function(std::string_view name);
std::vector<const Function *> all_functions();
Argument call(const std::string &name, const std::vector<Argument> &positional, const Named &named = {});

}  // namespace saltern::nn
