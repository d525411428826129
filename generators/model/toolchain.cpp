#include "generators/model/toolchain.h"

#include <fcntl.h>
#include <spawn.h>
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

// What a program is started with: its folder, and a file for what it prints.
class Surroundings {
 public:
  Surroundings(const std::string &folder, const std::string &log) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
  }
  ~Surroundings() { posix_spawn_file_actions_destroy(&actions_); }
  Surroundings(const Surroundings &) = delete;
  Surroundings &operator=(const Surroundings &) = delete;
  const posix_spawn_file_actions_t *get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

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
  std::vector<char *> arguments;
  for (const std::string &c : command) arguments.push_back(const_cast<char *>(c.c_str()));
  arguments.push_back(nullptr);
  // Not fork(): a process with a large model in memory takes long to copy.
  pid_t child = 0;
  const Surroundings surroundings(folder, log);
  const int error = posix_spawnp(&child, arguments[0], surroundings.get(), nullptr, arguments.data(), environ);
  if (error == ENOENT || error == EACCES)
    fail("cannot run '", command[0],
         "': compiling a model needs a C compiler and ar (Debian: apt install gcc binutils)");
  if (error != 0) fail("cannot start ", command[0], ": ", std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  fail("'", command[0], "' failed: ", contents(log));
}

std::string c_compiler() { return from_environment("CC", "cc"); }
std::string archiver() { return from_environment("AR", "ar"); }

}  // namespace saltern::generators
