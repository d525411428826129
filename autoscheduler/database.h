#pragma once
// The tuning database: what every measured candidate cost, in one SQLite file. It is read by builds and runs, and
// written by the tuner, which resumes from it.
//
//   measurement(kernel, call, target, cpu, knobs, milliseconds, share_of_peak, timed_out_after, version, date)
//
// A candidate that failed has no milliseconds and a share of 0; one that timed out has the seconds that it was given,
// and may be tried again with more. A handle sees the results of one CPU model only: what is best on another says
// little about this one. Several processes may use one file at a time.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generators/call.h"
#include "runtime/kernels/instruction_set.h"

struct sqlite3;

namespace saltern::autoscheduler {

using generators::Call;
using generators::Knobs;

struct Result {
  Knobs knobs;
  double milliseconds = 0, share_of_peak = 0;
  double timed_out_after = 0;  // the seconds it was given, where they were too few
  bool failed() const { return milliseconds <= 0; }
};

class Database {
 public:
  // Makes the file and its folder where there are none. A file that is no tuning database is an error that names it.
  explicit Database(const std::string &path, std::string cpu = cpu_model());
  // Nothing where there is no such file.
  static std::optional<Database> existing(const std::string &path);

  void record(const std::string &kernel, const Call &call, const std::string &target, const Result &result);
  std::optional<Result> find(const std::string &kernel, const Call &call, const std::string &target,
                             const Knobs &knobs) const;
  // The candidate with the largest share of peak that did not fail.
  std::optional<Result> best(const std::string &kernel, const Call &call, const std::string &target) const;

 private:
  std::optional<Result> one(const std::string &query, const std::vector<std::string> &values) const;

  std::string path_, cpu_;
  std::shared_ptr<sqlite3> handle_;
};

// $SALTERN_TUNING_DATABASE, else ~/.cache/saltern/tuning.sqlite.
std::string default_database_path();

// What results are valid for: the instruction set's name, and the threads where there are several.
std::string target_text(const std::string &instruction_set, int threads);

}  // namespace saltern::autoscheduler
