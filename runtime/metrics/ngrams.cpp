// How many sequences of words or characters two texts have in common: BLEU and chrF.

#include <algorithm>
#include <cmath>

#include "runtime/metrics/text.h"

namespace saltern::metrics {

namespace {

using Tokens = std::function<Words(const std::string &)>;

State bleu_counts(const Arguments &o, const Arguments &in, const Tokens &tokens) {
  const Words preds = sentences(in);
  const std::vector<Words> targets = references(in, preds.size(), false);
  if (o.integer("n_gram") < 1) o.refuse("n_gram", "at least 1");
  const auto order = static_cast<size_t>(o.integer("n_gram"));
  Numbers hits(std::vector<double>(order, 0.0)), all = hits;
  double pred_length = 0, target_length = 0;
  for (size_t i = 0; i < preds.size(); ++i) {
    const Words p = tokens(preds[i]);
    const Grams grams(p, order);
    Grams most({}, order);
    double nearest = infinity, length = 0;
    for (const std::string &t : targets[i]) {
      const Words w = tokens(t);
      const double apart = std::abs(static_cast<double>(w.size()) - static_cast<double>(p.size()));
      if (apart < nearest) {
        nearest = apart;
        length = static_cast<double>(w.size());
      }
      const Grams one(w, order);
      for (size_t n = 0; n < order; ++n)
        for (const auto &[gram, count] : one.counts[n]) most.counts[n][gram] = std::max(most.counts[n][gram], count);
    }
    pred_length += static_cast<double>(p.size());
    target_length += length;
    for (size_t n = 0; n < order; ++n) {
      hits[n] += grams.common(most, n + 1);
      all[n] += grams.total(n + 1);
    }
  }
  State s;
  s.sum("hits", hits);
  s.sum("all", all);
  s.sum("preds", pred_length);
  s.sum("target", target_length);
  return s;
}
Argument bleu(const Arguments &o, const State &s) {
  const Numbers &hits = s["hits"], &all = s["all"];
  const size_t order = hits.size();
  std::vector<double> weights(order, 1 / static_cast<double>(order));
  if (o.has("weights")) weights = o.reals("weights", order);
  double logarithm = 0;
  for (size_t n = 0; n < order; ++n) {
    if (hits[n] == 0) return result(0.0);
    const double more = o.flag("smooth") && n > 0 ? 1 : 0;
    logarithm += weights[n] * std::log((hits[n] + more) / (all[n] + more));
  }
  const double shorter = s["preds"][0] > s["target"][0] ? 0 : 1 - s["target"][0] / s["preds"][0];
  return result(std::exp(shorter + logarithm));
}
const MetricRow bleu_score(
    "BLEUScore", "bleu_score", "n_gram=4, smooth=False, weights=None", "preds, target",
    [](const Arguments &o, const Arguments &in) { return bleu_counts(o, in, words); }, bleu);

Words western(std::string text) {
  for (const auto &[what, by] : {std::make_pair("<skipped>", ""), std::make_pair("-\n", ""), std::make_pair("\n", " "),
                                 std::make_pair("&quot;", "\""), std::make_pair("&amp;", "&"),
                                 std::make_pair("&lt;", "<"), std::make_pair("&gt;", ">")})
    text = replaced(text, what, by);
  return words(with_spaced_punctuation(" " + text + " "));
}
Words without_blanks(const std::string &text) {
  Words all;
  for (const std::string &c : characters(text))
    if (!words(c).empty()) all.push_back(c);
  return all;
}
const MetricRow sacre_bleu(
    "SacreBLEUScore", "sacre_bleu_score", "n_gram=4, smooth=False, tokenize='13a', lowercase=False, weights=None",
    "preds, target",
    [](const Arguments &o, const Arguments &in) {
      const std::string &how = o.word("tokenize", {"none", "13a", "char"});
      const bool lowers = o.flag("lowercase");
      return bleu_counts(o, in, [&](const std::string &text) {
        const std::string t = lowers ? lower(text) : text;
        return how == "none" ? words(t) : how == "char" ? without_blanks(t) : western(t);
      });
    },
    bleu);

// ---- chrF: F-scores of sequences of characters and of words, whose mean is the score.

Words with_punctuation_apart(const std::string &text) {
  static const std::string punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
  Words all;
  for (const std::string &w : words(text)) {
    const bool behind = punctuation.find(w.back()) != std::string::npos,
               before = punctuation.find(w.front()) != std::string::npos;
    if (characters(w).size() > 1 && behind) {
      all.push_back(w.substr(0, w.size() - 1));
      all.push_back(w.substr(w.size() - 1));
    } else if (characters(w).size() > 1 && before) {
      all.push_back(w.substr(0, 1));
      all.push_back(w.substr(1));
    } else {
      all.push_back(w);
    }
  }
  return all;
}
struct Both {
  Grams of_characters, of_words;
  Both(const Arguments &o, const std::string &given)
      : Both(o.flag("lowercase") ? lower(given) : given, o.flag("whitespace"),
             static_cast<size_t>(o.integer("n_char_order")), static_cast<size_t>(o.integer("n_word_order"))) {}
  Both(const std::string &text, bool whitespace, size_t characters_order, size_t words_order)
      : of_characters(whitespace ? characters(text) : characters(replaced(stripped(text), " ", "")), characters_order),
        of_words(with_punctuation_apart(text), words_order) {}
  static std::string stripped(const std::string &text) {
    const size_t first = text.find_first_not_of(" \t\n\r\f\v"), last = text.find_last_not_of(" \t\n\r\f\v");
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
  }
  // Hits, sequences of the prediction, and of the target, of each order; those of characters first.
  static std::vector<double> counts(const Both &p, const Both &t) {
    std::vector<double> all;
    for (const auto &[a, b] :
         {std::make_pair(&p.of_characters, &t.of_characters), std::make_pair(&p.of_words, &t.of_words)})
      for (size_t n = 1; n <= a->counts.size(); ++n)
        for (const double x : {a->common(*b, n), a->total(n), b->total(n)}) all.push_back(x);
    return all;
  }
};
double chrf(const Arguments &o, const std::vector<double> &counts) {
  const double b = o.real("beta") * o.real("beta");
  double all = 0;
  for (size_t i = 0; i < counts.size(); i += 3) {
    const double precision = ratio(counts[i], counts[i + 1]), recall = ratio(counts[i], counts[i + 2]);
    all += (1 + b) * precision * recall / std::max(b * precision + recall, 1e-16);
  }
  return all / (static_cast<double>(counts.size()) / 3);
}
const MetricRow chrf_score(
    "CHRFScore", "chrf_score",
    "n_char_order=6, n_word_order=2, beta=2.0, lowercase=False, whitespace=False, return_sentence_level_score=False",
    "preds, target",
    [](const Arguments &o, const Arguments &in) {
      if (o.integer("n_char_order") < 1) o.refuse("n_char_order", "at least 1");
      if (o.integer("n_word_order") < 0) o.refuse("n_word_order", "at least 0");
      const Words preds = sentences(in);
      const std::vector<Words> targets = references(in, preds.size());
      std::vector<double> total, scores;
      for (size_t i = 0; i < preds.size(); ++i) {
        const Both p(o, preds[i]);
        std::vector<double> best = Both::counts(p, Both(o, ""));  // of no target: what was predicted
        double score = 0;
        for (const std::string &t : targets[i]) {
          const std::vector<double> one = Both::counts(p, Both(o, t));
          if (chrf(o, one) > score) {
            score = chrf(o, one);
            best = one;
          }
        }
        scores.push_back(score);
        total.resize(best.size());
        for (size_t k = 0; k < best.size(); ++k) total[k] += best[k];
      }
      total.resize(3 * static_cast<size_t>(o.integer("n_char_order") + o.integer("n_word_order")));
      State s;
      s.sum("counts", total);
      s.list("scores", scores);
      return s;
    },
    [](const Arguments &o, const State &s) -> Argument {
      const Argument all = result(chrf(o, s["counts"].all));
      if (o.flag("return_sentence_level_score")) return Argument::List{all, result(s["scores"])};
      return all;
    });

}  // namespace

const void *ngrams() { return &bleu_score; }

}  // namespace saltern::metrics
