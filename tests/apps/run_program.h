#pragma once
// Runs a program of this build with a shell's quoting and keeps what it said.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace saltern {

struct Said {
  int code;
  std::string out;  // standard output
  std::string all;  // and standard error, mixed
};

inline std::string read_all(const std::string &command, int &code) {
  std::string text;
  FILE *pipe = popen(command.c_str(), "r");
  if (!pipe) {
    code = -1;
    return text;
  }
  char part[4096];
  for (size_t n; (n = fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, n);
  const int status = pclose(pipe);
  code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return text;
}

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
