#include "generators/model/toolchain.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/error.h"

namespace saltern::generators {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "saltern-model-XXXXXX").string();
  if (!mkdtemp(name.data())) fail("cannot make the folder ", name, ": ", std::strerror(errno));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

namespace {

constexpr int not_found = 127;

// In the child: what the program prints goes to a file.
[[noreturn]] void become(const std::vector<std::string> &command, const std::string &folder, const std::string &log) {
  std::vector<char *> arguments;
  for (const std::string &c : command) arguments.push_back(const_cast<char *>(c.c_str()));
  arguments.push_back(nullptr);
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (out >= 0) {
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
  }
  if (chdir(folder.c_str()) == 0) execvp(arguments[0], arguments.data());
  _exit(not_found);
}

std::string contents(const std::string &path) {
  std::ifstream in(path);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

std::string from_environment(const char *variable, const char *otherwise) {
  const char *value = std::getenv(variable);
  return value && *value ? value : otherwise;
}

}  // namespace

void run_program(const std::vector<std::string> &command, const std::string &folder) {
  const TemporaryFolder logs;
  const std::string log = logs.file("output");
  const pid_t child = fork();
  if (child < 0) fail("cannot start ", command[0], ": ", std::strerror(errno));
  if (child == 0) become(command, folder, log);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (WIFEXITED(status) && WEXITSTATUS(status) == not_found)
    fail("cannot run '", command[0],
         "': compiling a model needs a C compiler and ar (Debian: apt install gcc binutils)");
  fail("'", command[0], "' failed: ", contents(log));
}

std::string c_compiler() { return from_environment("CC", "cc"); }
std::string archiver() { return from_environment("AR", "ar"); }

}  // namespace saltern::generators
