// Noise out of pictures, by a net of convolutions that saw clean ones and made its own noise.
//   denoiser train --output DIR             writes model.safetensors, pictures.png, training.json
//   denoiser clean MODEL NOISY.png OUT.png  a picture of any size, each of its channels by itself

#include <algorithm>
#include <cmath>

#include "apps/fashion_mnist/data_option.h"
#include "apps/training_program.h"
#include "runtime/data/jpeg.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/open_sizes.h"
#include "runtime/graph/trace.h"
#include "runtime/report/contact_sheet.h"
#include "runtime/tensor/random.h"
#include "runtime/training/all.h"

namespace {

using namespace saltern;

constexpr int64_t shown = 10;

// Clean pictures are the target; what the net sees has noise, which is the same for the same seed, epoch and batch.
Change with_noise(double strength, uint64_t seed) {
  return [=](Examples &batch, int64_t epoch, int64_t number) {
    // No two batches come to draw the same numbers: a batch takes fewer than 2^24.
    Random random(seed, (static_cast<uint64_t>(epoch) << 48) + (static_cast<uint64_t>(number) << 24));
    batch.target = batch.x;
    batch.x = batch.x.clone();
    float *x = batch.x.data<float>();
    for (int64_t i = 0; i < batch.x.size(); ++i) x[i] += static_cast<float>(strength) * random.normal();
  };
}

// The noise, which is easier to tell than the picture, is taken away.
struct Denoiser : Module {
  Sequential noise;

  Denoiser() {
    const nn::NamedArgument same = {"padding", 1};
    noise = Sequential(nn::Conv2d(1, 16, 3, same), nn::ReLU(), nn::Conv2d(16, 16, 3, same), nn::ReLU(),
                       nn::Conv2d(16, 1, 3, same));
  }
  Variable forward(const Variable &x) override { return x - noise(x); }
  void visit(Visitor &v) override { v.child("noise", noise); }
};

double decibels(double mean_square) { return -10 * std::log10(mean_square); }

struct TrainCommand {
  ProgramOptions training = {"denoiser", /*epochs=*/2, /*batch=*/64, /*rate=*/2e-3};
  FashionOption data;
  double strength = 0.2;

  explicit TrainCommand(CLI::App &app) {
    training.add_to(app);
    data.add_to(app);
    app.add_option("--noise", strength, "Its deviation, where black is 0 and white 1")
        ->check(CLI::Range(0.001, 10.0))
        ->capture_default_str();
  }

  int run() const {
    training.begin();
    const FashionMnist fashion = data.load();
    const Loader train =
        changed(batches_of(fashion.train, training.shuffled()), with_noise(strength, 2 * training.seed));
    const Loader test =
        changed(batches_of(fashion.test, ProgramOptions::in_order()), with_noise(strength, 2 * training.seed + 1));
    nn::manual_seed(training.seed);
    Denoiser net;
    Adam optimizer(net, {training.rate});
    TrainerOptions options;
    options.epochs = training.epochs;
    Trainer trainer(net, mean_squared_error, optimizer, options);
    if (!training.json) trainer.add(std::make_shared<ProgressBar>());
    const std::vector<double> losses = trainer.fit(train, test).epochs.at("val_loss");

    save_model(training.file("model.safetensors"), trace(net, {"batch", 1, "height", "width"}));
    draw_pictures(*test.from(0, 0)(), trainer.predict(test));
    training.end({{"losses", losses},
                  {"noisy_decibels", decibels(strength * strength)},  // peak signal to noise
                  {"cleaned_decibels", decibels(losses.back())},
                  {"parameters", net.parameter_count()}});
    return 0;
  }

  // A row of pictures with noise, one of what the net makes of them, and one without noise.
  void draw_pictures(const Examples &some, const Tensor &cleaned) const {
    ContactSheet sheet;
    sheet.title = "With noise, cleaned, and as they were";
    sheet.columns = std::min(shown, some.size());
    sheet.scale = 2;
    for (const Tensor *images : {&some.x, &cleaned, &some.target})
      for (int64_t i = 0; i < sheet.columns; ++i) sheet.pictures.push_back({as_picture(*images, i), ""});
    write_png(training.file("pictures.png"), draw(sheet).pixels());
  }
};

struct CleanCommand {
  std::string model, input, output;

  explicit CleanCommand(CLI::App &app) {
    app.add_option("model", model, "What `denoiser train` wrote, model.safetensors")
        ->required()
        ->check(CLI::ExistingFile);
    app.add_option("input", input, "A PNG or JPEG picture, grey or coloured")->required()->check(CLI::ExistingFile);
    app.add_option("output", output, "PNG file to write")->required();
  }

  int run() const {
    return on_input([&] {
      PngOptions options;
      if (read_picture(input).extent(2) == 4) options.channels = Channels::rgb;
      const Tensor image = scaled_pixels(read_picture(input, options));
      const int64_t channels = image.extent(0), height = image.extent(1), width = image.extent(2);
      const Tensor x = image.reshaped({channels, 1, height, width});
      const Graph any = load_model(model), net = at_sizes(any, sizes_of(any, {{any.inputs.at(0), x.shape()}}));
      const Tensor y = saltern::run(net, {{net.inputs[0], x}}).at(net.outputs.at(0)).in_layout(Layout::row_major);
      write_png(output, as_picture(y.reshaped({1, channels, height, width})));
      return 0;
    });
  }
};

}  // namespace

int main(int argc, char **argv) {
  CLI::App app("Takes noise out of pictures", "denoiser");
  app.require_subcommand(1);
  CLI::App *train = app.add_subcommand("train", "Train, save the model and draw what it does");
  const TrainCommand train_command(*train);
  const CleanCommand clean_command(*app.add_subcommand("clean", "Take the noise out of a picture"));
  return run_program(app, argc, argv, [&] { return train->parsed() ? train_command.run() : clean_command.run(); });
}
