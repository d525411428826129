#include "autoscheduler/tune.h"

#include <algorithm>
#include <chrono>

#include "autoscheduler/candidate.h"
#include "autoscheduler/cost_model.h"
#include "autoscheduler/search.h"
#include "generators/just_in_time.h"
#include "runtime/error.h"

namespace saltern::autoscheduler {

TuneProgress tune(const TuneOptions &o, const std::function<void(const TuneProgress &)> &progress) {
  const Space space(generators::knob_space(o.kernel, o.call, o.set));
  if (space.knobs().empty()) fail("kernel ", o.kernel, " has no knobs to tune");
  const int registers = generators::vector_registers(o.set);
  Search search(space, o.seed, [=](const Knobs &k) { return expected_share(k, registers); });
  Database database(o.database);
  const std::string target = target_text(std::string(name(o.set)), o.threads);

  TuneProgress p;
  p.of = static_cast<int>(std::min<int64_t>(o.trials, space.size()));
  const auto begin = std::chrono::steady_clock::now();
  const auto out_of_time = [&] {
    return o.seconds > 0 && std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > o.seconds;
  };
  progress(p);
  while (p.done < p.of && !out_of_time()) {
    const std::optional<Knobs> knobs = search.next();
    if (!knobs) break;
    std::optional<Result> result = database.find(o.kernel, o.call, target, *knobs);
    if (result && !(result->timed_out_after > 0 && result->timed_out_after < o.timeout)) {
      ++p.reused;
    } else {
      const CandidateTime time =
          time_in_child(o.program, {o.kernel, o.call, o.flops, o.set, o.threads, *knobs}, o.measure_seconds, o.timeout);
      if (!time.why_failed.empty()) p.last_failure = time.why_failed;
      result = Result{*knobs, time.milliseconds, time.share_of_peak, time.timed_out ? o.timeout : 0};
      database.record(o.kernel, o.call, target, *result);
    }
    search.report(*knobs, result->failed() ? 0 : result->share_of_peak);
    ++p.done;
    if (result->failed()) ++p.failed;
    if (*knobs == space.own()) p.own = result;
    if (!result->failed() && (!p.best || result->share_of_peak > p.best->share_of_peak)) p.best = result;
    progress(p);
  }
  return p;
}

}  // namespace saltern::autoscheduler
