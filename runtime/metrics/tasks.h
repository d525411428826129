#pragma once
// Classification by task: what was decided and what is true, of two classes, of one of several, or of several labels each.

#include <optional>

#include "runtime/metrics/metric.h"

namespace saltern::metrics {

enum class Task { binary, multiclass, multilabel };

// A metric of up to three tasks: rows BinaryNAME, MulticlassNAME, MultilabelNAME, and NAME, which chooses by its task.
class TaskRows {
 public:
  using Statistics = std::function<State(Task, const Arguments &options, const Arguments &in)>;
  using Value = std::function<Argument(Task, const Arguments &options, const State &)>;
  // The options of each; a task without any text is left out. Those of `any` stand behind "task".
  struct Options {
    std::string binary, multiclass, multilabel, any;
  };

  TaskRows(const std::string &name, const std::string &function, const Options &options, const Statistics &statistics,
           const Value &value);

 private:
  std::vector<std::unique_ptr<MetricRow>> rows_;
};

// Classes that were decided for and that are true, of samples with positions each. Of several classes there is one of each
// at [sample, position]; of two, and of labels, 0 or 1 at [sample, class, position]. Truth that is ignored is -1.
struct Decisions {
  Task task;
  size_t samples, classes, positions;
  std::vector<int64_t> decided, truth;
};
Decisions decisions(Task task, const Arguments &options, const Arguments &in);

// The same before anything is decided: scores[row, class], as chances, and truth[row], of labels truth[row, class]; rows that
// are ignored are left out, of labels they have the truth -1.
struct Scores {
  size_t rows, classes;
  Numbers scores;
  std::vector<int64_t> truth;
};
Scores scores(Task task, const Arguments &options, const Arguments &in, bool as_chances = true);

// Options that some rows have.
std::optional<int64_t> ignored(const Arguments &options);
size_t class_count(Task task, const Arguments &options);
bool by_sample(const Arguments &options);

// True and false positives and negatives, [samples or 1, classes].
struct Counts {
  size_t samples, classes;
  std::vector<double> tp, fp, tn, fn;
};
Counts counts(const Decisions &d, bool by_sample);

// [classes, classes], truth by decision; of labels [labels, 2, 2].
Numbers confusion(const Decisions &d);

}  // namespace saltern::metrics
