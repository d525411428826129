#pragma once
// Losses by name, and what they say of labels and of the model that they are of.

#include <string>
#include <vector>

#include "runtime/autograd/variable.h"

namespace saltern {

struct NamedLoss {
  const char *name, *function;  // the latter of runtime/nn: the mean over the batch
  bool of_classes;              // labels are numbers of classes, which are dimension 1 of y; else they are as y is
  // The operator of ONNX that the loss has in it: of a model that ends with it, it takes what comes before.
  const char *has_in_it;
  // One that a model must not end with.
  const char *refuses;

  Variable of(const Variable &y, const Variable &labels) const;
  // An outline of the labels for scores of this shape.
  Tensor labels(const Shape &y) const;
};

const std::vector<NamedLoss> &named_losses();

}  // namespace saltern
