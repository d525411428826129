#pragma once
// What functions and layers are told, as Python would tell them: nothing, a truth, a number, a word, a tensor, or a list.
//
//   Argument stride = 2, padding = {1, 0}, reduction = "mean", weight = Variable(...), none;
//
// Inside a formula (function.h) a tensor is a Value.

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "dsl/value.h"
#include "runtime/autograd/variable.h"

namespace saltern {

class Module;

namespace nn {

class Argument {
 public:
  using List = std::vector<Argument>;
  using Part = std::shared_ptr<Module>;

  constexpr Argument() = default;  // nothing
  Argument(bool truth) : value_(truth) {}
  Argument(int number) : value_(int64_t{number}) {}
  Argument(int64_t number) : value_(number) {}
  Argument(double number) : value_(number) {}
  Argument(const char *word) : value_(std::string(word)) {}
  Argument(std::string word) : value_(std::move(word)) {}
  Argument(const Tensor &tensor) : value_(Variable(tensor)) {}
  // Nothing where it is undefined.
  Argument(const Variable &v) {
    if (v.defined()) value_ = v;
  }
  Argument(const Value &v) {
    if (v.defined()) value_ = v;
  }
  Argument(Part module) : value_(std::move(module)) {}
  Argument(List list) : value_(std::move(list)) {}
  Argument(std::initializer_list<Argument> list) : value_(List(list)) {}
  Argument(const std::vector<int64_t> &numbers) : value_(List(numbers.begin(), numbers.end())) {}
  Argument(const std::vector<Variable> &tensors) : value_(List(tensors.begin(), tensors.end())) {}

  bool is_none() const { return std::holds_alternative<std::monostate>(value_); }
  template <typename T>
  const T *as() const {
    return std::get_if<T>(&value_);
  }

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Variable, Value, Part, List> value_;
};

// As Python writes it; a tensor by its type and shape.
std::string to_string(const Argument &a);

// An argument that is missing, unknown, given twice, or of a kind that is not expected.
class ArgumentError : public Error {
 public:
  using Error::Error;
};

// The result of a function that gives one tensor.
Variable variable_of(const Argument &result);
// All tensors of a result, one after another: of an LSTM y, h and c.
std::vector<Variable> variables_of(const Argument &result);

}  // namespace nn
}  // namespace saltern
