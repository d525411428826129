// The command-line program says what it does, does it, and says what is wrong: exit codes 0, 1 and 2, JSON that
// parses and has its fields.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/apps/run_program.h"

namespace saltern {
namespace {

using nlohmann::json;

// A database of nobody, so that what was tuned on this machine does not matter.
Said saltern(const std::string &arguments) {
  return run_program("saltern", arguments, "SALTERN_TUNING_DATABASE=" + testing::TempDir() + "no_such_database.sqlite");
}

TEST(CommandLine, EveryCommandHelps) {
  for (const char *command : {"", "info", "targets", "bench", "bench matmul", "bench conv2d", "tune", "tune matmul",
                              "tune conv2d", "compile"}) {
    const Said said = saltern(std::string(command) + " --help");
    EXPECT_EQ(said.code, 0) << command;
    EXPECT_NE(said.out.find("--help"), std::string::npos) << command;
  }
}

TEST(CommandLine, BadUsageIsTwoAndNamesTheCulprit) {
  struct Case {
    const char *arguments, *culprit;
  };
  for (const Case &c :
       {Case{"", "subcommand"}, Case{"nonsense", "nonsense"}, Case{"bench matmul 0 1 1", "m"},
        Case{"bench matmul 2 2", "k"}, Case{"bench matmul 2 2 two", "k"}, Case{"bench matmul 8 8 8 --isa mmx", "mmx"},
        Case{"bench matmul 8 8 8 --threads 0", "threads"}, Case{"bench matmul 1000000 1000000 2", "elements"},
        Case{"bench conv2d --groups 3", "--groups"}, Case{"bench conv2d --size 2 --kernel 9", "9"},
        Case{"info /no/such/file", "/no/such/file"}, Case{"info /dev/null", "/dev/null"},
        Case{"compile /no/such/model -o /no/such", "/no/such/model"}, Case{"compile m -o d --target z80", "'z80'"},
        Case{"compile m -o d --target z80", "avx512, avx2, sse41"}, Case{"compile m -o d --name 1st", "'1st'"},
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
  const std::string database = testing::TempDir() + "saltern_cli_test.sqlite";
  for (const char *suffix : {"", "-wal", "-shm"}) std::remove((database + suffix).c_str());
  const std::string tune = "tune matmul 48 48 48 --trials 2 --json --database " + database;
  const json first = json::parse(saltern(tune).out), second = json::parse(saltern(tune).out);
  EXPECT_EQ(first.at("measured"), 2);
  EXPECT_EQ(second.at("measured"), 0);
  EXPECT_EQ(second.at("knobs"), first.at("knobs"));
  EXPECT_GT(first.at("share_of_peak").get<double>(), 0);
  const Said bench = saltern("bench matmul 48 48 48 --seconds 0.05 --json --database " + database);
  ASSERT_EQ(bench.code, 0) << bench.all;
  const std::string kernel = json::parse(bench.out).at("kernel");
  EXPECT_TRUE(kernel == "tuned" || kernel == "library") << kernel;  // whichever is faster here
}

TEST(CommandLine, AFileThatIsNoDatabaseIsBadInputThatIsNamed) {
  const Said said = saltern("tune matmul 8 8 8 --database /proc/self/cmdline");
  EXPECT_EQ(said.code, 2);
  EXPECT_NE(said.all.find("/proc/self/cmdline"), std::string::npos) << said.all;
}

}  // namespace
}  // namespace saltern
