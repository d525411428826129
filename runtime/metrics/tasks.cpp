#include "runtime/metrics/tasks.h"

#include <algorithm>
#include <numeric>

namespace saltern::metrics {

namespace {

const char *class_prefix[] = {"Binary", "Multiclass", "Multilabel"};
const char *function_prefix[] = {"binary_", "multiclass_", "multilabel_"};
const char *task_names[] = {"binary", "multiclass", "multilabel"};

int64_t label(const Arguments &in, std::string_view name, double x, size_t classes, std::optional<int64_t> ignore) {
  const auto i = static_cast<int64_t>(x);
  if (ignore && x == static_cast<double>(*ignore)) return -1;
  if (x != static_cast<double>(i) || i < 0 || (classes > 0 && i >= static_cast<int64_t>(classes)))
    in.refuse(name, "classes from 0 to " + std::to_string(classes - 1) + ", and not " + nn::to_string(Argument(x)));
  return i;
}

void expect_alike(const Arguments &in, const Numbers &a, const Numbers &b) {
  if (a.shape != b.shape) in.refuse("target", "the shape " + to_string(a.shape) + " that 'preds' has");
}

double threshold(const Arguments &options) {
  const double t = options.real("threshold");
  if (!(t >= 0 && t <= 1)) options.refuse("threshold", "a number from 0 to 1");
  return t;
}

// Of several scores the best class, or the true one where it is among the best k; of equal ones the first is better.
int64_t best_class(const double *score, size_t classes, size_t stride, size_t k, int64_t truth) {
  size_t best = 0;
  for (size_t c = 1; c < classes; ++c)
    if (score[c * stride] > score[best * stride]) best = c;
  if (k == 1 || truth < 0) return static_cast<int64_t>(best);
  const double mine = score[static_cast<size_t>(truth) * stride];
  size_t better = 0;
  for (size_t c = 0; c < classes; ++c)
    better += score[c * stride] > mine || (score[c * stride] == mine && c < static_cast<size_t>(truth));
  return better < k ? truth : static_cast<int64_t>(best);
}

void decide_classes(const Arguments &options, const Arguments &in, const Numbers &preds, const Numbers &target,
                    Decisions &d) {
  const std::optional<int64_t> ignore = ignored(options);
  d.positions = static_cast<size_t>(target.extent_from(1));
  for (const double t : target) d.truth.push_back(label(in, "target", t, d.classes, ignore));
  const size_t top = options.signature().has("top_k") ? static_cast<size_t>(options.integer("top_k")) : 1;
  if (top < 1 || (d.classes > 0 && top > d.classes)) options.refuse("top_k", "a number of classes");
  if (preds.rank() == target.rank() && !preds.whole && top == 1) {  // classes as real numbers
    expect_alike(in, preds, target);
  } else if (preds.rank() > 1 && preds.rank() == target.rank() + 1 && !preds.whole) {
    Shape expected = preds.shape;
    expected.erase(expected.begin() + 1);
    if (expected != target.shape) in.refuse("target", "the shape " + to_string(expected) + ", as 'preds' has scores");
    const auto classes = static_cast<size_t>(preds.extent(1));
    if (d.classes > 0 && classes != d.classes) in.refuse("preds", std::to_string(d.classes) + " scores of each");
    for (size_t i = 0; i < target.size(); ++i) {
      const size_t s = i / d.positions, p = i % d.positions;
      const double *first = preds.begin() + s * classes * d.positions + p;
      d.decided.push_back(best_class(first, classes, d.positions, top, d.truth[i]));
    }
    return;
  } else {
    expect_alike(in, preds, target);
    if (top > 1) in.refuse("preds", "scores of each class, where top_k is more than 1");
  }
  // What was predicted where truth is ignored may be of no class.
  for (size_t i = 0; i < preds.size(); ++i)
    d.decided.push_back(d.truth[i] < 0 ? 0 : label(in, "preds", preds[i], d.classes, std::nullopt));
}

}  // namespace

TaskRows::TaskRows(const std::string &name, const std::string &function, const Options &options,
                   const Statistics &statistics, const Value &value) {
  const std::string texts[] = {options.binary, options.multiclass, options.multilabel};
  std::vector<std::string> choices;
  for (int t = 0; t < 3; ++t) {
    if (texts[t].empty()) continue;
    const Task task = static_cast<Task>(t);
    rows_.push_back(std::make_unique<MetricRow>(
        class_prefix[t] + name, function_prefix[t] + function, texts[t], "preds, target",
        [=](const Arguments &o, const Arguments &in) { return statistics(task, o, in); },
        [=](const Arguments &o, const State &s) { return value(task, o, s); },
        [task](const Arguments &o) {
          if (task != Task::binary) class_count(task, o);
          if (o.signature().has("threshold")) threshold(o);
        }));
    choices.emplace_back(task_names[t]);
  }
  rows_.push_back(
      std::make_unique<MetricRow>(name, function, "task, " + options.any, "preds, target", [=](const Arguments &o) {
        const std::string &task = o.word("task", choices);
        const auto t = std::find(std::begin(task_names), std::end(task_names), task) - std::begin(task_names);
        const std::string chosen = class_prefix[t] + name;
        Named named;
        for (const nn::Parameter &p : find_metric(chosen)->made_with().parameters())
          if (o.signature().has(p.name)) named[p.name] = o[p.name];
        return std::make_pair(chosen, named);
      }));
}

std::optional<int64_t> ignored(const Arguments &options) {
  if (!options.has("ignore_index")) return std::nullopt;
  return options.integer("ignore_index");
}

size_t class_count(Task task, const Arguments &options) {
  if (task == Task::binary) return 1;
  const char *name = task == Task::multiclass ? "num_classes" : "num_labels";
  const bool micro = options.signature().has("average") && !options["average"].is_none() &&
                     options["average"].as<std::string>() && *options["average"].as<std::string>() == "micro";
  if (task == Task::multiclass && !options.has(name) && micro) return 0;  // any number of them
  const int64_t count = options.integer(name);
  if (count < 2) options.refuse(name, "at least 2");
  return static_cast<size_t>(count);
}

bool by_sample(const Arguments &options) {
  return options.signature().has("multidim_average") &&
         options.word("multidim_average", {"global", "samplewise"}) == "samplewise";
}

Decisions decisions(Task task, const Arguments &options, const Arguments &in) {
  Numbers preds = numbers(in, "preds");
  const Numbers target = numbers(in, "target");
  if (by_sample(options) && target.rank() < (task == Task::multilabel ? 3 : 2))
    in.refuse("target", "another dimension, as multidim_average is 'samplewise'");
  Decisions d{task, static_cast<size_t>(target.extent(0)), class_count(task, options), 1, {}, {}};
  if (task == Task::multiclass) {
    decide_classes(options, in, preds, target, d);
    return d;
  }
  expect_alike(in, preds, target);
  const std::optional<int64_t> ignore = ignored(options);
  const bool labels = task == Task::multilabel;
  d.positions = static_cast<size_t>(target.extent_from(labels ? 2 : 1));
  if (labels && (target.rank() < 2 || target.extent(1) != static_cast<int64_t>(d.classes)))
    in.refuse("target", std::to_string(d.classes) + " labels of each");
  for (const double t : target) d.truth.push_back(label(in, "target", t, 2, ignore));
  if (preds.whole) {
    for (const double p : preds) d.decided.push_back(label(in, "preds", p, 2, std::nullopt));
  } else {
    const double limit = threshold(options);
    sigmoid_if_scores(preds);
    for (const double p : preds) d.decided.push_back(is_above(p, limit));
  }
  return d;
}

Scores scores(Task task, const Arguments &options, const Arguments &in, bool as_chances) {
  Numbers preds = numbers(in, "preds"), target = numbers(in, "target");
  const std::optional<int64_t> ignore = ignored(options);
  Scores s{0, class_count(task, options), {}, {}};
  if (preds.whole && preds.size() > 0) in.refuse("preds", "real numbers, as scores");
  if (task == Task::multiclass) {
    Shape expected = preds.shape;
    if (expected.size() > 1) expected.erase(expected.begin() + 1);
    if (preds.rank() < 2 || preds.extent(1) != static_cast<int64_t>(s.classes))
      in.refuse("preds", std::to_string(s.classes) + " scores of each");
    if (expected != target.shape) in.refuse("target", "the shape " + to_string(expected) + ", as 'preds' has scores");
    preds = channels_last(preds);
  } else {
    expect_alike(in, preds, target);
    if (task == Task::multilabel) {
      if (target.rank() < 2 || target.extent(1) != static_cast<int64_t>(s.classes))
        in.refuse("target", std::to_string(s.classes) + " labels of each");
      preds = channels_last(preds);
      target = channels_last(target);
    }
  }
  for (size_t i = 0; i < target.size(); ++i) {
    const int64_t t = label(in, "target", target[i], task == Task::multiclass ? s.classes : 2, ignore);
    if (t < 0 && task != Task::multilabel) continue;
    s.truth.push_back(t);
    const size_t width = task == Task::multiclass ? s.classes : 1;
    s.scores.all.insert(s.scores.all.end(), preds.begin() + i * width, preds.begin() + (i + 1) * width);
  }
  s.rows = task == Task::multilabel ? s.truth.size() / s.classes : s.truth.size();
  s.scores.shape = {static_cast<int64_t>(s.rows), static_cast<int64_t>(s.classes)};
  if (as_chances && task == Task::multiclass) softmax_if_scores(s.scores);
  if (as_chances && task != Task::multiclass) sigmoid_if_scores(s.scores);
  return s;
}

Counts counts(const Decisions &d, bool by_sample) {
  size_t classes = d.classes;
  if (classes == 0)
    for (size_t i = 0; i < d.truth.size(); ++i)
      classes = std::max({classes, static_cast<size_t>(d.truth[i] + 1), static_cast<size_t>(d.decided[i] + 1)});
  const size_t samples = by_sample ? d.samples : 1;
  const std::vector<double> none(samples * classes);
  Counts c{samples, classes, none, none, none, none};
  if (d.task == Task::multiclass) {
    std::vector<double> seen(samples);
    for (size_t i = 0; i < d.truth.size(); ++i) {
      if (d.truth[i] < 0) continue;
      const size_t row = by_sample ? i / d.positions : 0, t = row * classes + static_cast<size_t>(d.truth[i]),
                   p = row * classes + static_cast<size_t>(d.decided[i]);
      ++seen[row];
      if (t == p) {
        ++c.tp[t];
      } else {
        ++c.fn[t];
        ++c.fp[p];
      }
    }
    for (size_t i = 0; i < c.tn.size(); ++i) c.tn[i] = seen[i / classes] - c.tp[i] - c.fp[i] - c.fn[i];
    return c;
  }
  for (size_t i = 0; i < d.truth.size(); ++i) {
    if (d.truth[i] < 0) continue;
    const size_t row = by_sample ? i / (classes * d.positions) : 0;
    const size_t at = row * classes + i / d.positions % classes;
    ++(d.truth[i] ? d.decided[i] ? c.tp : c.fn : d.decided[i] ? c.fp : c.tn)[at];
  }
  return c;
}

Numbers confusion(const Decisions &d) {
  const bool labels = d.task == Task::multilabel;
  const size_t side = d.task == Task::multiclass ? d.classes : 2, matrices = labels ? d.classes : 1;
  const auto n = static_cast<int64_t>(side);
  Numbers all = Numbers::zeros(labels ? Shape{static_cast<int64_t>(matrices), n, n} : Shape{n, n});
  for (size_t i = 0; i < d.truth.size(); ++i) {
    if (d.truth[i] < 0) continue;
    const size_t matrix = labels ? i / d.positions % d.classes : 0;
    ++all[(matrix * side + static_cast<size_t>(d.truth[i])) * side + static_cast<size_t>(d.decided[i])];
  }
  return all;
}

}  // namespace saltern::metrics
