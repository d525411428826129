#pragma once
// What flows through an imported graph on the host: a tensor, a sequence of values, a map, or nothing (an absent input,
// an optional without a value).

#include <memory>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace saltern {

// A vector of these elements.
template <typename T>
Tensor list_of(const std::vector<T> &values) {
  return Tensor::of<T>({static_cast<int64_t>(values.size())}, values);
}

class HostValue {
 public:
  using Sequence = std::vector<HostValue>;
  struct Map {
    Tensor keys, values;  // vectors of one length, row-major
  };

  HostValue() = default;
  HostValue(Tensor tensor) : tensor_(std::move(tensor)) {}  // implicit: a tensor is a value
  explicit HostValue(Sequence sequence, Type type = Type::f32)
      : sequence_(std::make_shared<const Sequence>(std::move(sequence))), type_(type) {}

  explicit HostValue(Map map) : map_(std::make_shared<const Map>(std::move(map))) {}

  bool is_tensor() const { return tensor_.defined(); }
  bool is_sequence() const { return sequence_ != nullptr; }
  bool is_map() const { return map_ != nullptr; }
  bool is_empty() const { return !is_tensor() && !is_sequence() && !is_map(); }

  // Throw where it is something else.
  const Tensor &tensor() const {
    if (!is_tensor()) fail("expected a tensor, got ", kind());
    return tensor_;
  }
  const Sequence &sequence() const {
    if (!is_sequence()) fail("expected a sequence, got ", kind());
    return *sequence_;
  }
  const Map &map() const {
    if (!is_map()) fail("expected a map, got ", kind());
    return *map_;
  }
  // Of the elements of a sequence that has none yet.
  Type element_type() const { return is_tensor() ? tensor_.type() : type_; }

 private:
  const char *kind() const {
    return is_tensor() ? "a tensor" : is_sequence() ? "a sequence" : is_map() ? "a map" : "nothing";
  }

  Tensor tensor_;
  std::shared_ptr<const Sequence> sequence_;
  std::shared_ptr<const Map> map_;
  Type type_ = Type::f32;
};

}  // namespace saltern
