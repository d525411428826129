// `saltern train`: a model of a file, or layers that are written down, learn from data in files. All options may be in a text.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/json_text.h"
#include "apps/saltern/command.h"
#include "apps/saltern/config_file.h"
#include "apps/saltern/file_kind.h"
#include "apps/saltern/learner.h"
#include "apps/saltern/loop_options.h"
#include "apps/saltern/machine_options.h"
#include "generators/model/compile_step.h"
#include "runtime/training/training_report.h"
#include "runtime/transforms/transform.h"

namespace saltern {

namespace {

namespace fs = std::filesystem;

struct TrainOptions {
  std::string config;
  LearnerOptions learner;
  TrainingOptions training;
  LoopOptions loop;
  ThreadOptions threads;
  DataOptions reading;
  std::vector<std::string> transforms, validation_transforms;
  std::string data, validation, output;
  std::optional<bool> compiled;  // else of models of files
  bool json = false;

  // How samples of training and of validation are read.
  DataOptions reading_with(const char *option, const std::vector<std::string> &texts) const;
  // What else has to be as it was when training is resumed.
  std::map<std::string, std::string> conditions() const;
};

std::string joined(const std::vector<std::string> &all) {
  std::string text;
  for (const std::string &t : all) text += (text.empty() ? "" : "; ") + t;
  return text;
}

std::map<std::string, std::string> TrainOptions::conditions() const {
  const auto text = [](double v) { return CLI::detail::to_string(v); };
  return {{"net", learner.layers.empty() ? learner.model.path : joined(learner.layers)},
          {"loss", training.loss},
          {"optimizer's options", training.optimizer + ", " + text(training.rate) + ", " + text(training.momentum) +
                                      ", " + text(training.weight_decay)},
          {"transforms", joined(transforms)},
          {"schedule", joined(loop.schedule)},
          {"milestones", CLI::detail::join(loop.milestones)},
          {"schedule-by-steps", loop.by_steps ? "true" : "false"},
          {"clip-norm", text(loop.clip_norm)},
          {"freeze", joined(learner.freeze)},
          {"replace-head", std::to_string(learner.head)},
          {"steps", compiled.value_or(learner.layers.empty()) ? "compiled" : "by library kernels"},
          {"batch", std::to_string(training.batch)}};
}

DataOptions TrainOptions::reading_with(const char *option, const std::vector<std::string> &texts) const {
  DataOptions with = reading;
  if (!texts.empty()) try {
      with.transform = transforms::each_sample(transforms::written_transforms(texts), loop.seed);
    } catch (const Error &e) {
      throw BadInput(std::string(option) + ": " + e.what());
    }
  return with;
}

// The file that stands first is a text with options, or a model. `net` has the same, or layers.
void find_net(TrainOptions &o, CLI::App &app) {
  std::string &path = o.learner.model.path;
  if (!path.empty() && fs::exists(path) && kind_of_file(path) == FileKind::text) {
    o.config = path;
    path.clear();
    use_config(app, o.config);
  }
  std::vector<std::string> &layers = o.learner.layers;
  if (layers.size() == 1 && fs::path(layers[0]).has_extension() && layers[0].back() != ')') {
    if (!path.empty()) throw BadInput("--net " + layers[0] + ": the model is " + path + " already");
    path = layers[0];
    layers.clear();
  }
  if (path.empty() && layers.empty())
    throw BadInput("there is nothing to train: give a model, a text with options, or --net 'Linear(784, 10)'");
  if (!path.empty() && !layers.empty()) throw BadInput("--net: the net is " + path + " already");
  for (const auto &[name, value] : {std::pair("data", o.data), std::pair("output", o.output)})
    if (value.empty()) throw BadInput(o.config + (o.config.empty() ? "" : ": ") + "--" + name + " is missing");
}

// Before anything is computed: what was learned is not to be lost for want of a folder.
void expect_folder_of(const std::string &file) {
  const fs::path folder = fs::absolute(file).parent_path();
  std::error_code error;
  if (fs::is_directory(file, error)) throw BadInput(file + ": cannot write it: it is a folder");
  fs::create_directories(folder, error);
  if (error || access(folder.c_str(), W_OK) != 0)
    throw BadInput(file + ": cannot write to " + folder.string() + ": " +
                   (error ? error.message() : std::string(std::strerror(errno))));
}

// What cannot be read while training goes on is bad input, too.
Loader read_on_input(Loader loader) {
  loader.from = [of = loader.from](int64_t epoch, int64_t first) -> Loader::Next {
    return [next = on_input([&] { return of(epoch, first); })] { return on_input(next); };
  };
  return loader;
}

// All samples but a part, shuffled anew in every epoch; and that part.
struct Held {
  Order training, validation;

  Held(int64_t count, double share, uint64_t seed) {
    std::vector<int64_t> all = shuffled(count, seed, ~uint64_t{0});
    const auto held = static_cast<std::ptrdiff_t>(static_cast<double>(count) * share);
    if (held < 1 || held >= count) fail("--validation ", share, ": there are ", count, " samples");
    const std::vector<int64_t> kept(all.begin() + held, all.end());
    all.resize(static_cast<size_t>(held));
    std::sort(all.begin(), all.end());
    validation = [all](int64_t) { return all; };
    training = [kept, seed](int64_t epoch) {
      std::vector<int64_t> order = shuffled(static_cast<int64_t>(kept.size()), seed, static_cast<uint64_t>(epoch));
      for (int64_t &i : order) i = kept[static_cast<size_t>(i)];
      return order;
    };
  }
};

// What --validation says where it is a part of the data; else 0.
double share_of(const std::string &validation) {
  double share = 0;
  return CLI::detail::lexical_cast(validation, share) && share > 0 && share < 1 ? share : 0;
}

struct AllData {
  TrainingData training;
  std::optional<TrainingData> validation;

  // What was left out, and why.
  std::map<std::string, std::string> skipped() const {
    std::map<std::string, std::string> all;
    for (const TrainingData *d : {&training, validation ? &*validation : nullptr})
      if (d && d->skipped) all.merge(d->skipped->all());
    return all;
  }
};

AllData all_data(const TrainOptions &o, const DataFiles &files, const Learner &learner, bool whole_batches) {
  return on_input([&] {
    BatchOptions shuffled, in_order;
    shuffled.size = in_order.size = o.training.batch;
    shuffled.seed = o.loop.seed;
    in_order.shuffle = false;
    const double share = share_of(o.validation);
    const bool is_share = share > 0;
    if (is_share) {
      const Held held(files.size(), share, o.loop.seed);
      shuffled.order = held.training;
      in_order.order = held.validation;
    }
    DataOptions reading = o.reading_with("--transform", o.transforms);
    AllData all;
    if (!o.validation.empty())
      all.validation =
          (is_share ? files : DataFiles(o.validation, DataFiles::Part::validation))
              .batches(learner.form(), in_order, o.reading_with("--validation-transform", o.validation_transforms));
    reading.whole_batches = whole_batches;
    all.training = files.batches(learner.form(), shuffled, reading);
    if (all.validation && !all.validation->classes.empty() && all.validation->classes != all.training.classes)
      fail("--validation ", o.validation, " has other classes than --data: ", joined(all.validation->classes), ", not ",
           joined(all.training.classes));
    all.training.batches = read_on_input(all.training.batches);
    if (all.validation) all.validation->batches = read_on_input(all.validation->batches);
    return all;
  });
}

// Before an epoch is trained for nothing.
void expect_known(const std::string &best, const TrainerOptions &t, bool validates) {
  std::vector<std::string> names = {"loss", "rate"};
  for (const auto &m : t.metrics)
    if (!t.compiled) names.push_back(m->name());
  if (validates) names.emplace_back("val_loss");
  for (const auto &m : t.metrics)
    if (validates) names.push_back("val_" + m->name());
  if (!best.empty() && !std::count(names.begin(), names.end(), best))
    throw BadInput("--best " + best + ": expected one of " + joined(names));
}

void say(const TrainOptions &o, Trainer &trainer, Learner &learner, const AllData &data, double seconds,
         const std::vector<std::string> &files) {
  const History &history = trainer.history();
  const std::vector<double> &losses = history.epochs.at("loss");
  if (o.json) {
    nlohmann::ordered_json line = {{"model", files[0]},
                                   {"weights", files.back()},
                                   {"samples", data.training.samples},
                                   {"parameters", learner.net().parameter_count()},
                                   {"frozen_tensors", learner.frozen()},
                                   {"losses", losses},
                                   {"epochs", history.epochs},
                                   {"steps", trainer.step()},
                                   {"resumed_at_step", trainer.resumed_at()},
                                   {"seconds", seconds}};
    if (!data.training.classes.empty()) line["classes"] = data.training.classes;
    if (data.training.skipped) line["skipped"] = data.skipped();
    std::printf("%s\n", json_text(line).c_str());
    return;
  }
  std::string names;
  for (const std::string &f : files) names += (names.empty() ? "" : " and ") + f;
  std::printf("%s: loss %g, then %g\n", names.c_str(), losses.front(), losses.back());
  for (const auto &[name, values] : history.epochs)
    if (name != "loss" && name != "rate") std::printf("%s %g\n", name.c_str(), values.back());
  for (const auto &[name, why] : data.skipped()) std::printf("left out: %s: %s\n", name.c_str(), why.c_str());
}

// What would be left out without a word is refused.
void expect_used(const TrainOptions &o, const DataFiles &files, const CLI::App &app) {
  const auto given = [&](const char *option) { return is_given(*app.get_option(option)); };
  const struct {
    const char *option, *without;
  } needs[] = {{"--keep", "--checkpoints"},
               {"--checkpoint-every", "--checkpoints"},
               {"--validation-transform", "--validation"},
               {"--statistics-every", "--log"},
               {"--schedule-by-steps", "--schedule"}};
  for (const auto &[option, without] : needs)
    if (given(option) && !given(without)) throw BadInput(std::string(option) + " says nothing without " + without);
  const bool validates_files = !o.validation.empty() && share_of(o.validation) == 0;
  const bool are_pictures =
      files.are_pictures() || (validates_files && DataFiles::are_pictures(o.validation, DataFiles::Part::validation));
  const bool are_read_so = o.transforms.empty() || (!o.validation.empty() && o.validation_transforms.empty());
  expect_no_picture_options(app, !are_pictures  ? "the data are arrays, and not pictures"
                                 : !are_read_so ? "transforms get pictures as they are"
                                                : "");
  if (o.reading.skip_damaged && !are_pictures) throw BadInput("--skip-damaged: the data are arrays, and not pictures");
}

int trained(const TrainOptions &o, const CLI::App &app) {
  const auto begin = std::chrono::steady_clock::now();
  o.threads.use();
  expect_writable_model(o.output, o.learner.layers.empty());
  expect_folder_of(o.output);
  std::error_code none;  // of files that are not there
  const fs::path weights = fs::path(o.output).replace_extension(".safetensors");
  if (o.learner.layers.empty() && fs::equivalent(weights, o.learner.model.path, none))
    throw BadInput("-o " + o.output + ": its weights would be written over " + weights.string() + ", the model itself");
  if (!o.loop.report.empty()) expect_folder_of(o.loop.report);
  const DataFiles files = on_input([&] { return DataFiles(o.data); });
  expect_used(o, files, app);
  const Shape sample = on_input([&] { return files.sample(o.reading_with("--transform", o.transforms)); });
  const std::unique_ptr<Learner> learner = learner_of(o.learner, o.training, sample, o.loop.seed);
  const bool compiled = o.compiled.value_or(o.learner.layers.empty());
  if (!compiled && o.training.memory > 0) throw BadInput("--memory: only compiled steps have a budget");
  const AllData data = all_data(o, files, *learner, compiled || learner->takes_whole_batches());
  Module &net = learner->net();
  const std::unique_ptr<Optimizer> optimizer = on_input([&] { return o.training.optimizer_of(net); });

  const Loader &train = data.training.batches;
  const int64_t steps = (train.batches + o.loop.accumulate - 1) / o.loop.accumulate;
  const Loss loss = [&named = o.training.named_loss()](const Variable &y, const Variable &t) { return named.of(y, t); };
  TrainerOptions options = on_input([&] { return o.loop.trainer(*optimizer, steps); });
  options.conditions = o.conditions();
  options.conditions["data"] = files.hash();
  std::optional<CompiledStep> step;
  if (compiled) {
    net.train();
    StepOptions how;
    how.threads = o.threads.threads;
    how.memory = static_cast<int64_t>(o.training.memory);
    how.accumulate = static_cast<int>(o.loop.accumulate);
    std::swap(how.clip_norm, options.clip_norm);
    step =
        on_input([&] { return compile_step(net, loss, *optimizer, learner->form().x, learner->form().labels, how); });
    options.compiled = [&](const std::vector<Examples> &batches) {
      double sum = 0;
      for (const Examples &e : batches) sum += static_cast<double>((*step)(e.x, e.target));
      step->finish();
      return sum / static_cast<double>(batches.size());
    };
  }
  expect_known(o.loop.best, options, data.validation.has_value());
  Trainer trainer = on_input([&] { return Trainer(net, loss, *optimizer, options); });
  o.loop.add_callbacks(trainer, data.validation.has_value(), !o.json);
  if (o.loop.resume && trainer.checkpoints().last().empty())
    std::fprintf(stderr, "saltern: there is no checkpoint in %s to go on from: training begins\n",
                 o.loop.checkpoints.c_str());
  data.validation ? trainer.fit(train, data.validation->batches) : trainer.fit(train);

  const Averages::Swapped averages(trainer.averages());
  const std::vector<std::string> written = on_input([&] { return learner->write(o.output); });
  if (!o.loop.report.empty())
    on_input([&] {
      write_report(o.loop.report, trainer, data.validation ? data.validation->batches : train,
                   {fs::path(o.config.empty() ? o.output : o.config).stem().string(), data.training.classes});
    });
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  say(o, trainer, *learner, data, taken.count(), written);
  return 0;
}

int run_train(TrainOptions &o, CLI::App &app) {
  find_net(o, app);
  try {
    return trained(o, app);
  } catch (const BadInput &e) {
    throw BadInput(o.config + (o.config.empty() ? "" : ": ") + e.what());
  }
}

}  // namespace

void define_train(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<TrainOptions>();
  o->learner.add_to(app);
  app.add_option("--data", o->data,
                 "An .npz with the arrays x and y, a folder of MNIST's files (train-images-idx3-ubyte), or one with a "
                 "folder of pictures (.png, .jpg) for each class");
  app.add_option(
      "--validation", o->validation,
      "The same, for the numbers val_NAME behind every epoch; of MNIST's files those that begin with t10k. Or a "
      "part of --data that is held back: 0.1");
  app.add_flag("--skip-damaged", o->reading.skip_damaged, "Leave pictures out that cannot be read, and say which");
  app.add_option(
         "--transform,--transforms", o->transforms,
         "What becomes of a sample, with torchvision's names and arguments: 'RandomCrop(28, padding=4)'. May be given "
         "again; pictures are read as they are then")
      ->allow_extra_args(false);
  app.add_option("--validation-transform,--validation-transforms", o->validation_transforms,
                 "The same, of --validation")
      ->allow_extra_args(false);
  app.add_option("-o,--output", o->output,
                 "The model with what it learned: .onnx, with its weights beside it as safetensors; of layers also "
                 ".safetensors, a saved net");
  // A variable would be set to 0 where neither is given.
  app.add_flag_function(
      "--compiled,!--tape", [o](int64_t count) { o->compiled = count > 0; },
      "Steps are compiled for their exact shapes, which takes a C compiler, or taken by library kernels. By "
      "default, models of files are compiled and layers are not");
  o->training.add_to(app, "");
  o->loop.add_to(app);
  o->reading.pictures.add_to(app);
  o->threads.add_to(app);
  app.add_flag("--json", o->json, "One line of JSON");
  app.footer(
      "  saltern train fashion.toml --epochs 5 --resume\n"
      "  saltern train resnet18.onnx --data flowers/ --freeze 'layer[123].*' --replace-head 10 \\\n"
      "      --optimizer adamw --epochs 5 -o flowers.onnx\n\n"
      "A text has options by their long names: data = \"flowers\", epochs = 5, net = [\"Flatten()\", \"Linear(784, "
      "10)\"]. "
      "What stands on the command line comes before it. Models of files and compiled steps take whole batches: samples "
      "that do not fill one are left for another epoch.");
  app.callback([o, &app, &chosen] { chosen = [o, &app] { return run_train(*o, app); }; });
}

}  // namespace saltern
