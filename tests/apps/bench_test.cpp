// `saltern bench MODEL` tells where a model's time goes, and writes a trace that tools can read.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/graph/model_file.h"
#include "tests/apps/run_program.h"
#include "tests/apps/small_models.h"

namespace saltern {
namespace {

using nlohmann::json;

class Bench : public testing::Test {
 protected:
  Bench() { save_model(net, small_net()); }

  json bench(const std::string &arguments) {
    const Said said = run_program("saltern", "bench " + net + " --threads 1 --seconds 0.05 --json " + arguments,
                                  "SALTERN_CACHE=" + folder.file("cache"));
    EXPECT_EQ(said.code, 0) << said.all;
    return json::parse(said.out, nullptr, false);
  }

  const ScratchFolder folder;
  const std::string net = folder.file("net.safetensors"), trace = folder.file("trace.json");
};

TEST_F(Bench, AModelIsOneLineWithItsTimes) {
  const json line = bench("");
  EXPECT_LE(line["min_ms"].get<double>(), line["median_ms"].get<double>());
  EXPECT_LE(line["median_ms"].get<double>(), line["p90_ms"].get<double>());
  EXPECT_GT(line["share_of_peak"].get<double>(), 0);
  EXPECT_FALSE(line.contains("layers"));
}

TEST_F(Bench, ATrainingStepHasItsTimesCompiledAndOnTheTape) {
  const json compiled = bench("--train --batch 5 --loss mse --optimizer adam --layers"),
             taped = bench("--train --batch 5 --loss mse --optimizer adam --tape");
  EXPECT_EQ(compiled["step"], "compiled");
  EXPECT_EQ(taped["step"], "tape");
  EXPECT_GT(compiled["layers"].size(), 0u);
  EXPECT_EQ(compiled["parameters"], taped["parameters"]);
  for (const json &line : {compiled, taped}) {
    EXPECT_EQ(line["batch"], 5);
    EXPECT_GT(line["min_ms"].get<double>(), 0);
    EXPECT_LE(line["min_ms"].get<double>(), line["median_ms"].get<double>());
    EXPECT_LT(line["last_loss"].get<double>(), 1);
  }
  EXPECT_GT(compiled["peak_bytes"].get<int64_t>(), 4 * compiled["parameters"].get<int64_t>());
}

TEST_F(Bench, TrainingThatCannotBeIsBadUsage) {
  const auto expect_bad = [&](const std::string &arguments, const std::string &named) {
    const Said said = run_program("saltern", "bench " + net + " " + arguments);
    EXPECT_EQ(said.code, 2) << said.all;
    EXPECT_NE(said.all.find(named), std::string::npos) << said.all;
  };
  expect_bad("--tape", "--train");
  expect_bad("--train --batch 5 --loss hinge", "bce_with_logits");
  expect_bad("--train --batch 5 --loss mse --optimizer none", "adamw");
  expect_bad("--train --batch 5 --loss mse --optimizer adam --momentum 0.9", "--momentum");
  expect_bad("--train --batch 4 --loss mse", "'x'");
  expect_bad("--train --tape --layers", "--layers");
  expect_bad("--memory 1MB", "--train");
  expect_bad("--train --batch 5 --loss mse --memory much", "--memory");
  expect_bad("--train --batch 5 --loss mse --memory 1MB --tape", "--tape");
  expect_bad("--train --batch 5 --loss mse --memory 1kB", "not possible");
}

TEST_F(Bench, ATrainingStepFitsIntoTheMemoryThatItIsGiven) {
  const json line = bench("--train --batch 5 --loss mse --memory 1GiB");
  EXPECT_EQ(line["memory"], 1 << 30);
  EXPECT_EQ(line["peak_bytes"], line["peak_bytes_without_limit"]);
}

TEST_F(Bench, TwoThreadsOfACompiledModelHaveTimesToo) {
  const Said said = run_program("saltern", "bench " + net + " --compiled --threads 2 --seconds 0.05 --json",
                                "SALTERN_CACHE=" + folder.file("cache"));
  ASSERT_EQ(said.code, 0) << said.all;
  const json line = json::parse(said.out);
  EXPECT_GE(line["runs"], 5);
  EXPECT_LE(line["min_ms"].get<double>(), line["median_ms"].get<double>());
}

TEST_F(Bench, TheBestTimeOfAKernelIsNoLongerThanItsMedian) {
  const Said said = run_program("saltern", "bench matmul 64 48 32 --threads 1 --seconds 0.05 --json");
  ASSERT_EQ(said.code, 0) << said.all;
  const json line = json::parse(said.out);
  EXPECT_LE(line["best_ms"].get<double>(), line["median_ms"].get<double>());
}

// Not taken in silence and left undone.
TEST_F(Bench, AKernelHasNoOptionsOfAModel) {
  for (const std::string wrong :
       {"matmul 8 8 8 --device opencl", "matmul 8 8 8 --layers", "--threads 2 matmul 8 8 8"}) {
    const Said said = run_program("saltern", "bench " + wrong);
    EXPECT_EQ(said.code, 2) << wrong;
    EXPECT_TRUE(contains(said.all, "is said of a model here; matmul takes")) << said.all;
  }
  EXPECT_EQ(run_program("saltern", "bench matmul 8 8 8 --threads 2 --seconds 0").code, 0);
}

TEST_F(Bench, LayersShareTheWholeTime) {
  const json layers = bench("--layers")["layers"];
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0]["operation"], "dense");
  EXPECT_EQ(layers[0]["name"], "h");
  EXPECT_GT(layers[0]["gflops"].get<double>(), 0);
  EXPECT_EQ(layers[1]["gflops"], 0);
  EXPECT_NEAR(layers[0]["share"].get<double>() + layers[1]["share"].get<double>(), 1, 1e-9);
}

void expect_trace(const json &events, size_t count) {
  ASSERT_EQ(events.size(), count);
  double end = 0;
  for (const json &e : events) {
    EXPECT_EQ(e["ph"], "X");
    EXPECT_GE(e["ts"].get<double>(), end - 1e-3);
    EXPECT_GT(e["dur"].get<double>(), 0);
    end = e["ts"].get<double>() + e["dur"].get<double>();
  }
}

TEST_F(Bench, ATraceHasAnEventForEachLayerOneAfterTheOther) {
  bench("--trace " + trace);
  expect_trace(json::parse(bytes_of_file(trace))["traceEvents"], 2);
}

TEST_F(Bench, LayersOfACompiledModelAreItsKernels) {
  const json layers = bench("--compiled --layers --trace " + trace)["layers"];
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_EQ(layers[0]["operation"], "dense + relu");
  EXPECT_GT(layers[0]["gflops"].get<double>(), 0);
  expect_trace(json::parse(bytes_of_file(trace))["traceEvents"], 1);
}

TEST_F(Bench, ATraceThatCannotBeWrittenIsBadInput) {
  const Said said = run_program("saltern", "bench " + net + " --seconds 0.01 --trace /no/such/folder/trace.json");
  EXPECT_EQ(said.code, 2);
  EXPECT_TRUE(contains(said.all, "/no/such/folder/trace.json"));
}

}  // namespace
}  // namespace saltern
