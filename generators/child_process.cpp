#include "generators/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "runtime/error.h"

extern char **environ;  // NOLINT(readability-redundant-declaration): only some systems declare it

namespace saltern::generators {

namespace {

constexpr size_t most_output = 1 << 20;

using Clock = std::chrono::steady_clock;

// The reading end of a pipe that the child writes to.
struct Pipe {
  int read_end, write_end;

  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("cannot make a pipe: ", std::strerror(errno));
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close(read_end);
    close_write_end();
  }
  Pipe(const Pipe &) = delete;
  Pipe &operator=(const Pipe &) = delete;

  void close_write_end() {
    if (write_end >= 0) close(write_end);
    write_end = -1;
  }
};

pid_t start(const std::vector<std::string> &command, int output, const std::string &folder) {
  std::vector<char *> arguments, environment;
  for (const std::string &a : command) arguments.push_back(const_cast<char *>(a.c_str()));
  arguments.push_back(nullptr);
  std::string temporary = "TMPDIR=" + (folder.empty() ? "" : std::filesystem::absolute(folder).string());
  for (char **variable = environ; *variable; ++variable)
    if (folder.empty() || std::strncmp(*variable, "TMPDIR=", 7) != 0) environment.push_back(*variable);
  if (!folder.empty()) environment.push_back(temporary.data());
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (int to : {STDOUT_FILENO, STDERR_FILENO}) posix_spawn_file_actions_adddup2(&actions, output, to);
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  // Not fork(): a process with a large model in memory takes long to copy.
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail("cannot start ", command.front(), ": ", std::strerror(error));
  return child;
}

// Reads until the child closes its output or the time is over; whether it closed in time.
bool read_until(int from, Clock::time_point end, std::string &output) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd wanted = {from, POLLIN, 0};
    const int ready = poll(&wanted, 1, static_cast<int>(std::min<int64_t>(left, 1 << 30)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    char part[4096];
    const ssize_t n = read(from, part, sizeof part);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    if (output.size() < most_output) output.append(part, n);
  }
}

// Waits for the child to end; whether it did in time.
bool wait_until(pid_t child, Clock::time_point end, int &status) {
  for (;;) {
    const pid_t done = waitpid(child, &status, WNOHANG);
    if (done == child) return true;
    if (done < 0 && errno != EINTR) fail("cannot wait for process ", child, ": ", std::strerror(errno));
    if (Clock::now() >= end) return false;
    usleep(1000);
  }
}

}  // namespace

Outcome run_child(const std::vector<std::string> &command, double timeout, const std::string &folder) {
  if (command.empty()) fail("no command to run");
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout));
  Pipe pipe;
  const pid_t child = start(command, pipe.write_end, folder);
  pipe.close_write_end();
  Outcome outcome;
  int status = 0;
  // A child that closes its output and goes on still has to end in time.
  if (!read_until(pipe.read_end, end, outcome.output) || !wait_until(child, end, status)) {
    kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    std::ostringstream why;
    why << "timed out after " << timeout << " s";
    outcome.why = why.str();
    outcome.timed_out = true;
    return outcome;
  }
  outcome.good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (WIFSIGNALED(status))
    outcome.why = "signal " + std::to_string(WTERMSIG(status));
  else if (!outcome.good)
    outcome.why = "exit code " + std::to_string(WEXITSTATUS(status));
  return outcome;
}

void limit_own_memory(uint64_t bytes) {
  // Data, not address space: the latter counts what allocators reserve for every thread and never touch.
  rlimit limit = {};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) fail("cannot read the limit of memory: ", std::strerror(errno));
  limit.rlim_cur = std::min<rlim_t>(bytes, limit.rlim_max);
  if (setrlimit(RLIMIT_DATA, &limit) != 0) fail("cannot limit memory: ", std::strerror(errno));
}

uint64_t memory_for_a_candidate() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 2;
}

}  // namespace saltern::generators
