#include "generators/model/kernel_jobs.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "generators/model/argument_checks.h"
#include "generators/model/kernel_memory.h"

namespace saltern::generators {

namespace {

struct Child {
  size_t job;
  int errors;  // where its message comes from
};

// Halide warns of what users of a model can do nothing about (emulated f16); its errors stay exceptions.
struct NoWarnings : Halide::CompileTimeErrorReporter {
  void warning(const char *) override {}
  void error(const char *message) override { throw Halide::CompileError(message); }
};

// Never returns to the caller's code: destructors and exit handlers are the parent's.
[[noreturn]] void run_child(const std::function<void()> &job, int errors) {
  std::string message;
  static NoWarnings reporter;
  Halide::set_custom_compile_time_error_reporter(&reporter);
  try {
    job();
    _exit(0);
  } catch (const std::exception &e) {
    message = e.what();
  } catch (const Halide::Error &e) {
    message = e.what();
  }
  // A message longer than a pipe holds would wait for a reader; nobody reads that much of it.
  message.resize(std::min<size_t>(message.size(), 4000));
  if (write(errors, message.data(), message.size()) < 0) _exit(2);
  _exit(1);
}

std::string read_all(int descriptor) {
  std::string all;
  char part[1024];
  for (ssize_t n; (n = read(descriptor, part, sizeof part)) > 0;) all.append(part, static_cast<size_t>(n));
  return all;
}

}  // namespace

namespace {

// The running child that ends next: its pipe is closed then. Only our own children are waited for: the program may have
// others.
pid_t next_to_end(const std::map<pid_t, Child> &running) {
  std::vector<pollfd> pipes;
  for (const auto &[child, c] : running) pipes.push_back({c.errors, POLLIN, 0});
  while (poll(pipes.data(), pipes.size(), -1) < 0 && errno == EINTR) {
  }
  auto child = running.begin();
  for (const pollfd &p : pipes) {
    if (p.revents != 0) break;
    ++child;
  }
  return child == running.end() ? running.begin()->first : child->first;
}

}  // namespace

void run_in_processes(const std::vector<std::function<void()>> &jobs, int at_once,
                      const std::function<void(int done, int all)> &progress) {
  std::map<pid_t, Child> running;
  std::string failure;
  int done = 0;
  for (size_t next = 0; next < jobs.size() || !running.empty();) {
    if (next < jobs.size() && static_cast<int>(running.size()) < at_once && failure.empty()) {
      int ends[2];
      if (pipe(ends) != 0) fail("cannot make a pipe: ", std::strerror(errno));
      const pid_t child = fork();
      if (child == 0) {
        close(ends[0]);
        run_child(jobs[next], ends[1]);
      }
      close(ends[1]);
      if (child < 0) {
        close(ends[0]);
        failure = std::string("cannot start a process: ") + std::strerror(errno);
        next = jobs.size();
        continue;
      }
      running[child] = {next++, ends[0]};
      continue;
    }
    if (running.empty()) break;
    const pid_t child = next_to_end(running);
    const int errors = running[child].errors;
    int status = 0;
    const std::string message = read_all(errors);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    close(errors);
    running.erase(child);
    if (!(WIFEXITED(status) && WEXITSTATUS(status) == 0) && failure.empty()) {
      failure = !message.empty() ? message : "a compiling process ended with status " + std::to_string(status);
    }
    if (progress) progress(++done, static_cast<int>(jobs.size()));
  }
  if (!failure.empty()) fail(failure);
}

void compile_kernel(const EmittedKernel &kernel, const std::string &symbol, const std::vector<CpuTarget> &targets,
                    const std::string &folder) {
  std::vector<Halide::Target> halide_targets;
  std::vector<std::string> suffixes;
  for (const CpuTarget &t : targets) {
    halide_targets.emplace_back(t.halide + "-no_runtime-no_bounds_query" + (kernel.can_fail ? "" : "-no_asserts"));
    suffixes.push_back(t.name);
  }
  KernelMemory memory;
  const auto module = [&](const std::string &name, const Halide::Target &target) {
    try {
      const Build b = kernel.build(target);
      check_build(kernel, b);
      const Halide::Module m = b.pipeline().compile_to_module(b.arguments(), name, target);
      memory = most(memory, kernel_memory(m));
      return m;
    } catch (const Halide::Error &e) {
      fail("the kernel '", kernel.key, "' for ", target.to_string(), ": ", e.what());
    } catch (const std::exception &e) {
      fail("the kernel '", kernel.key, "' for ", target.to_string(), ": ", e.what());
    }
  };
  Halide::compile_multitarget(symbol, {{Halide::OutputFileType::object, folder + "/" + symbol + ".o"}}, halide_targets,
                              suffixes, module);
  write_kernel_memory(memory, folder + "/" + symbol + ".memory");
}

std::vector<uint64_t> feature_words(const CpuTarget &target) {
  const Halide::Target halide(target.halide);
  std::vector<uint64_t> words((Halide::Target::FeatureEnd + 63) / 64);
  for (int f = 0; f < Halide::Target::FeatureEnd; ++f)
    if (halide.has_feature(static_cast<Halide::Target::Feature>(f))) words[f / 64] |= uint64_t{1} << (f % 64);
  return words;
}

void compile_halide_runtime(const std::string &object) {
  Halide::compile_standalone_runtime(object, Halide::Target(cpu_targets().back().halide));
}

}  // namespace saltern::generators
