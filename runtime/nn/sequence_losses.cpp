// Losses of labels that are not one for each score: of sequences, and of classes in clusters.

#include "algorithms/ctc.h"

#include <algorithm>

#include "runtime/layers/softmax.h"
#include "runtime/layers/unary.h"
#include "runtime/nn/families.h"
#include "runtime/nn/losses.h"

namespace saltern::nn {

namespace {

using namespace formula;

// ---- Sequences.

const Operation ctc("ctc", [](const Values &in, const Attributes &a) -> Values {
  const Value losses =
      algorithms::ctc_loss(in.at(0), in.at(1), in.at(2), in.at(3), in.at(4), a.integer("blank"), a.integer("longest"));
  const Value kept =
      a.integer("zero_infinity") ? where(map(formula::Function::is_infinite, losses), 0, losses) : losses;
  const std::string &how = a.word("reduction");
  if (how == "none") return {kept};
  if (how == "sum") return {sum_all(kept)};
  const Value labels = cast(in[0].type(), max(in[4], constant_value(Type::i64, 1)));
  return {mean_of_all(kept / labels)};
});

// A list of numbers, or a tensor of them, one for each sample.
std::vector<int64_t> lengths_of(const Arguments &a, std::string_view name, int64_t samples, int64_t most) {
  const auto *tensor = a[name].as<Variable>();
  const std::vector<int64_t> all = tensor ? tensor->value().integers() : a.integers(name);
  if (static_cast<int64_t>(all.size()) != samples) a.refuse(name, std::to_string(samples) + " lengths");
  for (int64_t length : all)
    if (length < 0 || length > most) a.refuse(name, "lengths of at least 0 and at most " + std::to_string(most));
  return all;
}

const Function ctc_loss(
    "ctc_loss", "log_probs, targets, input_lengths, target_lengths, blank=0, reduction='mean', zero_infinity=False",
    [](const Arguments &a) {
      const Variable given = a.variable("log_probs"), targets = a.variable("targets");
      const Shape shape = given.shape();
      if (shape.size() != 2 && shape.size() != 3) a.refuse("log_probs", "(T, N, C), or (T, C) of one sample");
      const bool one = shape.size() == 2;
      const Variable x = one ? reshape(given, {shape[0], 1, shape[1]}) : given;
      const int64_t samples = x.shape()[1], classes = x.shape()[2], blank = a.integer("blank");
      if (x.size() == 0) a.refuse("log_probs", "scores of at least one time and sample");
      if (blank < 0 || blank >= classes) a.refuse("blank", "one of " + std::to_string(classes) + " classes");
      expect_indices(a, "targets", classes);
      const bool rows = targets.shape().size() == 2;
      if ((rows && targets.shape()[0] != samples) || targets.shape().size() > 2)
        a.refuse("targets", "labels (N, S), or those of all samples one after the other");
      const int64_t most = rows ? targets.shape()[1] : targets.size();
      const std::vector<int64_t> times = lengths_of(a, "input_lengths", samples, shape[0]);
      const std::vector<int64_t> lengths = lengths_of(a, "target_lengths", samples, most);
      std::vector<int64_t> starts, labels = targets.value().integers();
      int64_t next = 0;
      for (int64_t length : lengths) {
        starts.push_back(next);
        next += rows ? most : length;
      }
      if (next > static_cast<int64_t>(labels.size())) a.refuse("targets", std::to_string(next) + " labels");
      if (labels.empty()) labels.push_back(blank);
      const auto tensor = [](const std::vector<int64_t> &v) {
        return Tensor::of<int64_t>({static_cast<int64_t>(v.size())}, v);
      };
      const Variable loss = apply_one(ctc, {x, tensor(labels), tensor(starts), tensor(times), tensor(lengths)},
                                      {{"blank", blank},
                                       {"longest", *std::max_element(lengths.begin(), lengths.end())},
                                       {"zero_infinity", int64_t{a.flag("zero_infinity")}},
                                       {"reduction", a.word("reduction", {"none", "mean", "sum"})}});
      return one && loss.shape().size() == 1 ? reshape(loss, {}) : loss;
    });
const LayerRow ctc_layer("CTCLoss", "blank=0, reduction='mean', zero_infinity=False",
                         calls("ctc_loss", "log_probs, targets, input_lengths, target_lengths"));

// ---- Clusters: frequent classes have a score each, the others one for their cluster, and one inside of it.

// scores(n, label - low), or a column of them, where low <= label < high; else 0
const Operation picked("picked", [](const Values &in, const Attributes &a) -> Values {
  const Value &scores = in.at(0), &labels = in.at(1);
  const int64_t low = a.integer("low"), column = a.integer("column", -1);
  return {inlined({labels.extent(0)}, [&](const Axes &n) {
    const Expression label = labels(n[0]);
    return select(low <= label && label < a.integer("high"),
                  scores(n[0], column >= 0 ? Expression(column) : label - low), constant(scores.type(), 0));
  })};
});

std::string tail_part(size_t cluster, int which) {
  return "tail." + std::to_string(cluster) + "." + std::to_string(which);
}

const LayerRow adaptive(
    "AdaptiveLogSoftmaxWithLoss", "in_features, n_classes, cutoffs, div_value=4.0, head_bias=False",
    {"input_, target_",
     [](Layer &self, const Arguments &in) {
       const Arguments &made = self.made_with();
       const Variable given = in.variable("input_"), labels = in.variable("target_");
       const bool one = given.shape().size() == 1;
       if (given.shape().empty() || given.shape().size() > 2 || given.shape().back() != made.integer("in_features"))
         in.refuse("input_", "(N, in_features) or (in_features)");
       const Variable x = one ? reshape(given, {1, -1}) : given, t = one ? reshape(labels, {1}) : labels;
       if (t.shape() != Shape{x.shape()[0]}) in.refuse("target_", "one label for each sample");
       expect_indices(in, "target_", made.integer("n_classes"));
       std::vector<int64_t> cutoffs = made.integers("cutoffs");
       cutoffs.push_back(made.integer("n_classes"));
       const Variable head = log_softmax(self.part("head")(x), 1);
       Variable y = apply_one(picked, {head, t}, {{"low", 0}, {"high", cutoffs[0]}});
       for (size_t i = 0; i + 1 < cutoffs.size(); ++i) {
         const Attributes inside = {{"low", cutoffs[i]}, {"high", cutoffs[i + 1]}};
         const Variable scores = self.part(tail_part(i, 1))(self.part(tail_part(i, 0))(x));
         y = y + apply_one(picked, {log_softmax(scores, 1), t}, inside) +
             apply_one(picked, {head, t}, inside.with("column", cutoffs[0] + static_cast<int64_t>(i)));
       }
       return Argument({one ? reshape(y, {}) : y, -mean(y)});
     }},
    [](Layer &self) {
      const Arguments &a = self.made_with();
      std::vector<int64_t> cutoffs = a.integers("cutoffs");
      const int64_t features = a.integer("in_features"), classes = a.integer("n_classes");
      for (size_t i = 0; i < cutoffs.size(); ++i)
        if (cutoffs[i] <= (i == 0 ? 0 : cutoffs[i - 1]) || cutoffs[i] >= classes)
          a.refuse("cutoffs", "increasing numbers of classes, below n_classes");
      if (cutoffs.empty()) a.refuse("cutoffs", "at least one number of classes");
      const auto clusters = static_cast<int64_t>(cutoffs.size());
      self.part("head", "Linear", {features, cutoffs[0] + clusters}, {{"bias", a["head_bias"]}});
      cutoffs.push_back(classes);
      double inside = static_cast<double>(features);
      for (size_t i = 0; i + 1 < cutoffs.size(); ++i) {
        inside /= a.real("div_value");
        const auto hidden = static_cast<int64_t>(inside);
        self.part(tail_part(i, 0), "Linear", {features, hidden}, {{"bias", false}});
        self.part(tail_part(i, 1), "Linear", {hidden, cutoffs[i + 1] - cutoffs[i]}, {{"bias", false}});
      }
    });

}  // namespace

const void *sequence_losses() { return &ctc_loss; }

}  // namespace saltern::nn
