#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/saltern/bench_model.h"
#include "apps/saltern/command.h"
#include "apps/saltern/machine_options.h"
#include "apps/saltern/operations.h"
#include "autoscheduler/database.h"
#include "generators/workload.h"
#include "runtime/kernels/peak.h"
#include "runtime/kernels/thread_pool.h"

namespace saltern {

namespace {

struct BenchOptions {
  MachineOptions machine;
  double seconds = 1;
  bool json = false, exact = false, library = false;
  std::string database = autoscheduler::default_database_path();
};

// `compared`: the shares of peak of all kernels that were tried, by kind, where there was a choice.
void print(const TimedOperation &op, const BenchOptions &o, const std::string &kernel, const Measurement &m,
           const std::map<std::string, double> &compared = {}) {
  if (!o.json) {
    std::printf("%-32s %-8s %-7s %d thread%s %9.3f ms %8.1f GF/s of %.1f: %.1f %% of peak\n", op.label.c_str(),
                kernel.c_str(), o.machine.isa.c_str(), o.machine.threads, o.machine.threads == 1 ? " " : "s",
                m.milliseconds, m.gflops, m.peak_gflops, 100 * m.share_of_peak);
    return;
  }
  nlohmann::ordered_json line = {{"operation", op.label},
                                 {"kernel", kernel},
                                 {"isa", o.machine.isa},
                                 {"threads", o.machine.threads},
                                 {"gflops", m.gflops},
                                 {"peak_gflops", m.peak_gflops},
                                 {"share_of_peak", m.share_of_peak},
                                 {"best_share_of_peak", m.best_share},
                                 {"median_ms", m.milliseconds},
                                 {"best_ms", m.best_milliseconds},
                                 {"samples", m.samples}};
  if (!compared.empty()) line["compared"] = compared;
  std::printf("%s\n", line.dump().c_str());
}

// The best that tuning found for exactly this, if it ever was tuned.
std::optional<generators::Knobs> tuned_knobs(const TimedOperation &op, const BenchOptions &o) {
  if (o.library) return std::nullopt;
  const auto database = on_input([&] { return autoscheduler::Database::existing(o.database); });
  if (!database) return std::nullopt;
  const auto best = database->best(op.kernel, op.call, autoscheduler::target_text(o.machine.isa, o.machine.threads));
  if (!best) return std::nullopt;
  return best->knobs;
}

void bench(const TimedOperation &op, const BenchOptions &o) {
  const InstructionSet set = o.machine.set();
  const LimitInstructionSet limit(set);
  set_threads(o.machine.threads);
  const MeasureOptions how = {set, o.machine.threads, o.seconds};
  generators::Workload work = on_input([&] { return generators::Workload(op.kernel, op.call); });
  if (o.exact) {
    const generators::ExactKernel exact(op.kernel, op.call, set);
    print(op, o, "exact", measure([&] { work.run(exact); }, op.flops, how));
    return;
  }
  const Measurement library = measure([&] { work.run_library(); }, op.flops, how);
  if (const auto knobs = tuned_knobs(op, o)) {
    const generators::ExactKernel exact(op.kernel, op.call, set, *knobs);
    const Measurement tuned = measure([&] { work.run(exact); }, op.flops, how);
    const bool is_better = tuned.share_of_peak > library.share_of_peak;
    print(op, o, is_better ? "tuned" : "library", is_better ? tuned : library,
          {{"library", library.share_of_peak}, {"tuned", tuned.share_of_peak}});
    return;
  }
  print(op, o, "library", library);
}

}  // namespace

void define_bench(CLI::App &app, Action &chosen) {
  app.require_subcommand(0, 1);
  auto whole = std::make_shared<BenchModelOptions>();
  whole->model.add_to(app);
  app.get_option("MODEL")->required(false);
  whole->machine.add_to(app);
  whole->device.add_to(app);
  app.add_option("--seconds", whole->seconds, "How long to measure a model")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_flag("--compiled", whole->compiled,
               "Compile the model for its exact shapes first, or take it from the cache");
  whole->convolutions.add_to(app);
  app.add_flag("--layers", whole->layers, "A table of the model's layers, and what share of the time each takes");
  app.add_option("--trace", whole->trace, "Write one run of the model as a trace for chrome://tracing or Perfetto");
  app.add_flag(
      "--train", whole->train,
      "Time a training step on random data: forward, loss, gradients and update, compiled for its exact shapes");
  app.add_flag("--tape", whole->tape, "With --train: by library kernels, one after the other, as nets train in C++");
  // For bench/peers.py, which lets several programs take turns.
  app.add_flag("--bursts", whole->bursts, "With --train: answer lines of seconds with milliseconds of steps")
      ->group("");
  whole->training.add_to(app);
  app.add_flag("--json", whole->json, "One line of JSON");
  app.callback([whole, &app, &chosen] {
    const auto kernels = app.get_subcommands();
    for (const CLI::Option *option : app.get_options())
      if (!kernels.empty() && option->count() > 0)
        throw CLI::ValidationError(option->get_name(), "is said of a model here; " + kernels[0]->get_name() +
                                                           " takes the options that stand behind it and that it has");
    if (!kernels.empty()) return;
    if (whole->model.path.empty()) throw CLI::RequiredError("MODEL, or one of the kernels below,");
    if (whole->tape && !whole->train) throw CLI::ValidationError("--tape", "is for --train");
    if (whole->convolutions.exact && !whole->compiled && (!whole->train || whole->tape))
      throw CLI::ValidationError("--exact-convolutions",
                                 "is for what is compiled: --compiled, or --train without --tape");
    expect_train(app, whole->train);
    chosen = [whole] { return whole->train ? bench_training(*whole) : bench_model(*whole); };
  });
  app.footer(
      "Every sample is taken between two bursts of pure multiply-adds, so that the share of peak holds\n"
      "even where the clock moves.\n\n  saltern bench model.onnx --compiled --json\n  saltern bench model.onnx "
      "--train --batch 64 --loss cross_entropy --optimizer sgd --json\n  saltern bench model.onnx "
      "--layers --trace trace.json\n  saltern bench matmul 1024 1024 "
      "1024 --threads 1 --json\n"
      "  saltern bench conv2d --in 64 --out 64 --size 56 --pass all");
  for (const OperationRow &row : operations()) {
    auto o = std::make_shared<BenchOptions>();
    CLI::App *sub = app.add_subcommand(row.name, row.summary);
    const auto wanted = row.define(*sub);
    o->machine.add_to(*sub);
    sub->add_option("--seconds", o->seconds, "How long to measure")
        ->check(CLI::Range(0.0, 3600.0))
        ->capture_default_str();
    sub->add_flag("--exact", o->exact, "Compile the kernel just in time for exactly this size");
    sub->add_flag("--library", o->library, "The library kernel even where a tuned one is known to the database");
    sub->add_option("--database", o->database, "Where `saltern tune` kept its results")->capture_default_str();
    sub->add_flag("--json", o->json, "One line of JSON for each kernel");
    sub->callback([o, wanted, &chosen] {
      chosen = [o, wanted] {
        for (const TimedOperation &op : wanted()) bench(op, *o);
        return 0;
      };
    });
  }
}

}  // namespace saltern
