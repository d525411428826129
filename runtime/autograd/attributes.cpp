#include "runtime/autograd/attributes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/graph/graph.h"

namespace saltern {

namespace {

bool is_same_tensor(const Tensor &a, const Tensor &b) {
  if (a.defined() != b.defined()) return false;
  if (!a.defined() || a.memory() == b.memory()) return a.shape() == b.shape() && a.strides() == b.strides();
  if (a.type() != b.type() || a.shape() != b.shape()) return false;
  const Tensor x = a.in_layout(Layout::row_major), y = b.in_layout(Layout::row_major);
  if (a.type() == Type::text)
    return std::equal(x.data<std::string>(), x.data<std::string>() + x.size(), y.data<std::string>());
  return std::memcmp(x.raw(), y.raw(), x.bytes()) == 0;
}

struct Same {
  bool operator()(const Tensor &a, const Tensor &b) const { return is_same_tensor(a, b); }
  bool operator()(const formula::Expression &a, const formula::Expression &b) const {
    return a.get() == b.get() || to_string(a) == to_string(b);
  }
  bool operator()(const SharedGraph &a, const SharedGraph &b) const { return a == b || (a && b && is_same(*a, *b)); }
  bool operator()(double a, double b) const { return a == b || (std::isnan(a) && std::isnan(b)); }
  template <typename T>
  bool operator()(const T &a, const T &b) const {
    return a == b;
  }
  template <typename A, typename B>
  bool operator()(const A &, const B &) const {
    return false;
  }
};

}  // namespace

bool is_same(const Attribute &a, const Attribute &b) { return std::visit(Same{}, a, b); }

bool Attributes::operator==(const Attributes &other) const {
  return std::equal(values_.begin(), values_.end(), other.values_.begin(), other.values_.end(),
                    [](const auto &a, const auto &b) { return a.first == b.first && is_same(a.second, b.second); });
}

}  // namespace saltern
