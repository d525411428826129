#include "autoscheduler/tune.h"

#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/saltern/command.h"
#include "apps/saltern/machine_options.h"
#include "apps/saltern/operations.h"
#include "autoscheduler/call_text.h"
#include "autoscheduler/candidate.h"
#include "generators/child_process.h"
#include "runtime/report/progress.h"

namespace saltern {

namespace {

using namespace autoscheduler;

constexpr const char *child_command = "measure-candidate";

struct TuneCommand {
  MachineOptions machine;
  TuneOptions tune;
  bool json = false;
};

std::string text(const TuneProgress &p) {
  char line[80];
  std::snprintf(line, sizeof line, "best %.1f %% of peak, %d failed", p.best ? 100 * p.best->share_of_peak : 0.0,
                p.failed);
  return line;
}

void print(const TimedOperation &op, const TuneCommand &o, const TuneProgress &p) {
  const Result none;
  const Result &best = p.best ? *p.best : none, &own = p.own ? *p.own : none;
  if (o.json) {
    const nlohmann::ordered_json line = {{"operation", op.label},
                                         {"kernel", op.kernel},
                                         {"isa", o.machine.isa},
                                         {"threads", o.machine.threads},
                                         {"trials", p.done},
                                         {"measured", p.done - p.reused},
                                         {"reused", p.reused},
                                         {"failed", p.failed},
                                         {"knobs", best.knobs},
                                         {"milliseconds", best.milliseconds},
                                         {"share_of_peak", best.share_of_peak},
                                         {"own_share_of_peak", own.share_of_peak},
                                         {"database", o.tune.database}};
    std::printf("%s\n", line.dump().c_str());
    return;
  }
  std::printf("%s: %d candidates, %d of them known already, %d failed\n", op.label.c_str(), p.done, p.reused, p.failed);
  std::printf("best: %s, %.3f ms, %.1f %% of peak (the schedule's own: %.1f %%)\n", to_text(best.knobs).c_str(),
              best.milliseconds, 100 * best.share_of_peak, 100 * own.share_of_peak);
  std::printf("kept in %s\n", o.tune.database.c_str());
}

void run_tune(const TimedOperation &op, TuneCommand o) {
  o.tune.kernel = op.kernel;
  o.tune.call = op.call;
  o.tune.flops = op.flops;
  o.tune.set = o.machine.set();
  o.tune.threads = o.machine.threads;
  o.tune.program = {std::filesystem::read_symlink("/proc/self/exe").string(), child_command};
  on_input([&] { return Database(o.tune.database); });
  std::optional<Progress> bar;
  const TuneProgress p = tune(o.tune, [&](const TuneProgress &now) {
    if (!bar) bar.emplace(op.label, now.of);
    bar->update(now.done, text(now));
  });
  if (bar) bar->finish(text(p));
  if (p.done == 0) fail(op.label, ": --seconds ", o.tune.seconds, " were over before the first candidate was measured");
  if (!p.best) fail(op.label, ": all ", p.done, " candidates failed; the last: ", p.last_failure);
  print(op, o, p);
}

}  // namespace

void define_tune(CLI::App &app, Action &chosen) {
  app.require_subcommand(1);
  app.footer(
      "Each candidate is compiled and timed in a process of its own. Results are kept in the database; a second run\n"
      "goes on where the first stopped, and `saltern bench` with the same shape uses the best.\n\n"
      "  saltern tune matmul 1024 1024 1024 --trials 40");
  for (const OperationRow &row : operations()) {
    auto o = std::make_shared<TuneCommand>();
    o->tune.database = default_database_path();
    CLI::App *sub = app.add_subcommand(row.name, row.summary);
    const auto wanted = row.define(*sub);
    TuneOptions &t = o->tune;
    o->machine.add_to(*sub);
    sub->add_option("--trials", t.trials, "Candidates in all, known ones included")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    sub->add_option("--seconds", t.seconds, "Stop after this time; 0: when the trials are done")
        ->check(CLI::Range(0.0, 1e6))
        ->capture_default_str();
    sub->add_option("--timeout", t.timeout, "Seconds for one candidate")
        ->check(CLI::Range(0.01, 3600.0))
        ->capture_default_str();
    sub->add_option("--database", t.database, "Where results are kept")->capture_default_str();
    sub->add_option("--seed", t.seed, "Of the search")->capture_default_str();
    sub->add_flag("--json", o->json, "One line of JSON");
    sub->callback([o, wanted, &chosen] {
      chosen = [o, wanted] {
        for (const TimedOperation &op : wanted()) run_tune(op, *o);
        return 0;
      };
    });
  }
}

void define_measure_candidate(CLI::App &app, Action &chosen) {
  struct Given {
    std::string kernel, call, isa, knobs;
    double flops = 0, seconds = 0;
    int threads = 1;
  };
  auto g = std::make_shared<Given>();
  app.add_option("--kernel", g->kernel)->required();
  app.add_option("--call", g->call)->required();
  app.add_option("--flops", g->flops)->required();
  app.add_option("--isa", g->isa)->required();
  app.add_option("--threads", g->threads)->required();
  app.add_option("--knobs", g->knobs)->required();
  app.add_option("--seconds", g->seconds)->required();
  app.callback([g, &chosen] {
    chosen = [g] {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody waits for the result of a tuner that is gone
      generators::limit_own_memory(generators::memory_for_a_candidate());
      const Candidate c = {g->kernel,  call_from_text(g->call),  g->flops, instruction_set(g->isa),
                           g->threads, knobs_from_text(g->knobs)};
      std::printf("%s\n", measured_text(c, g->seconds).c_str());
      return 0;
    };
  });
}

}  // namespace saltern
