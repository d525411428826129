// `saltern train CONFIG`: a net of layers by name learns from files as the text says; what is wrong with the text is named.

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/data/png.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/open_sizes.h"
#include "runtime/graph/trace.h"
#include "runtime/nn/all.h"
#include "runtime/onnx/export.h"
#include "runtime/onnx/run_model.h"
#include "runtime/tensor/checkpoint.h"
#include "runtime/tensor/npz.h"
#include "runtime/training/trainer.h"
#include "tests/apps/run_program.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

namespace fs = std::filesystem;

// Rows whose label is the place of the largest of their first three numbers.
constexpr int64_t samples = 90, features = 5, kinds = 3;
struct Data {
  Tensor x = Random(3).uniform_tensor({samples, features}, -1, 1), y = Tensor::empty({samples}, Type::i64);
  Data() {
    for (int64_t n = 0; n < samples; ++n) {
      const float *row = x.data<float>() + n * features;
      y.data<int64_t>()[n] = std::max_element(row, row + kinds) - row;
    }
  }
};

class TrainConfig : public testing::Test {
 protected:
  TrainConfig() { write_npz(folder.file("data.npz"), {{"x", data.x}, {"y", data.y}}); }

  std::string config(const std::string &more) const {
    return folder.write("net.toml", "# a small net\ndata = \"" + folder.file("data.npz") + "\"\noutput = '" +
                                        folder.file("net.safetensors") + "'   # a saved net\n" +
                                        "net = [\"Linear(5, 16)\", 'Tanh()',\n  # a comment\n  \"Linear(16, 3)\",]\n" +
                                        "optimizer = \"Adam(lr=0.02)\"\nbatch = 16\nepochs = 6\nseed = 9\n" + more);
  }
  Said train(const std::string &arguments) const {
    return run_program("saltern", "train " + arguments, "SALTERN_CACHE=" + folder.file("cache"));
  }
  const ScratchFolder folder;
  const Data data;
};

// The loop by hand (runtime/training/trainer.h) has the same bits.
TEST_F(TrainConfig, DoesWhatAProgramDoes) {
  const Said said = train(config("metric = \"accuracy\"\nschedule = \"StepLR(2, gamma=0.5)\"\nvalidation = \"" +
                                 folder.file("data.npz") + "\"\n") +
                          " --json");
  ASSERT_EQ(said.code, 0) << said.all;
  const nlohmann::json line = nlohmann::json::parse(said.out, nullptr, false);

  nn::manual_seed(9);
  const nn::Layer first = nn::Linear(5, 16), second = nn::Linear(16, 3);  // drawn in this order
  Sequential net(first, nn::Tanh(), second);
  Adam optimizer(net, {0.02});
  BatchOptions batches;
  batches.size = 16;
  batches.seed = 9;
  TrainerOptions options;
  options.epochs = 6;
  options.seed = 9;
  options.rate = [](int64_t step) { return 0.02 * std::pow(0.5, step / 6 / 2); };
  options.metrics = {std::make_shared<Accuracy>()};
  Trainer trainer(
      net, [](const Variable &y, const Variable &t) { return nn::cross_entropy(y, t); }, optimizer, options);
  const History history = trainer.fit(batches_of(data.x, data.y, batches), batches_of(data.x, data.y, batches));
  EXPECT_EQ(line["losses"].get<std::vector<double>>(), history.epochs.at("loss"));
  EXPECT_EQ(line["epochs"]["val_accuracy"].get<std::vector<double>>(), history.epochs.at("val_accuracy"));
  EXPECT_EQ(line["epochs"]["rate"].get<std::vector<double>>(), (std::vector<double>{.02, .02, .01, .01, .005, .005}));
  EXPECT_GT(history.epochs.at("val_accuracy").back(), 0.8);
  const Graph saved = at_sizes(load_model(folder.file("net.safetensors")), {{"batch", samples}});
  EXPECT_EQ(run(saved, {{"x", data.x}}).begin()->second.reals(), trainer.predict(batches_of(data.x, data.y)).reals());
}

TEST_F(TrainConfig, TheCommandLineComesFirstAndASoftmaxIsAPartOfTheLoss) {
  const std::string text =
      config("report = \"" + folder.file("report.html") + "\"\nlog = \"" + folder.file("log.csv") + "\"\n");
  const Said said = train(text + " --epochs 2 --net 'Linear(5, 3)' --net 'Softmax(1)' --loss cross_entropy --json -o " +
                          folder.file("other.onnx"));
  ASSERT_EQ(said.code, 0) << said.all;
  EXPECT_EQ(nlohmann::json::parse(said.out, nullptr, false)["losses"].size(), 2U);
  EXPECT_FALSE(fs::exists(folder.file("net.safetensors")));
  const Model model = load_onnx(folder.file("other.onnx"));
  const Tensor y = run_model(model, {{model.graph.inputs[0], data.x}}).at(model.graph.outputs[0]).tensor();
  EXPECT_NEAR(y.slice(0, 0, 1).reals()[0] + y.slice(0, 0, 1).reals()[1] + y.slice(0, 0, 1).reals()[2], 1, 1e-5);
  EXPECT_EQ(load_checkpoint(folder.file("other.safetensors")).tensors.count("0.weight"), 1U);
  EXPECT_NE(bytes_of_file(folder.file("report.html")).find("<svg"), std::string::npos);
  EXPECT_NE(bytes_of_file(folder.file("log.csv")).find("epoch/loss"), std::string::npos);
}

TEST_F(TrainConfig, ResumesWithTheSameBitsAndRefusesAnotherNet) {
  const std::string text = config("checkpoints = \"" + folder.file("run") + "\"\n");
  ASSERT_EQ(train(text + " --epochs 3").code, 0);
  const Said resumed = train(text + " --resume --json -o " + folder.file("resumed.safetensors"));
  ASSERT_EQ(resumed.code, 0) << resumed.all;
  EXPECT_EQ(nlohmann::json::parse(resumed.out, nullptr, false)["resumed_at_step"], 18);
  ASSERT_EQ(train(text + " --checkpoints " + folder.file("another")).code, 0);
  EXPECT_EQ(bytes_of_file(folder.file("resumed.safetensors")), bytes_of_file(folder.file("net.safetensors")));
  const Said other = train(text + " --resume --net 'Linear(5, 3)'");
  EXPECT_EQ(other.code, 2) << other.all;
  EXPECT_NE(other.all.find("it was made with net Linear(5, 16)"), std::string::npos) << other.all;
  // Nor other data, or options that change what is learned.
  const Tensor mirrored = data.x.clone();
  for (int64_t i = 0; i < mirrored.size(); ++i) mirrored.data<float>()[i] *= -1;
  write_npz(folder.file("other.npz"), {{"x", mirrored}, {"y", data.y}});
  for (const auto &[option, named] :
       {std::pair<std::string, std::string>{"--data " + folder.file("other.npz"), "it was made with data"},
        {"--schedule 'StepLR(1)'", "it was made with schedule"},
        {"--validation " + folder.file("data.npz"), "validation samples 0"}}) {
    const Said refused = train(text + " --resume --epochs 9 " + option);
    EXPECT_EQ(refused.code, 2) << refused.all;
    EXPECT_TRUE(contains(refused.all, named));
  }
  // A checkpoint that is cut short is bad input.
  const std::string last = folder.file("run/step-000036.safetensors");
  ASSERT_TRUE(fs::exists(last));
  fs::resize_file(last, 100);
  const Said cut = train(text + " --resume --epochs 9");
  EXPECT_EQ(cut.code, 2) << cut.all;
  EXPECT_TRUE(contains(cut.all, "step-000036.safetensors"));
}

TEST_F(TrainConfig, CompiledStepsLearnTheSame) {
  const Said tape = train(config("") + " --json --epochs 3 --batch 15"),
             compiled = train(config("") + " --json --epochs 3 --batch 15 --compiled");
  ASSERT_EQ(tape.code, 0) << tape.all;
  ASSERT_EQ(compiled.code, 0) << compiled.all;
  const auto losses = [](const Said &s) {
    return nlohmann::json::parse(s.out, nullptr, false)["losses"].get<std::vector<double>>();
  };
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(losses(tape)[i], losses(compiled)[i], 1e-4);
}

TEST_F(TrainConfig, APartOfTheDataIsHeldBack) {
  const Said said = train(config("validation = 0.2\n") + " --json");
  ASSERT_EQ(said.code, 0) << said.all;
  const nlohmann::json line = nlohmann::json::parse(said.out, nullptr, false);
  EXPECT_EQ(line["samples"], 72);
  EXPECT_EQ(line["steps"], 6 * 5);
  EXPECT_NE(line["epochs"]["loss"], line["epochs"]["val_loss"]);
}

// An imported model has the loop's options, too, and samples that fill no batch are validated.
TEST_F(TrainConfig, AModelOfAFileIsANetToo) {
  nn::manual_seed(4);
  Sequential net(nn::Linear(5, 8), nn::ReLU(), nn::Linear(8, 3), nn::Softmax(1));
  save_onnx(folder.file("begin.onnx"), onnx_of(trace(net, {"batch", 5})));
  for (const char *how : {"", " --compiled"}) {
    const Said said = train(config("metric = \"accuracy\"\nvalidation = \"" + folder.file("data.npz") + "\"\n") +
                            " --net " + folder.file("begin.onnx") + how + " --json -o " + folder.file("end.onnx"));
    ASSERT_EQ(said.code, 0) << said.all;
    const nlohmann::json line = nlohmann::json::parse(said.out, nullptr, false);
    const Model learned = load_onnx(folder.file("end.onnx"));
    const Tensor y = run_model(learned, {{learned.graph.inputs[0], data.x}}).at(learned.graph.outputs[0]).tensor();
    EXPECT_NEAR(line["epochs"]["val_accuracy"].back().get<double>(), accuracy(y, data.y), 1e-6);  // of all 90
    EXPECT_EQ(line["steps"], 6 * 5);
  }
}

// What becomes of samples is that of seed, epoch and sample (tests/runtime/transforms/rows_test.cpp).
TEST_F(TrainConfig, SamplesAreTransformed) {
  const Tensor pictures = Random(5).uniform_tensor({30, 1, 6, 8}, 0, 1), y = Tensor::zeros({30}, Type::i64);
  write_npz(folder.file("pictures.npz"), {{"x", pictures}, {"y", y}});
  const std::string text =
      folder.write("pictures.toml", "data = \"" + folder.file("pictures.npz") +
                                        "\"\nnet = [\"Flatten()\", \"Linear(16, 2)\"]\nbatch = 10\n" +
                                        "transforms = [\"RandomCrop(4)\", \"RandomHorizontalFlip()\"]\noutput = \"" +
                                        folder.file("net.onnx") + "\"\n");
  const std::string validated = text + " --validation " + folder.file("pictures.npz");
  const auto losses = [](const Said &s) { return nlohmann::json::parse(s.out, nullptr, false)["losses"]; };
  const Said once = train(validated + " --validation-transform 'CenterCrop(4)' --json"),
             again = train(text + " --json");
  ASSERT_EQ(once.code, 0) << once.all;
  EXPECT_EQ(losses(once), losses(again));
  EXPECT_NE(losses(once), losses(train(text + " --json --transform 'CenterCrop(4)'")));
  const Said other = train(validated), wrong = train(text + " --transform 'RandomCrop(padding=2)'");
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(contains(other.all, "a batch of the model is [10, 1, 4, 4]"));
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(contains(wrong.all, "--transform: RandomCrop needs the argument 'size'"));
}

// Pictures become what --input says, or what transforms make of them.
TEST_F(TrainConfig, LayersLearnFromFoldersOfPictures) {
  for (int i = 0; i < 12; ++i) {
    const std::string kind = folder.file(i % 2 ? "pictures/light" : "pictures/dark");
    fs::create_directories(kind);
    write_png(kind + "/" + std::to_string(i) + ".png", Tensor::full({9 + i, 9, 3}, i % 2 ? 250 - i : 5 + i, Type::u8));
  }
  const std::string text =
      "--net 'Flatten()' --net 'Linear(48, 2)' --optimizer 'Adam(lr=0.05)' --batch 5 --epochs 8 --data " +
      folder.file("pictures") + " --json -o " + folder.file("made/here/net.onnx");
  for (const char *how :
       {" --input 3,4,4", " --transform 'RandomResizedCrop(4)' --transform 'RandomHorizontalFlip()'"}) {
    const Said said = train(text + how);
    ASSERT_EQ(said.code, 0) << said.all;
    const nlohmann::json line = nlohmann::json::parse(said.out, nullptr, false);
    EXPECT_EQ(line["classes"], (std::vector<std::string>{"dark", "light"}));
    EXPECT_EQ(line["steps"], 8 * 3);  // of five, five and two
    EXPECT_LT(line["losses"].back().get<double>(), 0.5 * line["losses"].front().get<double>());
  }
  const Said open = train(text), lost = train(text + " --input 3,4,4 --report /proc/none/report.html");
  EXPECT_EQ(open.code, 2) << open.all;
  EXPECT_TRUE(contains(open.all, "--input"));
  EXPECT_EQ(lost.code, 2) << lost.all;
  EXPECT_TRUE(contains(lost.all, "/proc/none"));
}

TEST_F(TrainConfig, WhatIsWrongIsNamedWithItsLine) {
  const auto expect_bad = [&](const std::string &text, const std::vector<std::string> &parts) {
    const Said said = train(text);
    EXPECT_EQ(said.code, 2) << said.all;
    for (const std::string &part : parts) EXPECT_TRUE(contains(said.all, part));
  };
  const auto expect_bad_text = [&](const std::string &text, const std::vector<std::string> &parts) {
    expect_bad(folder.write("bad.toml", text), parts);
  };
  expect_bad_text("\nepocs = 3\n", {"bad.toml, line 2", "'epocs'", "epochs"});
  expect_bad_text("epochs = \"many\"\n", {"bad.toml, line 1", "'epochs'", "many"});
  expect_bad_text("epochs = 0\n", {"line 1", "'epochs'", "1 to"});
  expect_bad_text("seed = 1\nepochs\n", {"line 2", "epochs = VALUE"});
  expect_bad_text("data = folder\n", {"line 1", "'data'", "in quotes"});
  expect_bad_text("data = \"folder\n", {"line 1", "'data'", "no end"});
  expect_bad_text("net = [\"ReLU()\"\n", {"'net'", "]"});
  expect_bad_text("net = [\"ReLU()\" \"ReLU()\"]\n", {"line 1", "comma"});
  expect_bad_text("seed = 1\nseed = 2\n", {"line 2", "'seed'", "twice"});
  expect_bad_text("metric = \"accuracy\"\nmetrics = [\"accuracy\"]\n", {"line 2", "'metrics'", "twice"});
  expect_bad_text("seed = 1 2\n", {"line 1", "nothing behind"});
  expect_bad_text("seed = 1\n", {"nothing to train"});
  expect_bad_text("net = \"ReLU()\"\n", {"bad.toml", "--data is missing"});
  expect_bad(config("") + " --net 'Linear(5)'", {"net.toml", "--net", "layer 0", "out_features"});
  expect_bad(config("") + " --net 'Linear(4, 3)'", {"layer 0 (Linear)", "in = 4"});
  expect_bad(config("") + " --net 'Linear(5, 2)'", {"a label is 2", "2 classes"});
  expect_bad(config("") + " --optimizer 'Adam(learning=3)'", {"Adam", "'learning'"});
  expect_bad(config("") + " --schedule 'StepLR()'", {"--schedule", "step_size"});
  expect_bad(config("") + " --schedule 'Steps(3)'", {"'Steps'", "StepLR"});
  expect_bad(config("") + " --schedule ReduceLROnPlateauTypo", {"'ReduceLROnPlateauTypo'"});
  expect_bad(config("") + " --rate nan", {"lr"});
  expect_bad(config("") + " --best loss", {"--best", "--checkpoints"});
  expect_bad(config("") + " --best none --checkpoints " + folder.file("best"), {"--best none", "loss"});
  fs::create_directory(folder.file("folder.safetensors"));
  expect_bad(config("") + " -o " + folder.file("folder.safetensors"), {"it is a folder"});
  expect_bad(config("") + " --metric F3", {"--metric", "'F3'"});
  expect_bad(config("") + " --resume", {"--resume", "--checkpoints"});
  expect_bad(config("") + " --freeze '0.*'", {"--freeze"});
  expect_bad(config("") + " --validation /nowhere", {"/nowhere"});
  expect_bad(config("") + " -o net.pt", {"net.pt", ".safetensors"});
}

}  // namespace
}  // namespace saltern
