// What people look at: logs of a training, and its report.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "runtime/training/all.h"
#include "runtime/training/parts.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

constexpr int64_t samples = 12, side = 6, kinds = 3;

struct Trained {
  Tensor x = Random(3).uniform_tensor({samples, 1, side, side}, 0, 1), labels = Tensor::empty({samples}, Type::i64);
  Sequential net;
  std::unique_ptr<SGD> optimizer;
  std::unique_ptr<Trainer> trainer;
  Loader data;

  explicit Trained(const std::shared_ptr<Callback> &callback = nullptr, const std::string &folder = "",
                   int64_t epochs = 2) {
    nn::manual_seed(2);
    net = Sequential(nn::Conv2d(1, 4, 3), nn::ReLU(), nn::Flatten(), nn::Linear(4 * 16, kinds));
    for (int64_t i = 0; i < samples; ++i) labels.data<int64_t>()[i] = i % kinds;
    optimizer = std::make_unique<SGD>(net, SgdOptions{0.1});
    TrainerOptions options;
    options.epochs = epochs;
    options.steps_a_point = 2;
    options.metrics = {std::make_shared<Accuracy>()};
    options.checkpoints = {folder, 1, 0, "", true};
    trainer = std::make_unique<Trainer>(
        net, [](const Variable &y, const Variable &t) { return cross_entropy(y, t); }, *optimizer, options);
    if (callback) trainer->add(callback);
    BatchOptions batches;
    batches.size = 4;
    data = batches_of(x, labels, batches);
    trainer->fit(data, data);
  }
};

std::vector<std::string> lines_of(const std::string &path) {
  std::ifstream in(path);
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

TEST(Shown, LogsHaveStepsEpochsAndStatistics) {
  const ScratchFolder folder;
  const Trained t(std::make_shared<Logging>(folder.file("log.csv"), LoggingOptions{1, 3}));
  const std::vector<std::string> lines = lines_of(folder.file("log.csv"));
  const auto count = [&](const std::string &pattern) {
    return std::count_if(lines.begin(), lines.end(),
                         [&](const std::string &l) { return std::regex_search(l, std::regex(pattern)); });
  };
  EXPECT_EQ(count("^[1-6],step/loss,"), 6);
  EXPECT_EQ(count("^[1-6],step/gradient_norm,[0-9]"), 6);
  EXPECT_EQ(count("^(3|6),epoch/val_accuracy,"), 2);
  for (const char *name : {"parameters/0.weight", "gradients/3.bias", "outputs/0", "outputs/3"})
    EXPECT_EQ(count("^(3|6)," + std::string(name) + "/deviation,"), 2) << name;
}

TEST(Shown, LogsOfAResumedTrainingAreThoseOfAWholeOne) {
  const ScratchFolder folder;
  Trained(std::make_shared<Logging>(folder.file("whole.csv")), folder.file("whole"), 3);
  Trained(std::make_shared<Logging>(folder.file("parts.csv")), folder.file("parts"), 1);
  Trained(std::make_shared<Logging>(folder.file("parts.csv")), folder.file("parts"), 3);
  EXPECT_EQ(lines_of(folder.file("parts.csv")), lines_of(folder.file("whole.csv")));
}

TEST(Shown, CurvesHaveTheLossByStepsAndTheAccuracyByEpochs) {
  Trained t;
  const History &history = t.trainer->history();
  const Plot plot = training_curves(*t.trainer, "A");
  ASSERT_EQ(plot.series.size(), 2U);
  EXPECT_EQ(plot.series[0].y, history.loss);
  EXPECT_EQ(plot.series[1].y, history.epochs.at("val_accuracy"));
  const auto steps = static_cast<double>(t.data.batches);
  EXPECT_EQ(plot.series[1].x, (std::vector<double>{steps, 2 * steps}));
  EXPECT_EQ(plot.series[1].axis, Axis::right);
}

TEST(Shown, TheReportHasWhatTheNetSaid) {
  Trained t;
  const HtmlReport report = report_of(*t.trainer, t.data, {"A & B", {"one", "two", "three"}, 3});
  // Counted by hand.
  const Tensor y = t.net(t.x).value();
  std::vector<std::vector<int64_t>> counts(kinds, std::vector<int64_t>(kinds));
  int64_t wrong = 0;
  for (int64_t n = 0; n < samples; ++n) {
    const float *row = y.data<float>() + n * kinds;
    const int64_t said = std::max_element(row, row + kinds) - row;
    ++counts[static_cast<size_t>(n % kinds)][static_cast<size_t>(said)];
    wrong += said != n % kinds;
  }
  EXPECT_EQ(report.confusion, counts);
  ASSERT_GT(wrong, 0);
  EXPECT_EQ(report.mistakes.size(), static_cast<size_t>(std::min<int64_t>(3, wrong)));
  EXPECT_EQ(report.mistakes[0].pixels.shape(), (Shape{side, side, 1}));
  ASSERT_EQ(report.layers.size(), 4u);
  EXPECT_EQ(report.layers[0].name, "0");
  EXPECT_EQ(report.layers[0].kind, "Conv2d");
  EXPECT_EQ(report.layers[0].parameters, 4 * 9 + 4);
  EXPECT_EQ(report.layers[0].bytes, 4 * 4 * 16 * 4);
  EXPECT_EQ(report.filters.size(), 4u);
  EXPECT_EQ(report.curves.size(), 4u);  // loss by steps, accuracy, loss, rate

  // The sample, and four channels of a convolution and of what follows it: white is where most is.
  ASSERT_EQ(report.activations.size(), 9u);
  EXPECT_EQ(report.activations[1].caption, "0[0]");
  const Tensor
      first = (*layers_of(t.net)[0].module)(t.data.from(0, 0)()->x.slice(0, 0, 1)).value().in_layout(Layout::row_major),
      picture = report.activations[3].pixels;
  ASSERT_EQ(picture.shape(), (Shape{4, 4, 1}));
  const float *channel = first.data<float>() + 2 * 16;
  EXPECT_EQ(picture.data<uint8_t>()[std::max_element(channel, channel + 16) - channel], 255);
  EXPECT_EQ(picture.data<uint8_t>()[std::min_element(channel, channel + 16) - channel], 0);

  const std::string html = to_html(report);
  for (const char *part : {"<title>A &amp; B</title>", "id=\"curves\"", "id=\"confusion\"", "id=\"mistakes\"",
                           "id=\"filters\"", "id=\"activations\"", "id=\"layers\"", "data:image/png;base64,iVBOR"})
    EXPECT_TRUE(contains(html, part));
  // Nothing is asked of the network, but the name of SVG is an address.
  EXPECT_EQ(std::regex_replace(html, std::regex("xmlns=\"http[^\"]*\""), "").find("http"), std::string::npos);
  EXPECT_EQ(html.find("<script"), std::string::npos);
}

// The one of docs/training.md, as it stands there.
TEST(Shown, TheExampleOfTheDocumentationRuns) {
  const ScratchFolder folder;
  std::filesystem::current_path(folder.file(""));
  const Tensor x = Random(3).uniform_tensor({60, 4}, -1, 1), x2 = x, y = Tensor::empty({60}, Type::i64), y2 = y;
  for (int64_t n = 0; n < 60; ++n) y.data<int64_t>()[n] = x.at<float>({n, 0}) > 0;

  Sequential net(nn::Linear(4, 32), nn::ReLU(), nn::Linear(32, 3));
  Adam optimizer(net, {0.01});
  TrainerOptions options;
  options.epochs = 20;
  options.clip_norm = 1;
  options.average = 0.9;
  options.metrics = {std::make_shared<Accuracy>()};
  options.checkpoints = {"run", /*keep=*/3, /*every_steps=*/10, /*best=*/"val_loss", /*resume=*/true};
  Trainer trainer(
      net, [](const Variable &y, const Variable &labels) { return cross_entropy(y, labels); }, optimizer, options);
  trainer.add(std::make_shared<EarlyStopping>(Monitor{"val_loss"}, 5));
  trainer.add(std::make_shared<Logging>("logs"));
  trainer.add(std::make_shared<ProgressBar>());
  EXPECT_GT(trainer.fit(batches_of(x, y), batches_of(x2, y2)).epochs.at("val_accuracy").back(), 0.8);
  write_report("report.html", trainer, batches_of(x2, y2));
  EXPECT_GT(Classifier().fit(x, y).score(x2, y2), 0.8);

  for (const char *made : {"run/best.safetensors", "run/step-000020.safetensors", "report.html"})
    EXPECT_TRUE(std::filesystem::exists(made)) << made;
  std::filesystem::current_path("/");
}

}  // namespace
}  // namespace saltern
