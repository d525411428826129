// A small ResNet on CIFAR-10, or on pictures of its kind that are made here.
//   cifar_resnet make DIR               ten kinds of shapes, in CIFAR-10's format
//   cifar_resnet train --output DIR     writes model.safetensors, checkpoints/, predictions.png, training.png, report.html,
//                                       training.json

#include <chrono>
#include <sstream>

#include "apps/cifar_resnet/augmentation.h"
#include "apps/cifar_resnet/made_pictures.h"
#include "apps/cifar_resnet/net.h"
#include "apps/training_program.h"
#include "runtime/data/png.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/trace.h"
#include "runtime/optim/schedules.h"
#include "runtime/report/contact_sheet.h"
#include "runtime/training/all.h"

namespace {

using namespace saltern;
namespace fs = std::filesystem;

struct MakeCommand {
  std::string folder;
  int64_t train = 5000, test = 1000;
  uint64_t seed = 1;

  explicit MakeCommand(CLI::App &app) {
    app.add_option("folder", folder, "Folder to write to")->required();
    app.add_option("--train", train, "Pictures to train on")->check(CLI::Range(10, 1000000))->capture_default_str();
    app.add_option("--test", test, "Pictures to test on")->check(CLI::Range(10, 1000000))->capture_default_str();
    app.add_option("--seed", seed, "Same seed, same pictures")->capture_default_str();
  }

  int run() const {
    make_folder(folder);
    make_pictures(folder, train, test, seed);
    return 0;
  }
};

// As they are distributed: data_batch_1.bin and so on, test_batch.bin, batches.meta.txt.
struct Cifar {
  Dataset train, test;
  std::vector<std::string> classes;

  explicit Cifar(const std::string &folder) {
    std::vector<std::string> files;
    for (int i = 1; fs::exists(batch(folder, i)); ++i) files.push_back(batch(folder, i));
    if (files.empty()) fail("there is no ", batch(folder, 1), "; the folder is to have CIFAR-10's binary files");
    train = load_cifar(files);
    test = load_cifar({folder + "/test_batch.bin"});
    const std::vector<uint8_t> names = read_file(folder + "/batches.meta.txt", 1 << 16);
    std::istringstream lines(std::string(names.begin(), names.end()));
    for (std::string line; std::getline(lines, line);)
      if (!line.empty()) classes.push_back(line);
    if (classes.size() != 10) fail(folder, "/batches.meta.txt has ", classes.size(), " names; expected 10");
  }
  static std::string batch(const std::string &folder, int i) {
    return folder + "/data_batch_" + std::to_string(i) + ".bin";
  }
};

struct TrainCommand {
  ProgramOptions training = {"cifar_resnet", /*epochs=*/5, /*batch=*/32, /*rate=*/0.05};
  std::string data, log;
  int64_t blocks = 1, width = 16, most_pixels = 3;
  bool resume = false;

  explicit TrainCommand(CLI::App &app) {
    training.add_to(app);
    app.add_option("--data", data, "Folder with CIFAR-10's binary files; else pictures are made, in DIR/pictures")
        ->check(CLI::ExistingDirectory);
    app.add_option("--blocks", blocks, "Residual blocks in each of the three stages: 1 makes 8 layers, 3 make 20")
        ->check(CLI::Range(1, 50))
        ->capture_default_str();
    app.add_option("--width", width, "Channels of the first stage")->check(CLI::Range(1, 512))->capture_default_str();
    app.add_option("--move", most_pixels, "Pixels that training moves pictures by, at most")
        ->check(CLI::Range(0, 16))
        ->capture_default_str();
    app.add_option("--log", log, "A file (.csv, .jsonl) or else a folder, for TensorBoard, to log to");
    app.add_flag("--resume", resume, "Go on from the last of DIR/checkpoints");
  }

  // Up for a tenth of the steps, and down to nothing along a cosine.
  std::function<double(int64_t)> rates(int64_t steps) const {
    const int64_t warm = std::max<int64_t>(1, steps / 10);
    const Schedule s = in_turn({schedule("LinearLR", {{"start_factor", 0.1}, {"total_iters", warm}}),
                                schedule("CosineAnnealingLR", {{"T_max", std::max<int64_t>(1, steps - warm)}})},
                               {warm});
    return [s, rate = training.rate](int64_t step) { return s(rate, step); };
  }

  TrainerOptions options(const Cifar &cifar, int64_t steps) const {
    TrainerOptions o;
    o.epochs = training.epochs;
    o.rate = rates(steps);
    o.metrics = {std::make_shared<Accuracy>()};
    o.checkpoints = {training.file("checkpoints"), /*keep=*/2, /*every_steps=*/0, /*best=*/"val_accuracy", resume};
    o.conditions = training.conditions();
    o.conditions["move"] = std::to_string(most_pixels);
    o.conditions["pictures"] = std::to_string(cifar.train.size());
    return o;
  }

  int run() const {
    const auto begin = std::chrono::steady_clock::now();
    training.begin();
    std::string folder = data;
    if (folder.empty()) {
      make_folder(folder = training.file("pictures"));
      make_pictures(folder, 5000, 1000, /*seed=*/1);
    }
    const Cifar cifar = on_input([&] { return Cifar(folder); });
    BatchOptions shuffled = training.shuffled();
    shuffled.change = mirrored_and_moved(32, most_pixels, training.seed);
    const Loader train = batches_of(cifar.train, shuffled), test = batches_of(cifar.test, ProgramOptions::in_order());

    nn::manual_seed(training.seed);
    Sequential net = residual_net(blocks, width, 10);
    SgdOptions momentum = {training.rate, 0.9, /*weight_decay=*/5e-4};
    momentum.nesterov = true;
    SGD optimizer(net, momentum);
    Trainer trainer(
        net, [](const Variable &y, const Variable &labels) { return cross_entropy(y, labels); }, optimizer,
        options(cifar, training.epochs * train.batches));
    if (!training.json) trainer.add(std::make_shared<ProgressBar>());
    if (!log.empty()) trainer.add(std::make_shared<Logging>(log, LoggingOptions{20, 200}));
    trainer.fit(train, test);

    Sequential classifier(net, nn::Softmax(-1));
    save_model(training.file("model.safetensors"), trace(classifier, {"batch", 3, 32, 32}));
    write_png(training.file("training.png"), draw(training_curves(trainer, "A small ResNet")).pixels());
    draw_predictions(*test.from(0, 0)(), trainer.predict(test), cifar.classes);
    write_report(training.file("report.html"), trainer, test, {"A small ResNet", cifar.classes});
    training.end({{"test_accuracy", trainer.history().epochs.at("val_accuracy").back()},
                  {"pictures", cifar.train.size()},
                  {"parameters", net.parameter_count()},
                  {"seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()}});
    return 0;
  }

  // The first pictures of those to test on, with what the net says they are.
  void draw_predictions(const Examples &some, const Tensor &scores, const std::vector<std::string> &classes) const {
    ContactSheet sheet;
    sheet.title = "What the net says";
    sheet.columns = 8;
    sheet.scale = 2;
    for (int64_t i = 0; i < std::min<int64_t>(some.size(), 24); ++i) {
      const float *row = scores.data<float>() + i * scores.extent(1);
      const auto said = static_cast<size_t>(std::max_element(row, row + scores.extent(1)) - row);
      const bool is_right = static_cast<int32_t>(said) == some.target.at<int32_t>({i});
      sheet.pictures.push_back({as_picture(some.x, i), classes[said], is_right ? Mark::right : Mark::wrong});
    }
    write_png(training.file("predictions.png"), draw(sheet).pixels());
  }
};

}  // namespace

int main(int argc, char **argv) {
  CLI::App app("A small ResNet on CIFAR-10, or on pictures of its kind", "cifar_resnet");
  app.require_subcommand(1);
  CLI::App *train = app.add_subcommand("train", "Train, save the model and draw what it says");
  const TrainCommand train_command(*train);
  const MakeCommand make_command(*app.add_subcommand("make", "Make pictures in CIFAR-10's format"));
  return run_program(app, argc, argv, [&] { return train->parsed() ? train_command.run() : make_command.run(); });
}
