// The autoencoder on a small budget: what it learned is beside the mean picture, by its saved halves.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/data/dataset.h"
#include "runtime/data/png.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/open_sizes.h"
#include "tests/apps/run_program.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

const std::string sample = SALTERN_SOURCE_DIR "/apps/fashion_mnist/sample";
constexpr int64_t pixels = 28 * 28;

Tensor as_numbers(const Dataset &pictures) {
  const Tensor x = Tensor::empty({pictures.size(), 1, 28, 28});
  for (int64_t i = 0; i < x.size(); ++i)
    x.data<float>()[i] = static_cast<float>(pictures.images.data<uint8_t>()[i]) / 255;
  return x;
}

double mean_square(const Tensor &a, const std::function<double(int64_t)> &b) {
  const Tensor rows = a.in_layout(Layout::row_major);
  double sum = 0;
  for (int64_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(rows.data<float>()[i]) - b(i), 2);
  return sum / static_cast<double>(a.size());
}

Tensor run_saved(const std::string &path, const Tensor &x) {
  const Graph any = load_model(path), net = at_sizes(any, sizes_of(any, {{any.inputs.at(0), x.shape()}}));
  return run(net, {{net.inputs[0], x}}).at(net.outputs.at(0));
}

TEST(Autoencoder, ItsHalvesDrawPicturesBetterThanTheirMean) {
  const ScratchFolder folder;
  const std::string out = folder.file("out");
  const Said said = run_program("autoencoder", "--epochs 4 --numbers 8 --json --data " + sample + " -o " + out);
  ASSERT_EQ(said.code, 0) << said.all;
  const nlohmann::json facts = nlohmann::json::parse(said.out, nullptr, false);
  ASSERT_EQ(facts["losses"].size(), 4U) << said.out;
  EXPECT_EQ(nlohmann::json::parse(bytes_of_file(out + "/training.json")), facts);

  const FashionMnist fashion = load_fashion_mnist(sample);
  const Tensor train = as_numbers(fashion.train), x = as_numbers(fashion.test);
  std::vector<double> mean(pixels);
  for (int64_t i = 0; i < train.size(); ++i)
    mean[static_cast<size_t>(i % pixels)] +=
        static_cast<double>(train.data<float>()[i]) / static_cast<double>(fashion.train.size());
  const Tensor code = run_saved(out + "/encoder.safetensors", x), y = run_saved(out + "/decoder.safetensors", code);
  ASSERT_EQ(code.shape(), (Shape{x.extent(0), 8}));
  const double loss = mean_square(y, [&](int64_t i) { return x.data<float>()[i]; });
  EXPECT_NEAR(loss, facts["losses"].back().get<double>(), 1e-4 * loss);
  EXPECT_LT(loss, 0.5 * mean_square(x, [&](int64_t i) { return mean[static_cast<size_t>(i % pixels)]; }));
  EXPECT_EQ(read_png(out + "/pictures.png").extent(2), 3);
}

TEST(Autoencoder, BadInputIsNamed) {
  const ScratchFolder folder;
  const Said none = run_program("autoencoder", "--data " + folder.file("none") + " -o " + folder.file("out"));
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(contains(none.all, folder.file("none")));
  EXPECT_EQ(run_program("autoencoder", "--numbers 0").code, 2);
  const std::string file = folder.write("file", "");
  const Said no_folder = run_program("autoencoder", "-o " + file + "/out --data " + sample);
  EXPECT_EQ(no_folder.code, 2);
  EXPECT_TRUE(contains(no_folder.all, file + "/out"));
}

}  // namespace
}  // namespace saltern
