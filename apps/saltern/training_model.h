#pragma once
// A model of a file as a net that trains, with its loss, its optimizer and what a batch of it looks like.

#include "apps/saltern/loaded_model.h"
#include "apps/saltern/training_options.h"
#include "runtime/graph/graph_net.h"
#include "runtime/onnx/trainable.h"
#include "runtime/optim/training_step.h"

namespace saltern {

class TrainingModel {
 public:
  // Throws BadInput or Unsupported where the model, the loss or the batch do not go together.
  TrainingModel(const LoadedModel &model, const TrainingOptions &options);
  TrainingModel(TrainableModel model, const TrainingOptions &options);

  // Of one input, it gives the scores that the loss is of.
  GraphNet &net() { return *net_; }
  Optimizer &optimizer() { return *optimizer_; }
  // Outlines of the model's inputs in their order, and then the labels.
  const NamedTensors &inputs() const { return inputs_; }
  // The scores that the loss is of.
  const Shape &scores() const { return scores_shape_; }
  const NamedLoss &named_loss() const { return loss_; }
  // Of inputs as above. This must live as long as it.
  LossOfInputs loss();
  // The step as a graph, and the model as it is where nothing trains (GraphNet::inference).
  Graph step();
  Graph inference() const;
  // Real numbers in [-1, 1), or labels in [0, 1); integers in [0, 4), or labels of any class. The same for the same seed.
  std::vector<Tensor> random_batch(uint64_t seed = 1) const;

 private:
  const NamedLoss &loss_;
  std::unique_ptr<GraphNet> net_;
  std::unique_ptr<Optimizer> optimizer_;
  std::string scores_;
  std::vector<std::string> outputs_;
  Shape scores_shape_;
  NamedTensors inputs_;
};

}  // namespace saltern
