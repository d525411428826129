#pragma once
// Runs a program of this build with a shell's quoting and keeps what it said.

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "tests/shell.h"

namespace saltern {

struct Said {
  int code;
  std::string out;  // standard output
  std::string all;  // and standard error, mixed
};

// `arguments` as on a command line; `before` may set environment variables.
inline Said run_program(const std::string &program, const std::string &arguments, const std::string &before = "") {
  const std::string errors = testing::TempDir() + "saltern_test_" + std::to_string(getpid()) + ".errors";
  Said said;
  said.out =
      read_all(before + " " SALTERN_PROGRAM_DIRECTORY "/" + program + " " + arguments + " 2>" + errors, said.code);
  int ignored;
  said.all = said.out + read_all("cat " + errors + "; rm -f " + errors, ignored);
  return said;
}

}  // namespace saltern
