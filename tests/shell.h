#pragma once
// Commands for a shell.

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace saltern {

// What a command writes to its standard output; `code` is its exit code, 128 and more for a signal as shells have it.
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

}  // namespace saltern
