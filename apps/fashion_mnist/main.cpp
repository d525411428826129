// Trains the demo's net on Fashion-MNIST, and shows what it learned:
//   fashion_mnist train --output DIR      writes model.safetensors, checkpoints/, training.png, report.html, training.json
//   fashion_mnist sheet PREDICTIONS PNG   draws what the compiled classifier said of pictures

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "apps/fashion_mnist/net.h"
#include "runtime/data/png.h"
#include "runtime/files/file.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/trace.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/report/contact_sheet.h"
#include "runtime/report/plot.h"
#include "runtime/training/logging.h"
#include "runtime/training/progress_bar.h"
#include "runtime/training/training_report.h"

namespace {

using namespace saltern;
namespace fs = std::filesystem;

void draw_training(const Trainer &trainer, const std::string &path) {
  const History &h = trainer.history();
  std::vector<double> epoch_step;
  for (int64_t epoch = 1; epoch <= trainer.epoch(); ++epoch)
    epoch_step.push_back(static_cast<double>(epoch * trainer.steps_an_epoch()));
  Plot plot;
  plot.title = "Fashion-MNIST";
  plot.x_label = "step";
  plot.left_label = "training loss";
  plot.right_label = "test accuracy";
  plot.series = {{"training loss", h.step, h.loss, colours::blue, Axis::left},
                 {"test accuracy", epoch_step, h.epochs.at("val_accuracy"), colours::orange, Axis::right}};
  write_png(path, draw(plot).pixels());
}

struct TrainCommand {
  int64_t epochs = 2, batch = 64, stop_after = 0, checkpoint_every = 0;
  double rate = 0.03;  // it falls linearly to zero
  uint64_t seed = 1;
  bool resume = false, json = false;
  std::string output = "fashion", data, log;
  int threads = 0;

  explicit TrainCommand(CLI::App &app) {
    app.add_option("-o,--output", output, "Folder to write to")->capture_default_str();
    app.add_option(
        "--data", data,
        "Folder with the four IDX files, gzipped or plain; else Debian's dataset-fashion-mnist, else the sample");
    app.add_option("--epochs", epochs, "Times to go through the data")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_option("--batch", batch, "Pictures a step")->check(CLI::Range(1, 10000))->capture_default_str();
    app.add_option("--rate", rate, "Learning rate at the start")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--seed", seed, "Same seed, same bits")->capture_default_str();
    app.add_option("--threads", threads, "Threads; else SALTERN_THREADS, else all cores")->check(CLI::Range(1, 256));
    app.add_flag("--resume", resume, "Go on from the last of DIR/checkpoints");
    app.add_option("--stop-after", stop_after, "Stop after so many steps; --resume goes on")
        ->check(CLI::PositiveNumber);
    app.add_option("--checkpoint-every", checkpoint_every,
                   "Steps from one checkpoint to the next, beside those of epochs")
        ->check(CLI::PositiveNumber);
    app.add_option("--log", log, "A file (.csv, .jsonl) or else a folder, for TensorBoard, to log to");
    app.add_flag("--json", json, "Only a line of JSON, in the end");
  }

  TrainerOptions options(const FashionMnist &fashion, int64_t steps) const {
    char exact[32];
    std::snprintf(exact, sizeof exact, "%.17g", rate);
    TrainerOptions o;
    o.epochs = epochs;
    o.rate = [rate = rate, steps](int64_t step) {
      return rate * (1 - static_cast<double>(step) / static_cast<double>(steps));
    };
    o.metrics = {std::make_shared<Accuracy>()};
    o.checkpoints = {output + "/checkpoints", /*keep=*/1, checkpoint_every, "", resume};
    o.conditions = {{"epochs", std::to_string(epochs)},
                    {"batch", std::to_string(batch)},
                    {"rate", exact},
                    {"seed", std::to_string(seed)},
                    {"pictures", std::to_string(fashion.train.size())}};
    return o;
  }

  int run() {
    const auto begin = std::chrono::steady_clock::now();
    if (threads > 0) set_threads(threads);
    const FashionMnist fashion = load_fashion_mnist(data.empty() ? find_fashion_mnist(SALTERN_FASHION_SAMPLE) : data);
    if (!json)
      std::cerr << fashion.train.size() << " pictures to train on, " << fashion.test.size() << " to test, from "
                << fashion.folder << "\n";
    BatchOptions shuffled, in_order;
    shuffled.size = batch;
    shuffled.seed = seed;
    in_order.size = 250;
    in_order.shuffle = false;
    const Loader train = batches_of(fashion.train, shuffled), test = batches_of(fashion.test, in_order);

    nn::manual_seed(seed);
    Sequential net = fashion_net();
    SGD optimizer(net, {rate, 0.9});
    Trainer trainer(
        net, [](const Variable &y, const Variable &labels) { return cross_entropy(y, labels); }, optimizer,
        options(fashion, epochs * train.batches));
    const auto stop = std::make_shared<Functions>();
    stop->step_end = [this](Trainer &t, int64_t step, const Logs &) {
      if (stop_after > 0 && step >= stop_after) t.stop();
    };
    trainer.add(stop);
    if (!json) trainer.add(std::make_shared<ProgressBar>());
    if (!log.empty()) trainer.add(std::make_shared<Logging>(log, LoggingOptions{20, 200}));
    if (resume && trainer.checkpoints().last().empty())
      std::cerr << "there is no checkpoint in " << output << "/checkpoints to go on from: training begins\n";
    trainer.fit(train, test);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!trainer.finished()) return 0;

    Sequential classifier(net, nn::Softmax(-1));
    save_model(output + "/model.safetensors", trace(classifier, {"batch", 1, 28, 28}));
    draw_training(trainer, output + "/training.png");
    write_report(output + "/report.html", trainer, test,
                 {"Fashion-MNIST", {FashionMnist::class_names.begin(), FashionMnist::class_names.end()}});
    const nlohmann::json facts = {{"test_accuracy", trainer.history().epochs.at("val_accuracy").back()},
                                  {"train_seconds", seconds},
                                  {"resumed_at_step", trainer.resumed_at()},
                                  {"parameters", net.parameter_count()},
                                  {"threads", saltern::threads()}};
    write_atomically(output + "/training.json", facts.dump(2) + "\n");
    std::cout << facts.dump() << "\n";
    return 0;
  }
};

// Lines of: picture, class name, probability, tab-separated. A picture is named after its true class.
struct SheetCommand {
  std::string predictions, output;

  explicit SheetCommand(CLI::App &app) {
    app.add_option("predictions", predictions, "What the classifier printed with --tsv")
        ->required()
        ->check(CLI::ExistingFile);
    app.add_option("output", output, "PNG file to write")->required();
  }

  int run() {
    ContactSheet sheet;
    sheet.title = "What the compiled net says";
    sheet.columns = 5;
    std::ifstream lines(predictions);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      std::string picture, name, probability;
      if (!std::getline(fields, picture, '\t') || !std::getline(fields, name, '\t') ||
          !std::getline(fields, probability))
        fail(predictions, ": expected picture, class and probability, not '", line, "'");
      const bool right = file_name(name) == fs::path(picture).stem().string();
      sheet.pictures.push_back(
          {read_png(picture, {Channels::grey}), name + "\n" + probability, right ? Mark::right : Mark::wrong});
    }
    if (sheet.pictures.empty()) fail(predictions, ": no predictions");
    write_png(output, draw(sheet).pixels());
    return 0;
  }

  // "Ankle boot" as a file is called: ankle-boot
  static std::string file_name(std::string text) {
    for (char &c : text) c = c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
  }
};

}  // namespace

int main(int argc, char **argv) {
  CLI::App app("Trains a small convolutional net on Fashion-MNIST");
  app.require_subcommand(1);
  CLI::App *train_app = app.add_subcommand("train", "Train, save the model and draw the loss");
  CLI::App *sheet_app = app.add_subcommand("sheet", "Draw pictures with what a classifier said of them");
  TrainCommand train_command(*train_app);
  SheetCommand sheet_command(*sheet_app);
  try {
    app.parse(argc, argv);
    return train_app->parsed() ? train_command.run() : sheet_command.run();
  } catch (const CLI::ParseError &e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception &e) {
    std::cerr << "fashion_mnist: " << e.what() << "\n";
    return 1;
  }
}
