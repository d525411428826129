// Trains the demo's net on Fashion-MNIST, and shows what it learned:
//   fashion_mnist train --output DIR      writes model.safetensors, checkpoints/, checkpoint.safetensors (the last),
//                                         training.png, report.html, training.json
//   fashion_mnist sheet PREDICTIONS PNG   draws what the compiled classifier said of pictures

#include <chrono>
#include <fstream>

#include "apps/fashion_mnist/data_option.h"
#include "apps/fashion_mnist/net.h"
#include "apps/training_program.h"
#include "runtime/data/png.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/trace.h"
#include "runtime/report/contact_sheet.h"
#include "runtime/training/logging.h"
#include "runtime/training/progress_bar.h"
#include "runtime/training/training_report.h"

namespace {

using namespace saltern;
namespace fs = std::filesystem;

struct TrainCommand {
  ProgramOptions training = {"fashion", /*epochs=*/2, /*batch=*/64, /*rate=*/0.03};  // which falls linearly to zero
  FashionOption data;
  int64_t stop_after = 0, checkpoint_every = 0;
  bool resume = false;
  std::string log;

  explicit TrainCommand(CLI::App &app) {
    training.add_to(app);
    data.add_to(app);
    app.add_flag("--resume", resume, "Go on from the last of DIR/checkpoints");
    app.add_option("--stop-after", stop_after, "Stop after so many steps; --resume goes on")
        ->check(CLI::PositiveNumber);
    app.add_option("--checkpoint-every", checkpoint_every,
                   "Steps from one checkpoint to the next, beside those of epochs")
        ->check(CLI::PositiveNumber);
    app.add_option("--log", log, "A file (.csv, .jsonl) or else a folder, for TensorBoard, to log to");
  }

  TrainerOptions options(const FashionMnist &fashion, int64_t steps) const {
    TrainerOptions o;
    o.epochs = training.epochs;
    o.rate = [rate = training.rate, steps](int64_t step) {
      return rate * (1 - static_cast<double>(step) / static_cast<double>(steps));
    };
    o.metrics = {std::make_shared<Accuracy>()};
    o.checkpoints = {training.file("checkpoints"), /*keep=*/1, checkpoint_every, "", resume};
    o.conditions = training.conditions();
    o.conditions["pictures"] = std::to_string(fashion.train.size());
    return o;
  }

  int run() {
    const auto begin = std::chrono::steady_clock::now();
    training.begin();
    const FashionMnist fashion = data.load();
    if (!training.json)
      std::cerr << fashion.train.size() << " pictures to train on, " << fashion.test.size() << " to test, from "
                << fashion.folder << "\n";
    const Loader train = batches_of(fashion.train, training.shuffled()),
                 test = batches_of(fashion.test, ProgramOptions::in_order());

    nn::manual_seed(training.seed);
    Sequential net = fashion_net();
    SGD optimizer(net, {training.rate, 0.9});
    Trainer trainer(
        net, [](const Variable &y, const Variable &labels) { return cross_entropy(y, labels); }, optimizer,
        options(fashion, training.epochs * train.batches));
    const auto stop = std::make_shared<Functions>();
    stop->step_end = [this](Trainer &t, int64_t step, const Logs &) {
      if (stop_after > 0 && step >= stop_after) t.stop();
    };
    trainer.add(stop);
    if (!training.json) trainer.add(std::make_shared<ProgressBar>());
    if (!log.empty()) trainer.add(std::make_shared<Logging>(log, LoggingOptions{20, 200}));
    if (resume && trainer.checkpoints().last().empty())
      std::cerr << "there is no checkpoint in " << training.file("checkpoints") << " to go on from: training begins\n";
    trainer.fit(train, test);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!trainer.finished()) return 0;

    Sequential classifier(net, nn::Softmax(-1));
    save_model(training.file("model.safetensors"), trace(classifier, {"batch", 1, 28, 28}));
    // The last checkpoint by a name that does not tell the step, for scripts.
    save_checkpoint(training.file("checkpoint.safetensors"), load_checkpoint(trainer.checkpoints().last()));
    write_png(training.file("training.png"), draw(training_curves(trainer, "Fashion-MNIST")).pixels());
    write_report(training.file("report.html"), trainer, test,
                 {"Fashion-MNIST", {FashionMnist::class_names.begin(), FashionMnist::class_names.end()}});
    training.end({{"test_accuracy", trainer.history().epochs.at("val_accuracy").back()},
                  {"train_seconds", seconds},
                  {"resumed_at_step", trainer.resumed_at()},
                  {"parameters", net.parameter_count()},
                  {"threads", saltern::threads()}});
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
  CLI::App app("Trains a small convolutional net on Fashion-MNIST", "fashion_mnist");
  app.require_subcommand(1);
  CLI::App *train_app = app.add_subcommand("train", "Train, save the model and draw the loss");
  CLI::App *sheet_app = app.add_subcommand("sheet", "Draw pictures with what a classifier said of them");
  TrainCommand train_command(*train_app);
  SheetCommand sheet_command(*sheet_app);
  return run_program(app, argc, argv, [&] {
    return train_app->parsed() ? train_command.run() : on_input([&] { return sheet_command.run(); });
  });
}
