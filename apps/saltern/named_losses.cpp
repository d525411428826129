#include "apps/saltern/named_losses.h"

#include "runtime/nn/function.h"

namespace saltern {

const std::vector<NamedLoss> &named_losses() {
  static const std::vector<NamedLoss> rows = {
      {"cross_entropy", "cross_entropy", true, "Softmax", "Sigmoid"},
      {"nll", "nll_loss", true, "", "Softmax"},
      {"mse", "mse_loss", false, "", ""},
      {"l1", "l1_loss", false, "", ""},
      {"bce_with_logits", "binary_cross_entropy_with_logits", false, "Sigmoid", "Softmax"},
  };
  return rows;
}

Variable NamedLoss::of(const Variable &y, const Variable &labels) const {
  return (*nn::find_function(function))(y, labels);
}

Tensor NamedLoss::labels(const Shape &y) const {
  if (!of_classes) return Tensor::outline(y);
  if (y.size() < 2) fail(name, " takes scores of classes in dimension 1, and the model gives ", to_string(y));
  Shape shape = y;
  shape.erase(shape.begin() + 1);
  return Tensor::outline(shape, Type::i64);
}

}  // namespace saltern
