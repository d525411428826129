#pragma once
// What an operation is told besides its inputs: named numbers, lists and words.
//
//   Attributes a = {{"axis", 1}, {"epsilon", 1e-5}, {"shape", Shape{2, 3}}};
//   a.integer("axis")                                  // throws, naming operation and attribute, where it is missing

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "runtime/error.h"

namespace saltern {

using Attribute = std::variant<int64_t, double, std::vector<int64_t>, std::string>;

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
  const std::string &word(const std::string &name) const { return get<std::string>(name, "a word"); }

  // In alphabetical order.
  Map::const_iterator begin() const { return values_.begin(); }
  Map::const_iterator end() const { return values_.end(); }
  bool empty() const { return values_.empty(); }
  bool operator==(const Attributes &other) const { return values_ == other.values_; }
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
