#pragma once
// What flows through an imported graph on the host: a tensor, a sequence of values, or nothing (an absent input, an
// optional without a value).

#include <memory>
#include <vector>

#include "runtime/tensor.h"

namespace saltern {

class HostValue {
 public:
  using Sequence = std::vector<HostValue>;

  HostValue() = default;
  HostValue(Tensor tensor) : tensor_(std::move(tensor)) {}  // implicit: a tensor is a value
  explicit HostValue(Sequence sequence, Type type = Type::f32)
      : sequence_(std::make_shared<const Sequence>(std::move(sequence))), type_(type) {}

  bool is_tensor() const { return tensor_.defined(); }
  bool is_sequence() const { return sequence_ != nullptr; }
  bool is_empty() const { return !is_tensor() && !is_sequence(); }

  // Throw where it is something else.
  const Tensor &tensor() const {
    if (!is_tensor()) fail("expected a tensor, got ", is_sequence() ? "a sequence" : "nothing");
    return tensor_;
  }
  const Sequence &sequence() const {
    if (!is_sequence()) fail("expected a sequence, got ", is_tensor() ? "a tensor" : "nothing");
    return *sequence_;
  }
  // Of the elements of a sequence that has none yet.
  Type element_type() const { return is_tensor() ? tensor_.type() : type_; }

 private:
  Tensor tensor_;
  std::shared_ptr<const Sequence> sequence_;
  Type type_ = Type::f32;
};

}  // namespace saltern
