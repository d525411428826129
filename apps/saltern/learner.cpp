#include "apps/saltern/learner.h"

#include <fnmatch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <set>

#include "apps/saltern/command.h"
#include "apps/saltern/replaced_head.h"
#include "apps/saltern/training_model.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/trace.h"
#include "runtime/layers/containers.h"
#include "runtime/layers/movement.h"
#include "runtime/nn/layer.h"
#include "runtime/nn/written.h"
#include "runtime/onnx/export.h"
#include "runtime/onnx/optimize.h"
#include "runtime/tensor/checkpoint.h"
#include "runtime/tensor/parts.h"

namespace saltern {

namespace {

namespace fs = std::filesystem;

bool is_frozen(const std::vector<std::string> &patterns, const std::string &name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string &p) { return fnmatch(p.c_str(), name.c_str(), 0) == 0; });
}

// Batch norms whose statistics are among them are as in evaluation mode. Gives how many parameters are frozen.
int64_t freeze(GraphNet &net, const std::vector<std::string> &patterns) {
  for (const std::string &p : patterns) {
    const auto all = net.state();
    if (std::any_of(all.begin(), all.end(), [&](const auto &e) { return is_frozen({p}, e.first); })) continue;
    std::string names;
    for (const auto &[name, t] : all) names += (names.empty() ? "" : ", ") + name;
    fail("--freeze ", p, ": no parameter is called so; there are ", names);
  }
  int64_t count = 0;
  for (const auto &[name, p] : net.named_parameters())
    if (is_frozen(patterns, name)) p.set_requires_gradient(false), ++count;
  std::set<std::string> parameters;
  for (const auto &[name, p] : net.named_parameters()) parameters.insert(name);
  for (const auto &[name, t] : net.state())
    if (!parameters.count(name) && is_frozen(patterns, name)) net.freeze_statistics(name);
  if (count == static_cast<int64_t>(parameters.size())) fail("--freeze: there is no parameter left to train");
  return count;
}

// A net of batches of one size, which takes smaller ones, too, while it does not train: the last sample fills them up, and what
// the net says of it again is left out.
class FilledUp : public Module {
 public:
  FilledUp(GraphNet &net, int64_t batch) : net_(net), batch_(batch) {}

  Variable forward(const Variable &x) override {
    const int64_t count = x.extent(0);
    if (training() || count >= batch_) return net_(x);
    const Tensor t = x.value(), last = t.slice(0, count - 1, 1);
    std::vector<Tensor> parts = {t};
    parts.resize(static_cast<size_t>(batch_ - count) + 1, last);
    return slice(net_(joined(parts, 0)), 0, 0, count);
  }
  void visit(Visitor &v) override { net_.visit(v); }
  std::string class_name() const override { return net_.class_name(); }

 private:
  GraphNet &net_;
  int64_t batch_;
};

// ONNX, and what was learned beside it.
std::vector<std::string> written_as_onnx(const std::string &path, const Model &model, const Checkpoint &weights) {
  const std::string beside = fs::path(path).replace_extension(".safetensors").string();
  save_onnx(path, model);
  save_checkpoint(beside, weights);
  return {path, beside};
}

class FileLearner : public Learner {
 public:
  FileLearner(const LearnerOptions &o, const TrainingOptions &training, uint64_t seed)
      : freeze_(o.freeze),
        file_(o.model),
        model_(on_input([&] {
          Model m = without_constant_inputs(file_.onnx());
          return o.head > 0 ? with_replaced_head(std::move(m), o.head, seed) : m;
        })),
        training_(on_input([&] { return trainable(model_, file_.shapes(), training.batch); }), training),
        net_(training_.net(), training.batch) {
    on_input([&] {
      if (training_.inputs().size() != 2)
        fail("the model has ", training_.inputs().size() - 1, " inputs; data are for one");
      frozen_ = freeze(training_.net(), freeze_);
      form_ = {training_.inputs()[0].second, training_.inputs()[1].second,
               training_.named_loss().of_classes ? training_.scores()[1] : 0};
    });
  }

  Module &net() override { return net_; }
  bool takes_whole_batches() const override { return true; }

  // The model as it was, with what was learned; what is frozen has its bits.
  std::vector<std::string> write(const std::string &path) override {
    Checkpoint weights;
    for (const auto &[name, t] : training_.net().state()) {
      Tensor &kept = model_.graph.values.at(name).constant;
      if (!is_frozen(freeze_, name)) kept = t.in_layout(Layout::row_major).clone();
      weights.tensors[name] = kept;
    }
    return written_as_onnx(path, model_, weights);
  }

 private:
  std::vector<std::string> freeze_;
  LoadedModel file_;
  Model model_;
  TrainingModel training_;
  FilledUp net_;
};

class LayersLearner : public Learner {
 public:
  LayersLearner(const LearnerOptions &o, const TrainingOptions &training, const Shape &sample, uint64_t seed) {
    if (!o.freeze.empty() || o.head > 0) fail("--freeze and --replace-head are for models of files");
    nn::manual_seed(seed);
    const auto layers = nn::written_layers(o.layers);
    const NamedLoss &loss = training.named_loss();
    // The last layer may be a part of the loss.
    const std::string last = layers.back()->class_name();
    if (last == loss.refuses) fail("the net ends with ", last, ", and --loss ", loss.name, " is of one that does not");
    for (const auto &layer : layers) {
      if (layer != layers.back() || last != loss.has_in_it) scores_.add(layer);
      whole_.add(layer);
    }
    // Words are numbers, which layers take as such.
    const bool of_words = layers[0]->class_name().rfind("Embedding", 0) == 0;
    Shape batch = sample;
    batch.insert(batch.begin(), 1);
    const Type type = of_words ? Type::i64 : Type::f32;
    const NoGradient off;
    const EvaluationMode evaluation(scores_);
    Shape scores = scores_(Tensor::zeros(batch, type)).shape();
    if (scores.empty()) fail("the net gives one number; expected one or more for each sample");
    batch[0] = scores[0] = training.batch;
    form_ = {Tensor::outline(batch, type), loss.labels(scores), loss.of_classes ? scores[1] : 0};
  }

  Module &net() override { return scores_; }
  bool takes_whole_batches() const override { return false; }

  std::vector<std::string> write(const std::string &path) override {
    const Graph traced = form_.x.type() == Type::f32 ? traced_for_any_batch() : traced_for_this_batch();
    if (fs::path(path).extension() != ".onnx") {
      save_model(path, traced);
      return {path};
    }
    Checkpoint weights;
    weights.tensors = whole_.state();
    return written_as_onnx(path, onnx_of(traced), weights);
  }

 private:
  Graph traced_for_any_batch() {
    Extents open(form_.x.shape());
    open[0] = "batch";
    return trace(whole_, open);
  }
  // Of words, which trace() has no open sizes for.
  Graph traced_for_this_batch() {
    const Recording on;
    const EvaluationMode evaluation(whole_);
    const Variable x = Tensor::zeros(form_.x.shape(), form_.x.type());
    return trace({{"x", x}}, {{"y", whole_(x)}}, whole_.state());
  }

  Sequential whole_, scores_;
};

Shape sample_shape(const LearnerOptions &o, const Shape &of_data) {
  const Shape given(o.input.begin(), o.input.end());
  if (of_data.empty() && given.empty()) fail("--input says what pictures become for the net: --input 3,32,32");
  if (!of_data.empty() && !given.empty() && given != of_data)
    fail("--input is ", to_string(given), ", and samples are ", to_string(of_data));
  return of_data.empty() ? given : of_data;
}

}  // namespace

void LearnerOptions::add_to(CLI::App &app) {
  model.add_to(app);
  app.get_option("MODEL")->required(false)->description(
      "An ONNX file, a net that was traced and saved, or a text with options");
  app.add_option("--net", layers,
                 "Layers one after another, with PyTorch's names and arguments: 'Conv2d(1, 32, 3, padding=1)'. May be "
                 "given again; or "
                 "a model's file")
      ->allow_extra_args(false);
  app.add_option("--input", input, "The shape of a sample that layers take, where pictures leave it open: 3,32,32")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::PositiveNumber);
  app.add_option("--freeze", freeze,
                 "Parameters by name that keep their values, with * and ?: 'layer1.*'. Batch norms whose statistics "
                 "are among them use these. May be given again")
      ->allow_extra_args(false);
  app.add_option("--replace-head", head, "A new last layer, for so many classes")->check(CLI::Range(1, 1 << 20));
}

void expect_writable_model(const std::string &path, bool of_a_file) {
  const std::string ending = fs::path(path).extension().string();
  if (ending != ".onnx" && (of_a_file || ending != ".safetensors"))
    throw BadInput("-o " + path + ": expected a name that ends with .onnx" + (of_a_file ? "" : " or .safetensors"));
}

std::unique_ptr<Learner> learner_of(const LearnerOptions &o, const TrainingOptions &training, const Shape &sample,
                                    uint64_t seed) {
  if (o.layers.empty()) return std::make_unique<FileLearner>(o, training, seed);
  try {
    return std::make_unique<LayersLearner>(o, training, sample_shape(o, sample), seed);
  } catch (const Unsupported &) {
    throw;
  } catch (const Error &e) {
    throw BadInput(std::string("--net: ") + e.what());
  }
}

}  // namespace saltern
