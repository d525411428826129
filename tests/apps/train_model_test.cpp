// `saltern compile --train`: a C program trains an imported model as the tape does. `saltern train`: a file learns from a file.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/autograd/backward.h"
#include "runtime/data/png.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/graph_net.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/trace.h"
#include "runtime/nn/all.h"
#include "runtime/onnx/export.h"
#include "runtime/onnx/run_model.h"
#include "runtime/onnx/trainable.h"
#include "runtime/optim/optimizer.h"
#include "runtime/tensor/checkpoint.h"
#include "runtime/tensor/npz.h"
#include "tests/apps/run_program.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

constexpr int64_t batch = 6, steps = 25;

Sequential small_net() {
  nn::manual_seed(4);
  return Sequential(nn::Conv2d(2, 4, 3, 1, 1), nn::BatchNorm2d(4), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(),
                    nn::Linear(36, 3), nn::Softmax(1));
}

std::string text_of(const std::string &path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Element i of x and label i of the batch of a step, in C and here.
double element(int64_t step, int64_t i) { return static_cast<double>((i * 37 + step * 11) % 101) / 50 - 1; }
int64_t label(int64_t step, int64_t i) { return (i + step) % 3; }

const char *const program = R"(
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "net.h"

static float x[6 * 2 * 6 * 6], y[6 * 3], again[6 * 3];
static int64_t labels[6];
static int allocations, counts;

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
int __real_posix_memalign(void **, size_t, size_t);
void *__wrap_malloc(size_t n) { allocations += counts; return __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t m) { allocations += counts; return __real_calloc(n, m); }
void *__wrap_realloc(void *p, size_t n) { allocations += counts; return __real_realloc(p, n); }
int __wrap_posix_memalign(void **p, size_t a, size_t n) { allocations += counts; return __real_posix_memalign(p, a, n); }

static int fails(net_model *m, const char *path, const char *why) {
  const int bad = net_load(m, path) && strstr(net_error(m), path) && strstr(net_error(m), why);
  if (!bad) printf("%s: %s\n", path, net_error(m));
  return !bad;
}

static void write_part(const char *path, const char *from, long bytes, long changed) {
  static char all[1 << 20];
  FILE *in = fopen(from, "rb"), *out = fopen(path, "wb");
  long n = (long)fread(all, 1, sizeof all, in);
  if (changed >= 0) all[changed] ^= 1;
  fwrite(all, 1, (size_t)(n + bytes), out);
  fclose(in);
  fclose(out);
}

int main(int count, char **arguments) {
  net_options options = {0};
  options.threads = count > 1 ? atoi(arguments[1]) : 1;
  net_model *model = net_create(&options), *other = net_create(NULL);
  const void *inputs[] = {x};
  void *outputs[] = {y}, *outputs_again[] = {again};
  float loss = 0;
  FILE *losses = fopen("losses", "wb"), *out = fopen("out", "wb");
  if (net_INPUTS != 1 || net_OUTPUTS != 1 || strcmp(net_labels()->type, "i64") || net_labels()->elements != 6) return 2;
  for (int step = 0; step < 25; ++step) {
    for (int i = 0; i < 6 * 2 * 6 * 6; ++i) x[i] = (float)((double)((i * 37 + step * 11) % 101) / 50 - 1);
    for (int i = 0; i < 6; ++i) labels[i] = (i + step) % 3;
    if (step == 20 && net_set_rate(model, 0.01f)) return 3;
    counts = 1;
    if (net_train_step(model, inputs, labels, &loss)) return 4;
    counts = 0;
    fwrite(&loss, sizeof loss, 1, losses);
  }
  counts = 1;
  if (net_run(model, inputs, outputs)) return 5;
  counts = 0;
  if (allocations) return 6;
  fwrite(y, sizeof y, 1, out);
  if (net_save(model, "state") || net_load(other, "state")) return 7;
  if (net_run(other, inputs, outputs_again) || memcmp(y, again, sizeof y)) return 8;
  if (net_train_step(model, inputs, labels, &loss) || net_run(model, inputs, outputs)) return 9;
  /* Nothing of a file that is refused is taken. */
  write_part("short", "state", -1, -1);
  write_part("damaged", "state", 0, 600);
  write_part("foreign", "state", 0, 44);
  if (fails(other, "short", "cut short") || fails(other, "damaged", "damaged") || fails(other, "foreign", "another model") ||
      fails(other, "net.h", "is not a file of a model's state") || fails(other, "nowhere", "cannot be read"))
    return 10;
  if (!net_save(other, "no/such/folder") || !strstr(net_error(other), "no/such/folder")) return 11;
  memset(again, 0, sizeof again);
  if (net_train_step(other, inputs, labels, &loss) || net_run(other, inputs, outputs_again)) return 12;
  if (memcmp(y, again, sizeof y)) return 13;
  if (!net_train_step(model, inputs, NULL, &loss) || !strstr(net_error(model), "'labels'")) return 14;
  fclose(losses);
  fclose(out);
  net_destroy(model);
  net_destroy(other);
  return 0;
}
)";

class TrainModel : public testing::Test {
 protected:
  TrainModel() {
    Sequential net = small_net();
    save_onnx(folder.file("net.onnx"), onnx_of(trace(net, {"batch", 2, 6, 6})));
  }
  Said compile(const std::string &arguments) {
    return run_program(
        "saltern",
        "compile " + folder.file("net.onnx") + " --train --target sse41 " + arguments + " -o " + folder.file("."),
        "SALTERN_CACHE=" + folder.file("cache"));
  }
  // Of main.c there; gives what it prints.
  std::string built_and_run(const std::string &options, const std::string &arguments, int &code) {
    const std::string build = "cd " + folder.file(".") + " && cc -std=c99 -Wall -Wextra -Werror -O1 " + options +
                              " main.c libnet.a -lm -lpthread -o main && ";
    return read_all(build + "./main " + arguments + " 2>&1", code);
  }
  std::vector<float> floats(const std::string &name) {
    const std::string bytes = text_of(folder.file(name));
    std::vector<float> all(bytes.size() / sizeof(float));
    std::memcpy(all.data(), bytes.data(), all.size() * sizeof(float));
    return all;
  }
  const ScratchFolder folder;
};

TEST_F(TrainModel, InCAsTheTapeDoesWithoutAllocating) {
  const Said said = compile("--batch 6 --optimizer sgd --momentum 0.9 --rate 0.05 --json");
  ASSERT_EQ(said.code, 0) << said.all;
  folder.write("main.c", program);
  const std::string wraps = "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=posix_memalign";
  std::vector<float> losses, outputs;
  for (const char *threads : {"1", "2"}) {
    int code = 0;
    const std::string printed = built_and_run(wraps, threads, code);
    ASSERT_EQ(code, 0) << printed;
    if (losses.empty()) losses = floats("losses"), outputs = floats("out");
    EXPECT_EQ(floats("losses"), losses);  // by one thread and by two
    EXPECT_EQ(floats("out"), outputs);
  }
  ASSERT_EQ(losses.size(), static_cast<size_t>(steps));
  EXPECT_LT(losses.back(), losses.front());

  const TrainableModel model = trainable(load_onnx(folder.file("net.onnx")), {}, batch);
  EXPECT_EQ(model.last_operator, "Softmax");
  GraphNet net(model.graph, model.parameters);
  SGD optimizer(net, {0.05, 0.9});
  const Tensor x = Tensor::empty({batch, 2, 6, 6}), labels = Tensor::empty({batch}, Type::i64);
  for (int64_t step = 0; step < steps; ++step) {
    for (int64_t i = 0; i < x.size(); ++i) x.data<float>()[i] = static_cast<float>(element(step, i));
    for (int64_t i = 0; i < batch; ++i) labels.data<int64_t>()[i] = label(step, i);
    if (step == 20) optimizer.set_rate(0.01);
    const Variable loss = cross_entropy(net.output(model.before_last, {x.clone()}), labels.clone());
    EXPECT_NEAR(losses[static_cast<size_t>(step)], loss.value().item(), 1e-3) << step;
    backward(loss);
    optimizer.step();
    optimizer.clear_gradients();
  }
  const std::vector<double> wanted = run(net.inference(), {{"x", x}}).at(model.outputs[0]).reals();
  ASSERT_EQ(outputs.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(outputs[i], wanted[i], 1e-3);
}

// The program of docs/compiled-models.md.
TEST_F(TrainModel, InCAsTheDocumentationSays) {
  const std::string page = text_of(SALTERN_SOURCE_DIR "/docs/compiled-models.md");
  const size_t section = page.find("## Training in a C program"), begin = page.find("```c\n", section) + 5;
  ASSERT_NE(section, std::string::npos);
  folder.write("main.c", page.substr(begin, page.find("```", begin) - begin));
  const Said said = compile("--batch 6 --optimizer adam");
  ASSERT_EQ(said.code, 0) << said.all;
  int code = 0;
  const std::string printed = built_and_run("", "", code);
  ASSERT_EQ(code, 0) << printed;
  double first = 0, last = 0;
  ASSERT_EQ(std::sscanf(printed.c_str(), "step 0: loss %lf", &first), 1) << printed;
  ASSERT_EQ(std::sscanf(printed.substr(printed.find("step 200")).c_str(), "step 200: loss %lf", &last), 1) << printed;
  EXPECT_LT(last, 0.5 * first) << printed;
  EXPECT_TRUE(std::filesystem::exists(folder.file("net.state")));
}

TEST_F(TrainModel, WhatCannotBeIsNamed) {
  const auto expect_bad = [&](const std::string &arguments, const std::string &named) {
    const Said said = compile(arguments);
    EXPECT_EQ(said.code, 2) << said.all;
    EXPECT_NE(said.all.find(named), std::string::npos) << said.all;
  };
  expect_bad("--loss nll", "Softmax");
  expect_bad("--loss hinge", "cross_entropy, nll");
  expect_bad("--dynamic batch", "--dynamic");
  expect_bad("--optimizer newton", "adamw");
}

// Pictures of two classes: bright and dark ones.
void write_pictures(const std::string &path) {
  constexpr int64_t count = 40;
  const Tensor x = Tensor::empty({count, 2, 6, 6}), y = Tensor::empty({count}, Type::i32);
  for (int64_t i = 0; i < count; ++i) y.data<int32_t>()[i] = static_cast<int32_t>(i % 2);
  for (int64_t i = 0; i < x.size(); ++i)
    x.data<float>()[i] = static_cast<float>(element(0, i) + static_cast<double>(i / 72 % 2));
  write_npz(path, {{"x", x}, {"y", y}});
}

TEST_F(TrainModel, AFileLearnsFromAFileWithANewHeadAndFrozenLayers) {
  write_pictures(folder.file("data.npz"));
  const auto train = [&](const std::string &arguments) {
    return run_program("saltern",
                       "train " + folder.file("net.onnx") + " --data " + folder.file("data.npz") +
                           " --batch 8 --epochs 12 --optimizer adamw --rate 0.01 " + arguments + " --json -o " +
                           folder.file("learned.onnx"),
                       "SALTERN_CACHE=" + folder.file("cache"));
  };
  const Said said = train("--freeze '0.*' --freeze '1.*' --replace-head 2");
  ASSERT_EQ(said.code, 0) << said.all;
  const nlohmann::json line = nlohmann::json::parse(said.out, nullptr, false);
  EXPECT_EQ(line["frozen_tensors"], 4);
  EXPECT_LT(line["losses"].back().get<double>(), 0.5 * line["losses"].front().get<double>());
  const Model before = load_onnx(folder.file("net.onnx")), learned = load_onnx(folder.file("learned.onnx"));
  const Checkpoint weights = load_checkpoint(folder.file("learned.safetensors"));
  for (const char *name : {"0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var"}) {
    const Tensor &a = before.graph.value(name).constant, &b = learned.graph.value(name).constant;
    ASSERT_EQ(a.bytes(), b.bytes()) << name;
    EXPECT_EQ(std::memcmp(a.raw(), b.raw(), a.bytes()), 0) << name;
  }
  EXPECT_EQ(learned.graph.value("5.weight").constant.shape(), (Shape{2, 36}));
  EXPECT_EQ(weights.tensors.at("5.weight").reals(), learned.graph.value("5.weight").constant.reals());
  // What it learned is in the file, as others run it.
  const std::map<std::string, Tensor> data = read_npz(folder.file("data.npz"));
  const Tensor scores = run_model(learned, {{"x", data.at("x")}}).at(learned.graph.outputs[0]).tensor();
  EXPECT_GE(accuracy(scores, data.at("y")), 0.9);

  const auto expect_bad = [&](const std::string &arguments, const std::string &named) {
    const Said bad = train(arguments);
    EXPECT_EQ(bad.code, 2) << bad.all;
    EXPECT_NE(bad.all.find(named), std::string::npos) << bad.all;
  };
  expect_bad("--freeze 'none.*'", "5.weight");
  expect_bad("--freeze '*'", "no parameter left");
  expect_bad("--tape --memory 64MB", "--memory");
  expect_bad("--keep 2", "--checkpoints");
  expect_bad("--checkpoint-every 2", "--checkpoints");
  expect_bad("--validation-transform 'Identity()'", "--validation");
  expect_bad("--statistics-every 5", "--log");
  expect_bad("--resize 8", "--resize: the data are arrays");
  expect_bad("--mean 0.5", "--mean: the data are arrays");
  expect_bad("--skip-damaged", "--skip-damaged: the data are arrays");
  EXPECT_EQ(train("--memory 64MB").code, 0) << "steps are compiled unless --tape says otherwise";
  expect_bad("--replace-head 1", "a label is 1");
  expect_bad("--loss mse", "'y'");
}

TEST_F(TrainModel, CompiledStepsClipAndAddUpAsTheTapeDoes) {
  write_pictures(folder.file("data.npz"));
  const auto losses = [&](const std::string &arguments) {
    const Said said = run_program("saltern",
                                  "train " + folder.file("net.onnx") + " --data " + folder.file("data.npz") +
                                      " --batch 4 --epochs 3 --optimizer sgd --rate 0.1 --replace-head 2 --json -o " +
                                      folder.file("learned.onnx") + " " + arguments,
                                  "SALTERN_CACHE=" + folder.file("cache"));
    EXPECT_EQ(said.code, 0) << said.all;
    return nlohmann::json::parse(said.out, nullptr, false)["losses"].get<std::vector<double>>();
  };
  const std::vector<double> plain = losses("");
  for (const char *how : {"--clip-norm 0.05", "--accumulate 3", "--accumulate 3 --clip-norm 0.05"}) {
    const std::vector<double> compiled = losses(how), tape = losses(std::string("--tape ") + how);
    EXPECT_GT(std::abs(compiled.back() - plain.back()), 1e-3) << how << " changes nothing";
    for (size_t i = 0; i < tape.size(); ++i) EXPECT_NEAR(compiled[i], tape[i], 1e-3) << how;
  }
}

TEST_F(TrainModel, WeightsAreNotWrittenOverTheModel) {
  write_pictures(folder.file("data.npz"));
  Sequential net = small_net();
  save_model(folder.file("saved.safetensors"), trace(net, {"batch", 2, 6, 6}));
  const std::string before = text_of(folder.file("saved.safetensors"));
  const Said said = run_program("saltern", "train " + folder.file("saved.safetensors") + " --tape --data " +
                                               folder.file("data.npz") + " -o " + folder.file("saved.onnx"));
  EXPECT_EQ(said.code, 2) << said.all;
  EXPECT_NE(said.all.find("saved.safetensors"), std::string::npos) << said.all;
  EXPECT_EQ(text_of(folder.file("saved.safetensors")), before);
}

TEST_F(TrainModel, PicturesInFoldersAreClasses) {
  nn::manual_seed(4);
  Sequential net(nn::Flatten(), nn::Linear(3 * 6 * 6, 2));
  save_onnx(folder.file("flat.onnx"), onnx_of(trace(net, {4, 3, 6, 6})));
  for (int i = 0; i < 20; ++i) {
    const std::string kind = folder.file(i % 2 ? "pictures/light" : "pictures/dark");
    std::filesystem::create_directories(kind);
    // Of any size: each becomes as large as the input.
    write_png(kind + "/" + std::to_string(i) + ".png", Tensor::full({5 + i, 9, 3}, i % 2 ? 250 - i : 5 + i, Type::u8));
  }
  const auto train = [&](const std::string &arguments) {
    return run_program("saltern",
                       "train " + folder.file("flat.onnx") + " --data " + folder.file("pictures") +
                           " --batch 4 --epochs 20 --optimizer adamw --rate 0.01 --json -o " +
                           folder.file("learned.onnx") + " " + arguments,
                       "SALTERN_CACHE=" + folder.file("cache"));
  };
  const Said said = train("");
  ASSERT_EQ(said.code, 0) << said.all;
  const nlohmann::json line = nlohmann::json::parse(said.out, nullptr, false);
  EXPECT_EQ(line["classes"], (std::vector<std::string>{"dark", "light"}));
  EXPECT_LT(line["losses"].back().get<double>(), 0.5 * line["losses"].front().get<double>());
  const Model learned = load_onnx(folder.file("learned.onnx"));
  const Tensor light = Tensor::full({4, 3, 6, 6}, 0.95);
  const Tensor scores = run_model(learned, {{learned.graph.inputs[0], light}}).at(learned.graph.outputs[0]).tensor();
  EXPECT_GT(scores.at<float>({0, 1}), scores.at<float>({0, 0}));

  std::ofstream(folder.file("pictures/dark/broken.png")) << "\x89PNG and no more";
  const Said stopped = train("");
  EXPECT_EQ(stopped.code, 2) << stopped.all;
  EXPECT_NE(stopped.all.find("broken.png"), std::string::npos) << stopped.all;
  const Said unused = train("--transform 'Resize((6, 6))' --crop 4");
  EXPECT_EQ(unused.code, 2) << unused.all;
  EXPECT_NE(unused.all.find("--crop: transforms"), std::string::npos) << unused.all;
  const Said skipped = train("--skip-damaged");
  ASSERT_EQ(skipped.code, 0) << skipped.all;
  EXPECT_EQ(nlohmann::json::parse(skipped.out, nullptr, false)["skipped"].size(), 1U);
  for (const char *part : {"other/dark", "other/other"}) {
    std::filesystem::create_directories(folder.file(part));
    write_png(folder.file(part) + "/1.png", Tensor::full({6, 6, 3}, 99, Type::u8));
  }
  const Said validated = train("--skip-damaged --validation " + folder.file("other"));
  EXPECT_EQ(validated.code, 2) << validated.all;
  EXPECT_NE(validated.all.find("other classes"), std::string::npos) << validated.all;
  std::filesystem::create_directories(folder.file("pictures/grey"));
  write_png(folder.file("pictures/grey/1.png"), Tensor::full({6, 6, 3}, 99, Type::u8));
  const Said other = train("");
  EXPECT_EQ(other.code, 2) << other.all;
  EXPECT_NE(other.all.find("3 folders of classes and the model has 2"), std::string::npos) << other.all;
}

}  // namespace
}  // namespace saltern
