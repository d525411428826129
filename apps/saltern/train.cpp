// `saltern train`: an imported model learns from data in files, and is written as ONNX again.

#include <fnmatch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>

#include "apps/saltern/command.h"
#include "apps/saltern/machine_options.h"
#include "apps/saltern/replaced_head.h"
#include "apps/saltern/training_model.h"
#include "generators/model/compile_step.h"
#include "runtime/data/dataset.h"
#include "runtime/onnx/export.h"
#include "runtime/onnx/optimize.h"
#include "runtime/report/progress.h"
#include "runtime/tensor/checkpoint.h"
#include "runtime/tensor/npz.h"
#include "runtime/tensor/parts.h"
#include "runtime/tensor/random.h"

namespace saltern {

namespace {

namespace fs = std::filesystem;

struct TrainOptions {
  ModelOptions model;
  TrainingOptions training;
  ThreadOptions threads;
  std::string data, output;
  std::vector<std::string> freeze;
  int64_t head = 0;
  int epochs = 1;
  uint64_t seed = 1;
  bool json = false;
};

struct Samples {
  Tensor x, y;
};

// As the step takes it.
Tensor converted(const Tensor &t, Type type, const char *name) {
  if (t.type() == type) return t.in_layout(Layout::row_major);
  const bool whole = !is_real(t.type());
  if (!whole && !is_real(type))
    fail("the array '", name, "' is ", facts(t.type()).name, "; the loss takes numbers of classes");
  const Tensor made = Tensor::empty(t.shape(), type);
  const std::vector<double> numbers = t.reals();
  for (size_t i = 0; i < numbers.size(); ++i)
    type == Type::i64 ? void(made.data<int64_t>()[i] = static_cast<int64_t>(numbers[i]))
                      : void(made.data<float>()[i] = static_cast<float>(numbers[i]));
  return made;
}

// An .npz with x and y, or a folder of MNIST's files, whose pixels become numbers from 0 to 1.
Samples read_samples(const std::string &path) {
  if (!fs::is_directory(path)) {
    std::map<std::string, Tensor> all = read_npz(path);
    for (const char *name : {"x", "y"})
      if (!all.count(name)) fail(path, " has no array '", name, "'");
    return {all.at("x"), all.at("y")};
  }
  const auto file = [&](const std::string &name) {
    const std::string plain = (fs::path(path) / name).string();
    return fs::exists(plain) ? plain : plain + ".gz";
  };
  const Dataset d = load_idx_dataset(file("train-images-idx3-ubyte"), file("train-labels-idx1-ubyte"), 256);
  const Tensor pixels = d.images.in_layout(Layout::row_major), x = Tensor::empty(pixels.shape());
  for (int64_t i = 0; i < x.size(); ++i) x.data<float>()[i] = static_cast<float>(pixels.data<uint8_t>()[i]) / 255;
  return {x, d.labels};
}

void expect_fit(const Tensor &t, const Tensor &like, const char *name) {
  Shape one = t.shape(), wanted = like.shape();
  if (!one.empty()) one[0] = wanted.at(0);
  if (one != wanted)
    fail("the array '", name, "' is ", to_string(t.shape()), "; a batch of the model is ", to_string(wanted));
}

Samples samples_for(const TrainingModel &model, const std::string &path) {
  if (model.inputs().size() != 2) fail("the model has ", model.inputs().size() - 1, " inputs; data are for one");
  const Tensor &like_x = model.inputs()[0].second, &like_y = model.inputs()[1].second;
  Samples s = read_samples(path);
  expect_fit(s.x, like_x, "x");
  expect_fit(s.y, like_y, "y");
  if (s.x.extent(0) != s.y.extent(0)) fail("there are ", s.x.extent(0), " of x and ", s.y.extent(0), " of y");
  if (s.x.extent(0) < like_x.extent(0))
    fail("there are ", s.x.extent(0), " samples for batches of ", like_x.extent(0), "; --batch says how many");
  s = {converted(s.x, like_x.type(), "x"), converted(s.y, like_y.type(), "y")};
  if (model.named_loss().of_classes)
    for (int64_t label : s.y.integers())
      if (label < 0 || label >= model.scores()[1])
        fail("a label is ", label, "; the model has ", model.scores()[1], " classes");
  return s;
}

bool is_frozen(const std::vector<std::string> &patterns, const std::string &name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string &p) { return fnmatch(p.c_str(), name.c_str(), 0) == 0; });
}

// Batch norms whose statistics are among them are as in evaluation mode. Gives how many parameters are frozen.
int64_t freeze(GraphNet &net, const std::vector<std::string> &patterns) {
  for (const std::string &p : patterns) {
    const auto all = net.state();
    if (std::none_of(all.begin(), all.end(), [&](const auto &e) { return is_frozen({p}, e.first); }))
      fail("--freeze ", p, ": no parameter is called so; `saltern info --lowered` has their names");
  }
  int64_t count = 0;
  for (const auto &[name, p] : net.named_parameters())
    if (is_frozen(patterns, name)) p.set_requires_gradient(false), ++count;
  std::set<std::string> parameters;
  for (const auto &[name, p] : net.named_parameters()) parameters.insert(name);
  for (const auto &[name, t] : net.state())
    if (!parameters.count(name) && is_frozen(patterns, name)) net.freeze_statistics(name);
  return count;
}

std::vector<double> trained(TrainingModel &model, const Samples &data, const TrainOptions &o) {
  const CompiledStep step = on_input([&] {
    return compile_step(model.net(), model.inputs(), model.loss(), model.optimizer(), {o.threads.threads, nullptr});
  });
  const int64_t batch = o.training.batch, batches = data.x.extent(0) / batch;
  std::vector<int64_t> order(static_cast<size_t>(data.x.extent(0)));
  std::iota(order.begin(), order.end(), 0);
  Random random(o.seed);
  std::vector<double> losses;
  for (int epoch = 1; epoch <= o.epochs; ++epoch) {
    for (size_t i = order.size(); i-- > 1;) std::swap(order[i], order[random.below(i + 1)]);
    Progress bar("epoch " + std::to_string(epoch) + "/" + std::to_string(o.epochs), batches);
    double sum = 0;
    for (int64_t b = 0; b < batches; ++b) {
      const std::vector<int64_t> rows(order.begin() + b * batch, order.begin() + (b + 1) * batch);
      sum += step(picked(data.x, 0, rows), picked(data.y, 0, rows));
      if (!std::isfinite(sum))
        fail("the loss of batch ", b, " of epoch ", epoch, " is not finite: a smaller --rate may do");
      bar.update(b + 1, "loss " + std::to_string(sum / static_cast<double>(b + 1)));
    }
    losses.push_back(sum / static_cast<double>(batches));
    bar.finish("loss " + std::to_string(losses.back()));
  }
  return losses;
}

int run_train(const TrainOptions &o) {
  o.threads.use();
  if (fs::path(o.output).extension() != ".onnx")
    throw BadInput("-o " + o.output + ": expected a name that ends with .onnx");
  const LoadedModel file(o.model);
  if (!file.is_onnx()) throw BadInput(o.model.path + ": `saltern convert` makes ONNX of it, which this command takes");
  Model model = on_input([&] {
    Model m = without_constant_inputs(file.onnx());
    return o.head > 0 ? with_replaced_head(std::move(m), o.head, o.seed) : m;
  });
  TrainingModel training(on_input([&] { return trainable(model, file.shapes(), o.training.batch); }), o.training);
  const int64_t frozen = on_input([&] { return freeze(training.net(), o.freeze); });
  const Samples data = on_input([&] { return samples_for(training, o.data); });
  const std::vector<double> losses = trained(training, data, o);
  // The model as it was, with what was learned; what is frozen has its bits.
  const std::map<std::string, Tensor> learned = training.net().state();
  Checkpoint weights;
  for (const auto &[name, t] : learned) {
    Tensor &kept = model.graph.values.at(name).constant;
    if (!is_frozen(o.freeze, name)) kept = t.in_layout(Layout::row_major).clone();
    weights.tensors[name] = kept;
  }
  const std::string beside = fs::path(o.output).replace_extension(".safetensors").string();
  on_input([&] {
    save_onnx(o.output, model);
    save_checkpoint(beside, weights);
  });
  if (o.json) {
    const nlohmann::ordered_json line = {
        {"model", o.output},           {"weights", beside},
        {"samples", data.x.extent(0)}, {"parameters", training.net().parameter_count()},
        {"frozen_tensors", frozen},    {"losses", losses}};
    std::printf("%s\n", line.dump().c_str());
  } else {
    std::printf("%s and %s: loss %g, then %g\n", o.output.c_str(), beside.c_str(), losses.front(), losses.back());
  }
  return 0;
}

}  // namespace

void define_train(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<TrainOptions>();
  o->model.add_to(app);
  app.add_option("--data", o->data,
                 "An .npz with the arrays x and y, or a folder of MNIST's files (train-images-idx3-ubyte)")
      ->required();
  app.add_option("-o,--output", o->output,
                 "The model with what it learned: ONNX, and its weights beside it as safetensors")
      ->required();
  app.add_option("--freeze", o->freeze,
                 "Parameters by name that keep their values, with * and ?: 'layer1.*'. Batch norms whose statistics "
                 "are among them use these. May be given again")
      ->allow_extra_args(false);
  app.add_option("--replace-head", o->head, "A new last layer, for so many classes")->check(CLI::Range(1, 1 << 20));
  app.add_option("--epochs", o->epochs, "How often to go through the data")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--seed", o->seed, "Of the order of samples and of a new last layer")->capture_default_str();
  o->training.add_to(app, "");
  o->threads.add_to(app);
  app.add_flag("--json", o->json, "One line of JSON");
  app.footer(
      "  saltern train resnet18.onnx --data flowers.npz --freeze 'layer[123].*' --replace-head 10 \\\n"
      "      --optimizer adamw --epochs 5 -o flowers.onnx\n\nSamples that do not fill a batch are left for another "
      "epoch.");
  app.callback([o, &chosen] { chosen = [o] { return run_train(*o); }; });
}

}  // namespace saltern
