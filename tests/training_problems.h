#pragma once
// Small nets with batches and losses that they are trained with, for tests of training steps.

#include "runtime/graph/executor.h"
#include "runtime/nn/all.h"
#include "runtime/optim/training_step.h"

namespace saltern {

using State = std::map<std::string, Tensor>;

struct Batch {
  Tensor x, labels;
};

struct Problem {
  std::function<Sequential()> net;
  std::function<Batch(Random &)> batch;
  Loss loss;
};

inline Tensor classes(Random &random, int64_t n, int64_t count, int64_t ignored = 0) {
  const Tensor labels = Tensor::empty({n}, Type::i64);
  for (int64_t i = 0; i < n; ++i)
    labels.data<int64_t>()[i] = i < ignored ? -100 : static_cast<int64_t>(random.below(static_cast<uint64_t>(count)));
  return labels;
}

inline Problem pictures() {
  return {[] {
            nn::manual_seed(5);
            return Sequential(nn::Conv2d(2, 5, 3, 1, 1), nn::BatchNorm2d(5), nn::ReLU(), nn::MaxPool2d(2),
                              nn::Dropout(0.25), nn::Conv2d(5, 7, 3, 2, 1), nn::ReLU(), nn::Flatten(), nn::Dropout(0.5),
                              nn::Linear(7 * 4, 3));
          },
          [](Random &random) {
            return Batch{random.uniform_tensor({5, 2, 7, 9}, -1, 1), classes(random, 5, 3, 2)};
          },
          [](const Variable &y, const Variable &labels) { return cross_entropy(y, labels, -100); }};
}

inline Problem rows() {
  return {[] {
            nn::manual_seed(5);
            return Sequential(nn::Linear(6, 8), nn::BatchNorm1d(8), nn::Tanh(), nn::Linear(8, 2));
          },
          [](Random &random) {
            return Batch{random.uniform_tensor({7, 6}, -1, 1), random.uniform_tensor({7, 2}, -1, 1)};
          },
          mean_squared_error};
}

inline double step_in_graph(const Graph &step, const Batch &batch, State &state) {
  return run(step, {{"x", batch.x}, {"labels", batch.labels}}, state).at("loss").item();
}

}  // namespace saltern
