#pragma once
// What an operation is told besides its inputs: named numbers, lists, words, tensors, formulas and graphs.
//
//   Attributes a = {{"axis", 1}, {"epsilon", 1e-5}, {"shape", Shape{2, 3}}};
//   a.integer("axis")                                  // throws, naming operation and attribute, where it is missing

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "dsl/expression.h"
#include "runtime/error.h"
#include "runtime/tensor/tensor.h"

namespace saltern {

struct Graph;
using SharedGraph = std::shared_ptr<const Graph>;  // the body of a branch or a loop

using Attribute = std::variant<int64_t, double, std::vector<int64_t>, std::string, std::vector<double>,
                               std::vector<std::string>, Tensor, formula::Expression, SharedGraph>;

// By value; all that is not a number is the same as itself.
bool is_same(const Attribute &a, const Attribute &b);

class Attributes {
 public:
  using Map = std::map<std::string, Attribute>;

  Attributes() = default;
  Attributes(std::initializer_list<Map::value_type> values) : values_(values) {}

  bool has(const std::string &name) const { return values_.count(name) > 0; }
  void set(const std::string &name, Attribute value) { values_[name] = std::move(value); }
  // These and one more.
  Attributes with(const std::string &name, Attribute value) const {
    Attributes a = *this;
    a.set(name, std::move(value));
    return a;
  }

  int64_t integer(const std::string &name) const { return get<int64_t>(name, "an integer"); }
  int64_t integer(const std::string &name, int64_t otherwise) const { return has(name) ? integer(name) : otherwise; }
  double real(const std::string &name) const { return get<double>(name, "a real number"); }
  double real(const std::string &name, double otherwise) const { return has(name) ? real(name) : otherwise; }
  const std::vector<int64_t> &integers(const std::string &name) const {
    return get<std::vector<int64_t>>(name, "a list of integers");
  }
  std::vector<int64_t> integers(const std::string &name, const std::vector<int64_t> &otherwise) const {
    return has(name) ? integers(name) : otherwise;
  }
  const std::vector<double> &reals(const std::string &name) const {
    return get<std::vector<double>>(name, "a list of real numbers");
  }
  const std::string &word(const std::string &name) const { return get<std::string>(name, "a word"); }
  std::string word(const std::string &name, const std::string &otherwise) const {
    return has(name) ? word(name) : otherwise;
  }
  const std::vector<std::string> &words(const std::string &name) const {
    return get<std::vector<std::string>>(name, "a list of words");
  }
  const Tensor &tensor(const std::string &name) const { return get<Tensor>(name, "a tensor"); }
  const formula::Expression &expression(const std::string &name) const {
    return get<formula::Expression>(name, "a formula");
  }
  const Graph &graph(const std::string &name) const { return *get<SharedGraph>(name, "a graph"); }

  // In alphabetical order.
  Map::const_iterator begin() const { return values_.begin(); }
  Map::const_iterator end() const { return values_.end(); }
  bool empty() const { return values_.empty(); }
  bool operator==(const Attributes &other) const;
  bool operator!=(const Attributes &other) const { return !(*this == other); }

  // Whose attributes these are, for messages.
  const std::string &owner() const { return owner_; }
  void set_owner(const std::string &owner) { owner_ = owner; }

 private:
  template <typename T>
  const T &get(const std::string &name, const char *expected) const {
    const std::string who = owner_.empty() ? "an operation" : "operation '" + owner_ + "'";
    auto it = values_.find(name);
    if (it == values_.end()) fail(who, " needs the attribute '", name, "' (", expected, ")");
    const T *value = std::get_if<T>(&it->second);
    if (!value) fail(who, ": the attribute '", name, "' is expected to be ", expected);
    return *value;
  }

  Map values_;
  std::string owner_;
};

}  // namespace saltern
