#pragma once
// Losses of class labels: x(n, c, d...) holds logarithms of probabilities, labels(n, d...) say which c is right.
//
//   loss(n, d...) = -weight(n, d...) x(n, label, d...),   weight = weights(label), or 1; 0 where a label is ignored

#include <optional>

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

struct LabelLoss {
  Value loss, weight;
};

// `weights` may be undefined. The score beside an ignored label may be an infinity.
inline LabelLoss label_loss(const Value &x, const Value &labels, const Value &weights,
                            std::optional<int64_t> ignored = std::nullopt) {
  const Value label = cast(Type::i64, labels);
  const auto each = [&](const std::function<Expression(const Axes &at, const Expression &of)> &element) {
    return inlined(labels.extents(), [&](const Axes &at) {
      const Expression of = label.at(at), e = element(at, of);
      return ignored ? select(of == *ignored, constant(x.type(), 0), e) : e;
    });
  };
  const Value weight =
      each([&](const Axes &, const Expression &of) { return weights.defined() ? weights(of) : constant(x.type(), 1); });
  const Value loss = each([&](Axes at, const Expression &of) {
    const Expression w = weight.at(at);
    at.insert(at.begin() + 1, of);
    return -(w * x.at(at));
  });
  return {loss, weight};
}

}  // namespace saltern::algorithms
