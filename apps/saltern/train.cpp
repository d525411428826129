// `saltern train`: an imported model learns from data in files, and is written as ONNX again.

#include <fnmatch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "apps/saltern/command.h"
#include "apps/saltern/machine_options.h"
#include "apps/saltern/replaced_head.h"
#include "apps/saltern/training_data.h"
#include "generators/model/compile_step.h"
#include "runtime/onnx/export.h"
#include "runtime/onnx/optimize.h"
#include "runtime/report/progress.h"
#include "runtime/tensor/checkpoint.h"

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
  PictureOptions pictures;
  bool skip_damaged = false, json = false;
};

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

std::vector<double> trained(TrainingModel &model, const TrainingData &data, const TrainOptions &o) {
  const CompiledStep step = on_input([&] {
    return compile_step(model.net(), model.inputs(), model.loss(), model.optimizer(),
                        {o.threads.threads, nullptr, static_cast<int64_t>(o.training.memory)});
  });
  std::vector<double> losses;
  for (int epoch = 1; epoch <= o.epochs; ++epoch) {
    Progress bar("epoch " + std::to_string(epoch) + "/" + std::to_string(o.epochs), data.batches.batches);
    double sum = 0;
    int64_t taken = 0;
    const Loader::Next next = data.batches.from(epoch - 1, 0);
    for (int64_t b = 0; const std::optional<Examples> batch = on_input(next); ++b) {
      sum += step(batch->x, batch->target);
      ++taken;
      if (!std::isfinite(sum))
        fail("the loss of batch ", b, " of epoch ", epoch, " is not finite: a smaller --rate may do");
      bar.update(b + 1, "loss " + std::to_string(sum / static_cast<double>(taken)));
    }
    if (taken == 0) throw BadInput(o.data + ": damaged samples leave no whole batch; a smaller --batch may do");
    losses.push_back(sum / static_cast<double>(taken));
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
  BatchOptions batches;
  batches.size = o.training.batch;
  batches.seed = o.seed;
  batches.keep_smaller_last = false;
  const TrainingData data =
      on_input([&] { return training_data(training, o.data, batches, o.pictures, o.skip_damaged); });
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
    nlohmann::ordered_json line = {{"model", o.output},        {"weights", beside},
                                   {"samples", data.samples},  {"parameters", training.net().parameter_count()},
                                   {"frozen_tensors", frozen}, {"losses", losses}};
    if (!data.classes.empty()) line["classes"] = data.classes;
    if (data.skipped) line["skipped"] = data.skipped->all();
    std::printf("%s\n", line.dump().c_str());
  } else {
    std::printf("%s and %s: loss %g, then %g\n", o.output.c_str(), beside.c_str(), losses.front(), losses.back());
    for (const auto &[name, why] : data.skipped ? data.skipped->all() : std::map<std::string, std::string>())
      std::printf("left out: %s: %s\n", name.c_str(), why.c_str());
  }
  return 0;
}

}  // namespace

void define_train(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<TrainOptions>();
  o->model.add_to(app);
  app.add_option("--data", o->data,
                 "An .npz with the arrays x and y, a folder of MNIST's files (train-images-idx3-ubyte), or one with a "
                 "folder of pictures (.png, .jpg) for each class")
      ->required();
  app.add_flag("--skip-damaged", o->skip_damaged, "Leave pictures out that cannot be read, and say which");
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
  o->pictures.add_to(app);
  o->threads.add_to(app);
  app.add_flag("--json", o->json, "One line of JSON");
  app.footer(
      "  saltern train resnet18.onnx --data flowers/ --freeze 'layer[123].*' --replace-head 10 \\\n"
      "      --optimizer adamw --epochs 5 -o flowers.onnx\n\nSamples that do not fill a batch are left for another "
      "epoch.");
  app.callback([o, &chosen] { chosen = [o] { return run_train(*o); }; });
}

}  // namespace saltern
