#pragma once
// What losses share: how those of all elements become one, and tensors that a loss is made with.

#include <optional>

#include "runtime/nn/layer.h"

namespace saltern::nn {

// How signatures of losses end. The first two are what `reduction` has replaced, and win where they are given.
inline const std::string reduced_as = "size_average=None, reduce=None, reduction='mean'";

// 'none', 'mean' or 'sum'.
std::string reduction_of(const Arguments &a);
Value mean_of_all(const Value &x);
// All, their mean, or their sum.
Value reduced_loss(const Value &losses, const Arguments &a);
// Their sum over another one of the same shape, in the place of the mean.
Value reduced_loss(const Value &losses, const Value &weights, const Arguments &a);

// An argument in the type of x: targets may be whole numbers.
Value beside(const Value &x, const Arguments &a, std::string_view name);

// A loss of pairs of elements, and its layer, which is made with the options of the function that are no tensors. Its
// mean is over elements, or over their weights.
struct ElementLoss {
  using Of = Value (*)(const Value &x, const Value &t, const Arguments &);
  enum class Mean { of_elements, of_weights };

  ElementLoss(const std::string &name, const std::string &layer, const std::string &options, Of of,
              const std::string &made_with, Mean mean = Mean::of_elements);

  Function function;
  LayerRow row;
};

// Tensors that a layer is made with are its buffers.
LayerRow::Make keeps(const std::vector<std::string> &names);

// Refuses indices that are not in [0, count), but for `ignored`; tensors of other types than integers, too.
void expect_indices(const Arguments &a, std::string_view name, int64_t count, std::optional<int64_t> ignored = {});

// ---- Of classes: input(n, c, d...), or (c) of one sample, and target(n, d...).

// One sample as a batch of one, and the first of a batch.
Value batched(const Value &v);
Value of_first(const Value &v);
// The argument 'weight', undefined where there is none.
Value weights_beside(const Value &x, const Arguments &a);
// Refuses targets that are not labels of classes, one for each sample.
void expect_labels(const Arguments &a, std::optional<int64_t> ignored);

}  // namespace saltern::nn
