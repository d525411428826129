#include "runtime/training/metric.h"

#include "runtime/layers/losses.h"

namespace saltern {

void MeanMetric::update(const Tensor &prediction, const Tensor &target) {
  if (prediction.rank() == 0) fail("the metric '", name(), "' was given a prediction without samples");
  mean_.add(of_batch_(prediction, target), static_cast<double>(prediction.extent(0)));
}

std::map<std::string, Tensor> MeanMetric::state() const {
  return {{"mean", Tensor::of<double>({2}, {mean_.sum, mean_.weight})}};
}

void MeanMetric::load_state(const std::map<std::string, Tensor> &state) {
  const auto it = state.find("mean");
  if (it == state.end() || it->second.shape() != Shape{2} || it->second.type() != Type::f64)
    fail("the metric '", name(), "' has no state 'mean', f64 [2]");
  const std::vector<double> both = it->second.reals();
  mean_ = {both[0], both[1]};
}

Accuracy::Accuracy(std::string name) : MeanMetric(std::move(name), accuracy) {}

MeanLoss::MeanLoss(const Loss &loss, std::string name)
    : MeanMetric(std::move(name), [loss](const Tensor &prediction, const Tensor &target) {
        const NoGradient off;
        return loss(prediction, target).value().item();
      }) {}

}  // namespace saltern
