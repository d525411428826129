// The command-line program says what it does, does it, and says what is wrong: exit codes 0, 1 and 2, JSON that
// parses and has its fields.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/apps/run_program.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

using nlohmann::json;

// A database of nobody, so that what was tuned on this machine does not matter.
Said saltern(const std::string &arguments) {
  return run_program("saltern", arguments, "SALTERN_TUNING_DATABASE=/no/such/database.sqlite");
}

TEST(CommandLine, EveryCommandHelps) {
  for (const char *command : {"", "info", "targets", "bench", "bench matmul", "bench conv2d", "tune", "tune matmul",
                              "tune conv2d", "compile", "convert", "run", "run-batch", "verify"}) {
    const Said said = saltern(std::string(command) + " --help");
    EXPECT_EQ(said.code, 0) << command;
    EXPECT_NE(said.out.find("--help"), std::string::npos) << command;
  }
}

TEST(CommandLine, BadUsageIsTwoAndNamesTheCulprit) {
  struct Case {
    const char *arguments, *culprit;
  };
  for (const Case &c : {Case{"", "subcommand"},
                        Case{"nonsense", "nonsense"},
                        Case{"bench matmul 0 1 1", "m: Value 0 not in range"},
                        Case{"bench matmul 2 2", "k is required"},
                        Case{"bench matmul 2 2 two", "k: Value two not in range"},
                        Case{"bench matmul 8 8 8 --isa mmx", "mmx"},
                        Case{"bench matmul 8 8 8 --threads 0", "threads"},
                        Case{"bench matmul 1000000 1000000 2", "elements"},
                        Case{"bench conv2d --groups 3", "--groups"},
                        Case{"bench conv2d --size 2 --kernel 9", "a kernel of 9 does not fit"},
                        Case{"bench conv2d --kernel 65537 --dilation 65536", "a kernel of 4294967297 does not fit"},
                        Case{"info /no/such/file", "/no/such/file"},
                        Case{"info /dev/null", "/dev/null"},
                        Case{"compile /no/such/model -o /no/such", "/no/such/model"},
                        Case{"compile m -o d --target z80", "'z80'"},
                        Case{"compile m -o d --target z80", "avx512, avx2, sse41"},
                        Case{"compile m -o d --name 1st", "'1st'"},
                        Case{"compile m -o d --embed-weights --weights-file", "--weights-file"},
                        Case{"compile m -o d --chunk 1", "--chunk"},
                        Case{"compile m -o d --constant a=1", "--constant"},
                        Case{"targets --nonsense", "--nonsense"}}) {
    const Said said = saltern(c.arguments);
    EXPECT_EQ(said.code, 2) << c.arguments;
    EXPECT_NE(said.all.find(c.culprit), std::string::npos) << c.arguments << ": " << said.all;
  }
}

TEST(CommandLine, InfoTellsOfTheMachine) {
  const json facts = json::parse(saltern("info --json").out);
  EXPECT_FALSE(facts.at("instruction_sets").empty());
  EXPECT_FALSE(facts.at("kernels").empty());
  EXPECT_GE(facts.at("threads").get<int>(), 1);
  EXPECT_NE(saltern("info").out.find(facts.at("version").get<std::string>()), std::string::npos);
}

TEST(CommandLine, TargetsHasTheCpuOfThisMachineAmongThem) {
  int here = 0;
  for (const json &row : json::parse(saltern("targets --json").out))
    if (row.at("kind") == "cpu" && row.at("runs_here").get<bool>()) ++here;
  EXPECT_GE(here, 1);
}

void expect_measurement(const json &line) {
  EXPECT_GT(line.at("gflops").get<double>(), 0);
  EXPECT_GT(line.at("peak_gflops").get<double>(), 0);
  EXPECT_GT(line.at("median_ms").get<double>(), 0);
  EXPECT_NEAR(line.at("share_of_peak").get<double>(),
              line.at("gflops").get<double>() / line.at("peak_gflops").get<double>(), 1e-6);
}

TEST(CommandLine, BenchMatmulPrintsOneLineOfJson) {
  const Said said = saltern("bench matmul 64 48 32 --threads 1 --seconds 0.05 --json");
  ASSERT_EQ(said.code, 0) << said.all;
  EXPECT_EQ(std::count(said.out.begin(), said.out.end(), '\n'), 1);
  const json line = json::parse(said.out);
  expect_measurement(line);
  EXPECT_EQ(line.at("kernel"), "library");
}

TEST(CommandLine, BenchMatmulRunsAnExactKernelAndALesserInstructionSet) {
  const json line =
      json::parse(saltern("bench matmul 17 1 5 --exact --isa sse41 --threads 2 --seconds 0.05 --json").out);
  expect_measurement(line);
  EXPECT_EQ(line.at("kernel"), "exact");
  EXPECT_EQ(line.at("isa"), "sse41");
  EXPECT_EQ(line.at("threads"), 2);
}

TEST(CommandLine, BenchConv2dPrintsALineForEachPass) {
  const Said said = saltern("bench conv2d --in 3 --out 5 --size 9 --stride 2 --pass all --seconds 0.02 --json");
  ASSERT_EQ(said.code, 0) << said.all;
  std::istringstream lines(said.out);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) expect_measurement(json::parse(line));
  EXPECT_EQ(count, 3);
}

TEST(CommandLine, WhatIsTunedOnceIsKnownAndUsed) {
  const ScratchFolder folder;
  const std::string database = folder.file("tuning.sqlite");
  const std::string tune = "tune matmul 48 48 48 --trials 2 --json --database " + database;
  const json first = json::parse(saltern(tune).out), second = json::parse(saltern(tune).out);
  EXPECT_EQ(first.at("measured"), 2);
  EXPECT_EQ(second.at("measured"), 0);
  EXPECT_EQ(second.at("knobs"), first.at("knobs"));
  EXPECT_GT(first.at("share_of_peak").get<double>(), 0);
  const Said bench = saltern("bench matmul 48 48 48 --seconds 0.05 --json --database " + database);
  ASSERT_EQ(bench.code, 0) << bench.all;
  // Both were tried, and the faster of them is told of.
  const json line = json::parse(bench.out), &shares = line.at("compared");
  const double tuned = shares.at("tuned"), library = shares.at("library");
  EXPECT_GT(tuned, 0);
  EXPECT_EQ(line.at("kernel"), tuned > library ? "tuned" : "library");
  EXPECT_EQ(line.at("share_of_peak"), std::max(tuned, library));
  const json alone =
      json::parse(saltern("bench matmul 48 48 48 --library --seconds 0.05 --json --database " + database).out);
  EXPECT_EQ(alone.at("kernel"), "library");
  EXPECT_FALSE(alone.contains("compared"));
}

TEST(CommandLine, TuningThatHasNoTimeSaysSo) {
  const ScratchFolder folder;
  const Said said = saltern("tune matmul 8 8 8 --seconds 1e-9 --database " + folder.file("tuning.sqlite"));
  EXPECT_EQ(said.code, 1);
  EXPECT_TRUE(contains(said.all, "--seconds 1e-09"));
}

TEST(CommandLine, LabelsTellWhatIsNotAsUsual) {
  const json line = json::parse(
      saltern("bench conv2d --in 4 --out 6 --size 9 --stride 2 --padding 0 --groups 2 --seconds 0.02 --json").out);
  EXPECT_EQ(line.at("operation"), "conv2d 3x3 4->6 @9 stride 2 padding 0 groups 2 forward");
}

TEST(CommandLine, OutputThatIsLostIsAFailure) {
  for (const char *arguments : {"targets", "targets --json", "--help"}) {
    const Said said = saltern(std::string(arguments) + " >/dev/full");
    EXPECT_EQ(said.code, 1) << arguments << ": " << said.all;
  }
}

TEST(CommandLine, AFileThatIsNoDatabaseIsBadInputThatIsNamed) {
  const Said said = saltern("tune matmul 8 8 8 --database /proc/self/cmdline");
  EXPECT_EQ(said.code, 2);
  EXPECT_NE(said.all.find("/proc/self/cmdline"), std::string::npos) << said.all;
}

}  // namespace
}  // namespace saltern
