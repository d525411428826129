// Ensembles of decision trees (ai.onnx.ml): each tree sends a sample to one of its leaves, whose weights add up.
//
// All trees are one table of nodes, with the trees' leaves among them, each its own successor. A formula moves all
// samples in all trees one level down; after as many levels as the deepest tree has, all are at their leaves.

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/onnx/operators/choices.h"
#include "runtime/onnx/operators/ml_scores.h"
#include "runtime/onnx/operators/ml_trees.h"

namespace saltern {

namespace {

using namespace formula;

int64_t depth_of(const Trees &t) {
  // Along each path from the roots; a node that is met again deeper than there are nodes is in a circle.
  int64_t deepest = 0;
  std::vector<std::pair<int64_t, int64_t>> open;
  for (int64_t r : t.roots) open.emplace_back(r, 0);
  std::vector<int64_t> seen(t.size(), -1);
  while (!open.empty()) {
    const auto [node, depth] = open.back();
    open.pop_back();
    if (node < 0 || node >= static_cast<int64_t>(t.size())) fail("a tree leads to node ", node, " of ", t.size());
    const auto at = static_cast<size_t>(node);
    if (depth > static_cast<int64_t>(t.size())) fail("a tree leads back to its node ", node);
    if (seen[at] >= depth) continue;
    seen[at] = depth;
    deepest = std::max(deepest, depth);
    if (t.yes[at] == node && t.no[at] == node) continue;
    open.emplace_back(t.yes[at], depth + 1);
    open.emplace_back(t.no[at], depth + 1);
  }
  return deepest;
}

// Whether a sample's feature takes the branch of a node; the nodes' modes that occur are those asked for.
class Question {
 public:
  Question(Lowering &n, const Trees &t, Type type) : occurring_(t.mode) {
    std::sort(occurring_.begin(), occurring_.end());
    occurring_.erase(std::unique(occurring_.begin(), occurring_.end()), occurring_.end());
    const auto count = static_cast<int64_t>(t.size());
    feature_ = constant_of(n, t.feature);
    split_ = constant_of(n, type, {count}, t.split);
    yes_ = constant_of(n, t.yes);
    no_ = constant_of(n, t.no);
    if (occurring_.size() > 1) mode_ = constant_of(n, t.mode);
    if (std::find(t.missing_true.begin(), t.missing_true.end(), 1) != t.missing_true.end())
      missing_ = constant_of(n, t.missing_true);
    if (!t.sets.empty()) add_sets(n, t, type);
  }

  Expression next(const Value &samples, const Expression &sample, const Expression &node) const {
    const Expression x = samples(sample, feature_(node)), split = split_(node);
    Expression is_true = answer(occurring_[0], x, split);
    for (size_t i = 1; i < occurring_.size(); ++i)
      is_true = select(mode_(node) == occurring_[i], answer(occurring_[i], x, split), is_true);
    const Expression is_missing = call(Function::is_nan, x);
    is_true = missing_.defined() ? select(is_missing, missing_(node) == 1, is_true) : is_true && !is_missing;
    return select(is_true, yes_(node), no_(node));
  }

 private:
  void add_sets(Lowering &n, const Trees &t, Type type) {
    for (const std::vector<double> &s : t.sets) largest_ = std::max<int64_t>(largest_, static_cast<int64_t>(s.size()));
    std::vector<double> all;
    for (const std::vector<double> &s : t.sets) {
      all.insert(all.end(), s.begin(), s.end());
      all.resize(all.size() + static_cast<size_t>(largest_) - s.size(), std::nan(""));  // equal to nothing
    }
    sets_ = constant_of(n, type, {static_cast<int64_t>(t.sets.size()), largest_}, all);
  }

  Expression answer(int64_t mode, const Expression &x, const Expression &split) const {
    using E = const Expression &;
    static constexpr Expression (*comparisons[])(E, E) = {
        [](E a, E b) { return a <= b; }, [](E a, E b) { return a < b; },  [](E a, E b) { return a >= b; },
        [](E a, E b) { return a > b; },  [](E a, E b) { return a == b; }, [](E a, E b) { return !(a == b); }};
    if (mode < 6) return comparisons[mode](x, split);
    return reduce(Function::sum, {largest_},
                  [&](const auto &s) { return cast(Type::i64, x == sets_(cast(Type::i64, split), s[0])); }) > 0;
  }

  std::vector<int64_t> occurring_;
  Value feature_, split_, yes_, no_, mode_, missing_, sets_;  // by the number of a node; undefined: there is none
  int64_t largest_ = 1;
};

// How a tree's weights become one: sums and averages, or the least and the greatest.
struct Aggregate {
  Function function;
  double without;  // the value of a leaf that has no vote for a target
};
const std::map<std::string, Aggregate> &aggregates() {
  constexpr double most = std::numeric_limits<float>::max();
  static const std::map<std::string, Aggregate> table = {{"AVERAGE", {Function::sum, 0}},
                                                         {"SUM", {Function::sum, 0}},
                                                         {"MIN", {Function::least, most}},
                                                         {"MAX", {Function::greatest, -most}}};
  return table;
}

constexpr int64_t most_targets = 1 << 16;

// (N, targets)
Operand scores(Lowering &n, const Trees &t, const std::string &aggregate, const std::vector<double> &base) {
  const Operand x = sample_rows(n);
  const int64_t samples = x.shape[0];
  const auto trees = static_cast<int64_t>(t.roots.size());
  if (trees == 0) fail("has no trees");
  for (int64_t f : t.feature)
    if (f < 0 || f >= x.shape[1]) fail("a tree asks for feature ", f, " of ", x.shape[1]);
  const Aggregate &how = one_of(aggregates(), "aggregate_function", aggregate);

  const int64_t depth = depth_of(t);
  const Value roots = constant_of(n, t.roots), all = x;
  Value at_node = inlined({samples, trees}, [&](const Axes &at) { return roots(at[1]); });
  const Question question(n, t, x.type);
  for (int64_t level = 0; level < depth; ++level)
    at_node = n.computed(
        compute("level", {samples, trees}, [&](const Axes &at) { return question.next(all, at[0], at_node.at(at)); }));

  const int64_t rows = 1 + *std::max_element(t.leaf.begin(), t.leaf.end());
  if (t.targets < 1 || t.targets > most_targets) fail(t.targets, " targets; expected 1 to ", most_targets);
  std::vector<double> weights(static_cast<size_t>(rows * t.targets), how.without);
  std::vector<bool> voted(weights.size(), false);
  for (const Trees::Vote &v : t.votes) {
    if (v.target < 0 || v.target >= t.targets) fail("a leaf votes for ", v.target, " of ", t.targets);
    const auto at = static_cast<size_t>(v.row * t.targets + v.target);
    const double before = weights[at];
    weights[at] = !voted[at]                           ? v.weight
                  : how.function == Function::sum      ? before + v.weight
                  : how.function == Function::greatest ? std::max(before, v.weight)
                                                       : std::min(before, v.weight);
    voted[at] = true;
  }
  const Value leaf = constant_of(n, t.leaf), votes = constant_of(n, x.type, {rows, t.targets}, weights);
  Value y = compute("votes", {samples, t.targets}, [&](const Axes &at) {
    return reduce(how.function, {trees}, [&](const Axes &k) { return votes(leaf(at_node(at[0], k[0])), at[1]); });
  });
  if (aggregate == "AVERAGE") y = y / static_cast<double>(trees);
  if (base.empty()) return n.computed(y);
  if (base.size() != 1 && static_cast<int64_t>(base.size()) != t.targets)
    fail(base.size(), " base values for ", t.targets, " targets");
  return n.computed(y + constant_of(n, x.type, {static_cast<int64_t>(base.size())}, base));
}

// ---- Operators.

void tree_ensemble(Lowering &n) {
  static const std::vector<std::string> transforms = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"},
                                        functions = {"AVERAGE", "SUM", "MIN", "MAX"};
  const Attributes &a = n.attributes();
  const auto aggregate = static_cast<size_t>(a.integer("aggregate_function", 1)),
             transform = static_cast<size_t>(a.integer("post_transform", 0));
  if (aggregate >= functions.size()) fail("aggregate_function is ", aggregate, "; expected 0 to 3");
  if (transform >= transforms.size()) fail("post_transform is ", transform, "; expected 0 to 4");
  const Operand y = scores(n, separate_trees(a), functions[aggregate], {});
  n.give(0, n.casted(transformed_scores(n, y, transforms[transform]), n.input(0).type));
}

void tree_regressor(Lowering &n) {
  const Attributes &a = n.attributes();
  Trees t = numbered_trees(a, "target");
  t.targets = a.integer("n_targets", 1);
  const Operand y = scores(n, t, a.word("aggregate_function", "SUM"), reals_of(a, "base_values"));
  n.give(0, n.casted(transformed_scores(n, y, post_transform(n)), Type::f32));
}

void tree_classifier(Lowering &n) {
  const Attributes &a = n.attributes();
  const char *labels = "classlabels_int64s";
  Trees t = numbered_trees(a, "class");
  const auto classes = static_cast<int64_t>(class_count(a, labels));
  if (classes == 0) fail("has no labels of classes");
  t.targets = classes;
  Operand y = scores(n, t, "SUM", reals_of(a, "base_values"));
  const bool one_voted =
      std::all_of(t.votes.begin(), t.votes.end(), [&](const Trees::Vote &v) { return v.target == t.votes[0].target; });
  const std::string transform = post_transform(n);
  if (one_voted && !t.votes.empty() && classes <= 2) {
    // One score tells two classes apart: as a probability, or by its sign where a transform makes it one.
    const int64_t column = t.votes[0].target;
    const bool is_probability = transform == "NONE" || transform == "PROBIT";
    y = n.computed(inlined({y.shape[0], 2}, [&](const Axes &at) {
      const Expression s = Value(y)(at[0], column);
      return select(at[1] == 1, s, is_probability ? 1.0 - s : -s);
    }));
  }
  y = transformed_scores(n, y, transform);
  const Operand best = best_class(n, y);
  if (classes == 1 && a.integers(labels, {1}) != std::vector<int64_t>{1})
    unsupported("a single label other than 1: there is none for the other class");
  n.give(0, classes == 1 ? best : class_labels(n, best, labels));
  n.give(1, n.casted(y, Type::f32));
}

const auto with_texts = [](const HostCall &c) { return class_texts(c, "classlabels_int64s"); };

}  // namespace

const OperatorList ml_tree_operators = {
    {"TreeEnsemble", tree_ensemble, nullptr, ml_domain},
    {"TreeEnsembleClassifier", tree_classifier, with_texts, ml_domain, true},
    {"TreeEnsembleRegressor", tree_regressor, nullptr, ml_domain},
};

}  // namespace saltern
