// Pictures through a few numbers and back: an autoencoder of Fashion-MNIST.
//   autoencoder --output DIR      writes encoder.safetensors, decoder.safetensors, pictures.png, training.json

#include <algorithm>

#include "apps/fashion_mnist/data_option.h"
#include "apps/training_program.h"
#include "runtime/data/png.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/trace.h"
#include "runtime/report/contact_sheet.h"
#include "runtime/training/all.h"

namespace {

using namespace saltern;

constexpr int64_t side = 28, pixels = side * side, shown = 12;

struct Program {
  ProgramOptions training = {"autoencoder", /*epochs=*/5, /*batch=*/64, /*rate=*/1e-3};
  FashionOption data;
  int64_t numbers = 16;

  explicit Program(CLI::App &app) {
    training.add_to(app);
    data.add_to(app);
    app.add_option("--numbers", numbers, "How many numbers a picture becomes")
        ->check(CLI::Range(int64_t{1}, pixels))
        ->capture_default_str();
  }

  int run() const {
    training.begin();
    const FashionMnist fashion = data.load();
    // What comes out is to be what goes in.
    const auto itself = [](Examples &batch, int64_t, int64_t) { batch.target = batch.x; };
    const Loader train = changed(batches_of(fashion.train, training.shuffled()), itself),
                 test = changed(batches_of(fashion.test, ProgramOptions::in_order()), itself);

    nn::manual_seed(training.seed);
    Sequential encoder(nn::Flatten(), nn::Linear(pixels, 128), nn::ReLU(), nn::Linear(128, numbers));
    Sequential decoder(nn::Linear(numbers, 128), nn::ReLU(), nn::Linear(128, pixels), nn::Sigmoid(),
                       nn::Unflatten(1, Shape{1, side, side}));
    Sequential net(encoder, decoder);
    Adam optimizer(net, {training.rate});
    TrainerOptions options;
    options.epochs = training.epochs;
    Trainer trainer(net, mean_squared_error, optimizer, options);
    if (!training.json) trainer.add(std::make_shared<ProgressBar>());
    const History &history = trainer.fit(train, test);

    save_model(training.file("encoder.safetensors"), trace(encoder, {"batch", 1, side, side}));
    save_model(training.file("decoder.safetensors"), trace(decoder, {"batch", numbers}));
    draw_pictures(test.from(0, 0)()->x, trainer.predict(test));
    training.end(
        {{"numbers", numbers}, {"losses", history.epochs.at("val_loss")}, {"parameters", net.parameter_count()}});
    return 0;
  }

  // A row of pictures, and under it what came back.
  void draw_pictures(const Tensor &before, const Tensor &after) const {
    ContactSheet sheet;
    sheet.title = "Pictures, and what " + std::to_string(numbers) + " numbers keep of them";
    sheet.columns = std::min(shown, before.extent(0));
    sheet.scale = 2;
    for (const Tensor *images : {&before, &after})
      for (int64_t i = 0; i < sheet.columns; ++i) sheet.pictures.push_back({as_picture(*images, i), ""});
    write_png(training.file("pictures.png"), draw(sheet).pixels());
  }
};

}  // namespace

int main(int argc, char **argv) {
  CLI::App app("Learns to keep pictures as a few numbers, and to draw them again", "autoencoder");
  const Program program(app);
  return run_program(app, argc, argv, [&] { return program.run(); });
}
