#pragma once
// Options of commands that run kernels: how many threads, which instruction set, on which device.

#include <CLI/CLI.hpp>
#include <string>

#include "apps/saltern/command.h"
#include "runtime/kernels/device.h"
#include "runtime/kernels/instruction_set.h"
#include "runtime/kernels/thread_pool.h"

namespace saltern {

// For commands that are not measured: as many threads as there are cores, unless told otherwise.
struct ThreadOptions {
  int threads = 0;

  void add_to(CLI::App &app) {
    app.add_option("--threads", threads, "Threads to run on; by default, one a core")->check(CLI::Range(1, 256));
  }
  void use() const {
    if (threads > 0) set_threads(threads);
  }
};

struct DeviceOption {
  std::string name = "cpu";

  void add_to(CLI::App &app) {
    app.add_option("--device", name, "Where library kernels and formulas run that can: cpu, opencl or cuda")
        ->check(CLI::IsMember({"cpu", "opencl", "cuda"}))
        ->capture_default_str();
  }
  bool is_cpu() const { return name == "cpu"; }
  // Until what is returned goes.
  UseDevice use() const { return UseDevice(device(name)); }
  // Of an option that was given, and that devices have nothing for.
  void expect_cpu(const std::string &option, const std::string &why) const {
    if (!is_cpu()) throw BadInput(option + " is for the CPU: " + why);
  }
};

struct MachineOptions {
  int threads = 1;
  std::string isa = std::string(name(instruction_set_in_use()));

  void add_to(CLI::App &app) {
    app.add_option("--threads", threads, "Threads to run on")->check(CLI::Range(1, 256))->capture_default_str();
    app.add_option("--isa", isa, "The best instruction set to use: sse41, avx2 or avx512")->capture_default_str();
  }

  InstructionSet set() const {
    const auto here = available_instruction_sets();
    std::string known;
    for (InstructionSet s : here) {
      if (name(s) == isa) return s;
      known += std::string(known.empty() ? "" : ", ") + std::string(name(s));
    }
    throw BadInput("--isa " + isa + ": this CPU has " + known);
  }
};

}  // namespace saltern
