#include "runtime/training/estimator.h"

#include <algorithm>

#include "runtime/nn/all.h"

namespace saltern {

namespace {

void expect_samples(const Tensor &x) {
  if (x.rank() < 2 || x.type() != Type::f32)
    fail("an estimator was given ", facts(x.type()).name, to_string(x.shape()), "; expected f32 (samples, features)");
}

std::shared_ptr<Module> net_of(const Shape &input, const std::vector<int64_t> &hidden, int64_t outputs) {
  const auto net = std::make_shared<Sequential>();
  int64_t before = elements(input) / input[0];
  if (input.size() > 2) net->add(nn::Flatten());
  for (const int64_t size : hidden) {
    net->add(nn::Linear(before, size));
    net->add(nn::ReLU());
    before = size;
  }
  net->add(nn::Linear(before, outputs));
  return net;
}

}  // namespace

void Estimator::train(const Tensor &x, const Tensor &target, int64_t outputs, const Loss &loss) {
  expect_samples(x);
  if (x.extent(0) < 1) fail("an estimator was given no samples");
  nn::manual_seed(options_.seed);
  net_ = options_.net ? options_.net : net_of(x.shape(), options_.hidden, outputs);
  optimizer_ = std::make_unique<Adam>(*net_, AdamOptions{options_.rate});
  TrainerOptions options;
  options.epochs = options_.epochs;
  options.seed = options_.seed;
  trainer_ = std::make_unique<Trainer>(*net_, loss, *optimizer_, options);
  BatchOptions batches;
  batches.size = options_.batch;
  batches.seed = options_.seed;
  trainer_->fit(batches_of(x, target, batches));
}

Trainer &Estimator::trainer() const {
  if (!trainer_) fail("the estimator is not trained: fit() comes first");
  return *trainer_;
}

Tensor Estimator::outputs(const Tensor &x) const {
  expect_samples(x);
  BatchOptions batches;
  batches.size = 256;
  batches.shuffle = false;
  return trainer().predict(batches_of(x, Tensor::zeros({x.extent(0)}), batches));
}

Classifier &Classifier::fit(const Tensor &x, const Tensor &labels) {
  const std::vector<int64_t> given = labels.integers();
  classes_ = given;
  std::sort(classes_.begin(), classes_.end());
  classes_.erase(std::unique(classes_.begin(), classes_.end()), classes_.end());
  const Tensor places = Tensor::empty({static_cast<int64_t>(given.size())}, Type::i64);
  for (size_t i = 0; i < given.size(); ++i)
    places.data<int64_t>()[i] = std::lower_bound(classes_.begin(), classes_.end(), given[i]) - classes_.begin();
  train(x, places, static_cast<int64_t>(classes_.size()),
        [](const Variable &y, const Variable &t) { return cross_entropy(y, t); });
  return *this;
}

Tensor Classifier::predict_proba(const Tensor &x) const {
  const NoGradient off;
  return softmax(outputs(x)).value();
}

Tensor Classifier::predict(const Tensor &x) const {
  const Tensor scores = outputs(x);
  Tensor labels = Tensor::empty({scores.extent(0)}, Type::i64);
  for (int64_t n = 0; n < scores.extent(0); ++n) {
    const float *row = scores.data<float>() + n * scores.extent(1);
    labels.data<int64_t>()[n] = classes_.at(static_cast<size_t>(std::max_element(row, row + scores.extent(1)) - row));
  }
  return labels;
}

double Classifier::score(const Tensor &x, const Tensor &labels) const {
  const std::vector<int64_t> said = predict(x).integers(), wanted = labels.integers();
  if (said.size() != wanted.size()) fail("there are ", said.size(), " samples and ", wanted.size(), " labels");
  int64_t right = 0;
  for (size_t i = 0; i < said.size(); ++i) right += said[i] == wanted[i];
  return static_cast<double>(right) / static_cast<double>(said.size());
}

Regressor &Regressor::fit(const Tensor &x, const Tensor &y) {
  if (y.rank() < 1 || y.type() != Type::f32)
    fail("a regressor's targets are ", facts(y.type()).name, to_string(y.shape()), "; expected f32 (samples, ...)");
  shape_ = {y.shape().begin() + 1, y.shape().end()};
  const int64_t outputs = elements(shape_);
  train(x, y.in_layout(Layout::row_major).reshaped({y.extent(0), outputs}), outputs, mean_squared_error);
  return *this;
}

Tensor Regressor::predict(const Tensor &x) const {
  Shape shape = shape_;
  shape.insert(shape.begin(), x.extent(0));
  return outputs(x).reshaped(shape);
}

double Regressor::score(const Tensor &x, const Tensor &y) const {
  const std::vector<double> said = predict(x).reals(), wanted = y.reals();
  if (said.size() != wanted.size()) fail("there are ", said.size(), " predictions and ", wanted.size(), " targets");
  const auto outputs = static_cast<size_t>(elements(shape_)), samples = said.size() / outputs;
  double sum = 0;
  for (size_t o = 0; o < outputs; ++o) {
    double mean = 0, rest = 0, all = 0;
    for (size_t n = 0; n < samples; ++n) mean += wanted[n * outputs + o] / static_cast<double>(samples);
    for (size_t i = o; i < said.size(); i += outputs) {
      rest += (wanted[i] - said[i]) * (wanted[i] - said[i]);
      all += (wanted[i] - mean) * (wanted[i] - mean);
    }
    sum += 1 - rest / all;
  }
  return sum / static_cast<double>(outputs);
}

}  // namespace saltern
