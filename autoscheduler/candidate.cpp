#include "autoscheduler/candidate.h"

#include <nlohmann/json.hpp>

#include "autoscheduler/call_text.h"
#include "generators/child_process.h"
#include "generators/workload.h"
#include "runtime/kernels/peak.h"
#include "runtime/kernels/thread_pool.h"

namespace saltern::autoscheduler {

std::string measured_text(const Candidate &c, double seconds) {
  const LimitInstructionSet limit(c.set);
  set_threads(c.threads);
  const generators::ExactKernel kernel(c.kernel, c.call, c.set, c.knobs);
  generators::Workload work(c.kernel, c.call);
  // Sums in another order differ by a little; anything more is a wrong kernel.
  constexpr double tolerance = 1e-3;
  const double difference = work.difference(kernel);
  if (!(difference <= tolerance)) fail("its outputs differ from the library kernel's by ", difference);
  const Measurement m = measure([&] { work.run(kernel); }, c.flops, {c.set, c.threads, seconds});
  return nlohmann::json{{"milliseconds", m.milliseconds}, {"share_of_peak", m.share_of_peak}}.dump();
}

CandidateTime time_in_child(const std::vector<std::string> &program, const Candidate &c, double seconds,
                            double timeout) {
  std::vector<std::string> command = program;
  const std::vector<std::string> options = {"--kernel",  c.kernel,
                                            "--call",    to_text(c.call),
                                            "--flops",   std::to_string(c.flops),
                                            "--isa",     std::string(name(c.set)),
                                            "--threads", std::to_string(c.threads),
                                            "--knobs",   to_text(c.knobs),
                                            "--seconds", std::to_string(seconds)};
  command.insert(command.end(), options.begin(), options.end());
  const generators::Outcome outcome = generators::run_child(command, timeout);
  if (!outcome.good) return {0, 0, outcome.timed_out, outcome.why + ": " + outcome.output};
  // The result is the last line; whatever else was said comes before it.
  const size_t end = outcome.output.find_last_not_of('\n'), begin = outcome.output.rfind('\n', end);
  const std::string line = outcome.output.substr(begin == std::string::npos ? 0 : begin + 1);
  const nlohmann::json result = nlohmann::json::parse(line, nullptr, false);
  // JSON has no NaN: a time that is none comes as null.
  const auto number = [&](const char *name) {
    return result.is_object() && result.value(name, nlohmann::json()).is_number();
  };
  if (!number("milliseconds") || !number("share_of_peak")) return {0, 0, false, "no result: " + line};
  return {result["milliseconds"], result["share_of_peak"], false, ""};
}

}  // namespace saltern::autoscheduler
