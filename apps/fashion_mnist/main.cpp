// Trains the demo's net on Fashion-MNIST, and shows what it learned:
//   fashion_mnist train --output DIR      writes model.safetensors, checkpoint.safetensors, training.png, training.json
//   fashion_mnist sheet PREDICTIONS PNG   draws what the compiled classifier said of pictures

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "apps/fashion_mnist/net.h"
#include "apps/fashion_mnist/train.h"
#include "runtime/data/png.h"
#include "runtime/files/file.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/trace.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/report/contact_sheet.h"
#include "runtime/report/plot.h"

namespace {

using namespace saltern;
namespace fs = std::filesystem;

void draw_training(const TrainHistory &h, const std::string &path) {
  Plot plot;
  plot.title = "Fashion-MNIST";
  plot.x_label = "step";
  plot.left_label = "training loss";
  plot.right_label = "test accuracy";
  plot.series = {{"training loss", h.step, h.loss, colours::blue, Axis::left},
                 {"test accuracy", h.epoch_step, h.test_accuracy, colours::orange, Axis::right}};
  write_png(path, draw(plot).pixels());
}

struct TrainCommand {
  TrainOptions options;
  std::string output = "fashion", data;
  int threads = 0;

  explicit TrainCommand(CLI::App &app) {
    app.add_option("-o,--output", output, "Folder to write to")->capture_default_str();
    app.add_option(
        "--data", data,
        "Folder with the four IDX files, gzipped or plain; else Debian's dataset-fashion-mnist, else the sample");
    app.add_option("--epochs", options.epochs, "Times to go through the data")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_option("--batch", options.batch, "Pictures a step")->check(CLI::Range(1, 10000))->capture_default_str();
    app.add_option("--rate", options.rate, "Learning rate at the start")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--seed", options.seed, "Same seed, same bits")->capture_default_str();
    app.add_option("--threads", threads, "Threads; else SALTERN_THREADS, else all cores")->check(CLI::Range(1, 256));
    app.add_flag("--resume", options.resume, "Go on from DIR/checkpoint.safetensors");
    app.add_option("--stop-after", options.stop_after_steps, "Stop after so many steps; --resume goes on")
        ->check(CLI::PositiveNumber);
  }

  int run() {
    if (threads > 0) set_threads(threads);
    fs::create_directories(output);
    options.checkpoint = output + "/checkpoint.safetensors";
    const FashionMnist fashion = load_fashion_mnist(data.empty() ? find_fashion_mnist(SALTERN_FASHION_SAMPLE) : data);
    std::cerr << fashion.train.size() << " pictures to train on, " << fashion.test.size() << " to test, from "
              << fashion.folder << "\n";
    nn::manual_seed(options.seed);
    Sequential net = fashion_net();
    const Trained t = train(net, fashion, options);
    if (!t.finished) return 0;

    Sequential classifier(net, nn::Softmax(-1));
    save_model(output + "/model.safetensors", trace(classifier, {"batch", 1, 28, 28}));
    draw_training(t.history, output + "/training.png");
    const nlohmann::json facts = {{"test_accuracy", t.test_accuracy},
                                  {"train_seconds", t.seconds},
                                  {"resumed_at_step", t.resumed_at},
                                  {"parameters", net.parameter_count()},
                                  {"threads", saltern::threads()}};
    const std::string text = facts.dump(2) + "\n";
    AtomicFile file(output + "/training.json");
    file.write(text.data(), text.size());
    file.commit();
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
