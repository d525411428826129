#include "runtime/training/metric.h"

#include "runtime/layers/losses.h"

namespace saltern {

void MeanMetric::update(const Tensor &prediction, const Tensor &target) {
  if (prediction.rank() == 0) fail("the metric '", name(), "' was given a prediction without samples");
  mean_.add(of_batch_(prediction, target), static_cast<double>(prediction.extent(0)));
}

Accuracy::Accuracy(std::string name) : MeanMetric(std::move(name), accuracy) {}

MeanLoss::MeanLoss(const Loss &loss, std::string name)
    : MeanMetric(std::move(name), [loss](const Tensor &prediction, const Tensor &target) {
        const NoGradient off;
        return loss(prediction, target).value().item();
      }) {}

}  // namespace saltern
