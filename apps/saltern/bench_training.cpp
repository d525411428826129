#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/json_text.h"
#include "apps/saltern/bench_model.h"
#include "apps/saltern/command.h"
#include "apps/saltern/layer_times.h"
#include "apps/saltern/training_model.h"
#include "generators/model/compile_step.h"
#include "runtime/autograd/backward.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/report/progress.h"
#include "runtime/tensor/memory.h"

namespace saltern {

namespace {

using Clock = std::chrono::steady_clock;

// Milliseconds of each step, sorted.
std::vector<double> timed_steps(const std::function<void()> &step, double seconds, size_t least) {
  std::vector<double> times;
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  while (times.size() < least || Clock::now() < until) {
    const auto begin = Clock::now();
    step();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  return times;
}

// For every line of seconds, steps for so long, and their milliseconds as a JSON list.
int answer_bursts(const std::function<void()> &step, size_t peak) {
  std::cout << nlohmann::json{{"peak_bytes", peak}}.dump() << std::endl;
  for (std::string line; std::getline(std::cin, line);)
    std::cout << nlohmann::json(timed_steps(step, std::stod(line), 1)).dump() << std::endl;
  return 0;
}

}  // namespace

int bench_training(const BenchModelOptions &o) {
  const char *not_here = o.layers && o.tape                ? "--layers"
                         : !o.trace.empty()                ? "--trace"
                         : o.compiled                      ? "--compiled"
                         : o.tape && o.training.memory > 0 ? "--memory with --tape"
                                                           : nullptr;
  if (not_here)
    throw BadInput(std::string(not_here) + " is not for this kind of step: --train compiles it unless --tape is given");
  o.device.expect_cpu("--train", "steps are compiled for it");
  const LimitInstructionSet limit(o.machine.set());
  set_threads(o.machine.threads);
  const LoadedModel file(o.model);
  TrainingModel model(file, o.training);
  const LossOfInputs loss = model.loss();
  const std::vector<Tensor> batch = model.random_batch();
  const std::vector<Variable> variables(batch.begin(), batch.end());
  double last = 0;
  const auto on_tape = [&] {
    const Variable l = loss(variables);
    last = l.value().item();
    backward(l);
    model.optimizer().step();
    model.optimizer().clear_gradients();
  };
  const auto compiled_in = [&](uint64_t bytes) {
    std::optional<Progress> bar;
    const auto progress = [&](int done, int all) {
      if (!bar) bar.emplace("compiling", all);
      bar->update(done);
    };
    return on_input([&] {
      return compile_step(model.net(), model.inputs(), loss, model.optimizer(),
                          {o.machine.threads, progress, static_cast<int64_t>(bytes), 1, o.convolutions.exact});
    });
  };
  std::optional<CompiledStep> compiled;
  std::optional<size_t> without_limit;
  if (o.training.memory > 0) without_limit = compiled_in(0).memory_bytes();
  if (!o.tape) compiled = compiled_in(o.training.memory);
  const auto step = [&] { o.tape ? on_tape() : void(last = (*compiled)(batch)); };
  for (int i = 0; i < 2; ++i) step();  // the first ones allocate
  const size_t peak = o.tape ? memory_use().most_in_use : compiled->memory_bytes();
  if (o.bursts) return answer_bursts(step, peak);
  const std::vector<double> times = timed_steps(step, o.seconds, 5);
  const double median = times[times.size() / 2];
  std::optional<LayerTimes> layers;
  if (o.layers) {
    layers.emplace(compiled_layers_of(model.step(), o.convolutions.exact));
    compiled->watch([&](const std::string &) { layers->done(); });
    for (int i = 0; i < 20; ++i) layers->record([&] { (*compiled)(batch); });
  }
  if (o.json) {
    nlohmann::ordered_json row = {{"model", o.model.path},
                                  {"step", o.tape ? "tape" : "compiled"},
                                  {"loss", o.training.loss},
                                  {"optimizer", o.training.optimizer},
                                  {"batch", o.training.batch},
                                  {"parameters", model.net().parameter_count()},
                                  {"isa", o.machine.isa},
                                  {"threads", o.machine.threads},
                                  {"median_ms", median},
                                  {"min_ms", times.front()},
                                  {"p90_ms", times[times.size() * 9 / 10]},
                                  {"peak_bytes", peak},
                                  {"last_loss", last},
                                  {"runs", times.size()}};
    if (without_limit) {
      row["memory"] = o.training.memory;
      row["peak_bytes_without_limit"] = *without_limit;
    }
    if (layers) row["layers"] = to_json(layers->medians());
    std::printf("%s\n", json_text(row).c_str());
    return 0;
  }
  if (layers) std::printf("%s", table(layers->medians()).c_str());
  std::printf("%s: a %s step of %s and %s, batch %lld, %s, %d thread%s: median %.3f ms, best %.3f ms; %.1f MB",
              o.model.path.c_str(), o.tape ? "taped" : "compiled", o.training.loss.c_str(),
              o.training.optimizer.c_str(), static_cast<long long>(o.training.batch), o.machine.isa.c_str(),
              o.machine.threads, o.machine.threads == 1 ? "" : "s", median, times.front(),
              static_cast<double>(peak) / 1e6);
  if (without_limit) std::printf(", instead of %.1f MB without --memory", static_cast<double>(*without_limit) / 1e6);
  std::printf("\n");
  return 0;
}

}  // namespace saltern
