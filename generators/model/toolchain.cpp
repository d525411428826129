#include "generators/model/toolchain.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "runtime/error.h"
#include "runtime/files/file.h"

namespace saltern::generators {

namespace {

// What a program prints: a file without a name, which nobody has to remove.
class Output {
 public:
  Output() : descriptor_(memfd_create("output", MFD_CLOEXEC)) {
    if (descriptor_ < 0) fail("cannot make a file in memory: ", std::strerror(errno));
  }
  ~Output() { close(descriptor_); }
  Output(const Output &) = delete;
  Output &operator=(const Output &) = delete;

  int descriptor() const { return descriptor_; }
  std::string text() const {
    std::string all;
    char part[4096];
    for (ssize_t n; (n = pread(descriptor_, part, sizeof part, static_cast<off_t>(all.size()))) > 0;)
      all.append(part, static_cast<size_t>(n));
    return all;
  }

 private:
  int descriptor_;
};

// What a program is started with: its folder, and where it prints to.
class Surroundings {
 public:
  Surroundings(const std::string &folder, const Output &output) {
    posix_spawn_file_actions_init(&actions_);
    for (int to : {STDOUT_FILENO, STDERR_FILENO}) posix_spawn_file_actions_adddup2(&actions_, output.descriptor(), to);
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
    // Its own temporary files are in the folder: where all are killed, they go with it.
    temporary_ = "TMPDIR=" + std::filesystem::absolute(folder).string();
    for (char **variable = environ; *variable; ++variable)
      if (std::strncmp(*variable, "TMPDIR=", 7) != 0) environment_.push_back(*variable);
    environment_.insert(environment_.end(), {temporary_.data(), nullptr});
  }
  ~Surroundings() { posix_spawn_file_actions_destroy(&actions_); }
  Surroundings(const Surroundings &) = delete;
  Surroundings &operator=(const Surroundings &) = delete;
  const posix_spawn_file_actions_t *actions() const { return &actions_; }
  char *const *environment() const { return environment_.data(); }

 private:
  posix_spawn_file_actions_t actions_;
  std::string temporary_;
  std::vector<char *> environment_;
};

std::string from_environment(const char *variable, const char *otherwise) {
  const char *value = std::getenv(variable);
  return value && *value ? value : otherwise;
}

}  // namespace

void run_program(const std::vector<std::string> &command, const std::string &folder) {
  const Output output;
  std::vector<char *> arguments;
  for (const std::string &c : command) arguments.push_back(const_cast<char *>(c.c_str()));
  arguments.push_back(nullptr);
  // Not fork(): a process with a large model in memory takes long to copy.
  pid_t child = 0;
  const Surroundings surroundings(folder, output);
  const int error =
      posix_spawnp(&child, arguments[0], surroundings.actions(), nullptr, arguments.data(), surroundings.environment());
  if (error == ENOENT || error == EACCES)
    fail("cannot run '", command[0],
         "': compiling a model needs a C compiler and ar (Debian: apt install gcc binutils)");
  if (error != 0) fail("cannot start ", command[0], ": ", std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  fail("'", command[0], "' failed: ", output.text());
}

void archive_objects(const std::string &library, const std::string &folder) {
  std::vector<std::string> objects;
  for (const auto &e : std::filesystem::directory_iterator(folder))
    if (e.path().extension() == ".o") objects.push_back(e.path().filename().string());
  std::sort(objects.begin(), objects.end());
  std::vector<std::string> command = {archiver(), "rcsD", library};
  command.insert(command.end(), objects.begin(), objects.end());
  run_program(command, folder);
}

void make_folder(const std::string &folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw FileError("cannot make the folder " + folder + ": " + error.message());
}

std::string put(const std::string &from, const std::string &folder, const std::string &name) {
  const std::string path = folder + "/" + name;
  const InputFile in(from);
  AtomicFile file(path);
  std::vector<uint8_t> part(1 << 20);
  for (uint64_t at = 0; at < in.size(); at += part.size()) {
    const uint64_t bytes = std::min<uint64_t>(part.size(), in.size() - at);
    in.read(part.data(), bytes, at);
    file.write(part.data(), bytes);
  }
  file.commit();
  return path;
}

std::string c_compiler() { return from_environment("CC", "cc"); }
std::string archiver() { return from_environment("AR", "ar"); }

}  // namespace saltern::generators
