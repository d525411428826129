#pragma once
// The arguments of a function, as Python writes them: names, defaults, and behind a * those that are given by name only.
//
//   const Signature s("input, weight, bias=None, stride=1, *, reduction='mean'");
//   const Arguments a = s.bind("conv2d", {x, w}, {{"stride", 2}});
//   a.variable("weight"), a.integers("stride", 2), a.word("reduction")
//
// Whatever does not fit is an error that names the function, the argument, and what was expected.

#include <map>
#include <string_view>

#include "runtime/nn/argument.h"

namespace saltern::nn {

using Named = std::map<std::string, Argument>;

struct Parameter {
  std::string name;
  bool is_required = true;
  Argument otherwise;
  bool by_name_only = false;
};

class Arguments;

class Signature {
 public:
  explicit Signature(const std::string &text);

  const std::vector<Parameter> &parameters() const { return parameters_; }
  const std::string &text() const { return text_; }
  bool has(std::string_view name) const { return find(name) != parameters_.size(); }
  // The number of an argument; that of all arguments where there is none of the name.
  size_t find(std::string_view name) const;

  Arguments bind(const std::string &owner, const std::vector<Argument> &positional, const Named &named = {}) const;

 private:
  std::string text_;
  std::vector<Parameter> parameters_;
};

// What a signature was bound to.
class Arguments {
 public:
  Arguments(const Signature &signature, std::string owner, std::vector<Argument> values)
      : signature_(&signature), owner_(std::move(owner)), values_(std::move(values)) {}

  const Argument &operator[](std::string_view name) const;
  bool has(std::string_view name) const { return !(*this)[name].is_none(); }
  // The same but for one.
  Arguments with(std::string_view name, Argument value) const;

  int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  bool flag(std::string_view name) const;
  const std::string &word(std::string_view name) const;
  // One of these words.
  const std::string &word(std::string_view name, const std::vector<std::string> &choices) const;
  // One number stands for `count` of them; a count of 0: a list of any length.
  std::vector<int64_t> integers(std::string_view name, size_t count = 0) const;
  std::vector<double> reals(std::string_view name, size_t count = 0) const;
  // A number is a constant.
  Variable variable(std::string_view name) const;
  std::vector<Variable> variables(std::string_view name) const;
  // In a formula.
  Value value(std::string_view name) const;
  // Undefined where nothing was given.
  Variable variable_if_given(std::string_view name) const { return has(name) ? variable(name) : Variable(); }
  Value value_if_given(std::string_view name) const { return has(name) ? value(name) : Value(); }

  const Signature &signature() const { return *signature_; }
  const std::string &owner() const { return owner_; }
  const std::vector<Argument> &values() const { return values_; }
  // "conv2d: 'stride' is 0; expected at least 1": an Error. What is of another kind than asked for is an ArgumentError.
  [[noreturn]] void refuse(std::string_view name, const std::string &expected) const;
  // Likewise, of a place that is not there.
  [[noreturn]] void refuse_index(std::string_view name, const std::string &expected) const {
    throw BadIndex(refused(name, expected));
  }

 private:
  std::string refused(std::string_view name, const std::string &expected) const;
  [[noreturn]] void refuse_kind(std::string_view name, const std::string &expected) const {
    throw ArgumentError(refused(name, expected));
  }
  template <typename Number>
  std::vector<Number> numbers(std::string_view name, size_t count, const char *what,
                              const Number *(*read)(const Argument &, Number &)) const;

  const Signature *signature_;
  std::string owner_;
  std::vector<Argument> values_;
};

}  // namespace saltern::nn
