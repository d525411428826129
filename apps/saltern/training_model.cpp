#include "apps/saltern/training_model.h"

#include <algorithm>

#include "apps/saltern/command.h"
#include "runtime/tensor/element.h"
#include "runtime/tensor/random.h"

namespace saltern {

namespace {

TrainableModel made_trainable(const LoadedModel &model, int64_t batch) {
  if (model.is_onnx()) return trainable(model.onnx(), model.shapes(), batch);
  std::map<std::string, Shape> shapes;
  for (const std::string &name : model.graph().inputs) {
    Shape shape = model.graph().value(name).shape;
    if (const auto given = model.shapes().find(name); given != model.shapes().end()) shape = given->second;
    if (!shape.empty()) shape[0] = batch;
    shapes[name] = shape;
  }
  const Graph net = model.lowered(shapes);
  if (!net.state.empty()) fail("it has state '", net.state[0].value, "': it is a training step already");
  return trainable(net);
}

// What the loss is of: the first output, or what comes before its last operator where that is a part of the loss.
std::string scores_of(const TrainableModel &m, const NamedLoss &loss) {
  if (m.last_operator.empty()) return m.graph.outputs[0];
  if (m.last_operator == loss.refuses)
    fail("it ends with a ", m.last_operator, ", and --loss ", loss.name, " is of a model that does not");
  if (m.last_operator != loss.has_in_it) return m.graph.outputs[0];
  const auto rank = static_cast<int64_t>(m.graph.value(m.before_last).shape.size());
  const int64_t axis = m.last_axis < 0 ? m.last_axis + rank : m.last_axis;
  if (loss.of_classes && axis != 1)
    fail("it ends with a ", m.last_operator, " along axis ", axis, "; --loss ", loss.name,
         " takes classes along axis 1");
  return m.before_last;
}

}  // namespace

TrainingModel::TrainingModel(const LoadedModel &model, const TrainingOptions &o)
    : TrainingModel(on_input([&] { return made_trainable(model, o.batch); }), o) {}

TrainingModel::TrainingModel(TrainableModel made, const TrainingOptions &o) : loss_(o.named_loss()) {
  on_input([&] {
    scores_ = scores_of(made, loss_);
    // The first output is what the net says of one input.
    std::vector<std::string> &outputs = made.graph.outputs;
    outputs.erase(std::remove(outputs.begin(), outputs.end(), scores_), outputs.end());
    outputs.insert(outputs.begin(), scores_);
    outputs_ = made.outputs;
    scores_shape_ = made.graph.value(scores_).shape;
    if (made.parameters.empty()) fail("it has no parameters: initializers of f32 with dimensions");
    for (const std::string &name : made.graph.inputs) {
      const Graph::Value &v = made.graph.value(name);
      inputs_.emplace_back(name, Tensor::outline(v.shape, v.type));
    }
    inputs_.emplace_back("labels", loss_.labels(scores_shape_));
    net_ = std::make_unique<GraphNet>(made.graph, made.parameters, made.on_tape);
    optimizer_ = o.optimizer_of(*net_);
  });
}

LossOfInputs TrainingModel::loss() {
  return [this](const std::vector<Variable> &in) {
    return loss_.of(net_->output(scores_, {in.begin(), in.end() - 1}), in.back());
  };
}

Graph TrainingModel::step() {
  return on_input([&] { return training_step(*net_, inputs_, loss(), *optimizer_); });
}

Graph TrainingModel::inference() const {
  Graph graph = net_->inference();
  graph.outputs = outputs_;
  graph.remove_unused();
  return graph;
}

std::vector<Tensor> TrainingModel::random_batch(uint64_t seed) const {
  Random random(seed);
  std::vector<Tensor> all;
  for (const auto &[name, like] : inputs_) {
    const bool labels = &like == &inputs_.back().second;
    const Tensor t = Tensor::empty(like.shape(), like.type());
    const int64_t count = labels && loss_.of_classes ? scores_shape_[1] : 4;
    for (int64_t i = 0; i < t.size(); ++i)
      set_element(t.type(), t.raw(), i,
                  !is_real(t.type()) ? static_cast<double>(random.below(static_cast<uint64_t>(count)))
                  : labels           ? random.uniform(0, 1)
                                     : random.uniform(-1, 1));
    all.push_back(t);
  }
  return all;
}

}  // namespace saltern
