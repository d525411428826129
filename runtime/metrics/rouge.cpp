// What of a reference is found again: ROUGE, answers to questions (SQuAD); and perplexity.

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/metrics/text.h"

namespace saltern::metrics {

namespace {

struct Score {
  double precision = 0, recall = 0, f = 0;
};
Score score(double hits, double pred, double target) {
  if (pred == 0 || target == 0 || hits == 0) return {};
  const double p = hits / pred, r = hits / target;
  return {p, r, 2 * p * r / (p + r)};
}

// Letters and digits in lower case; all else parts words.
Words plain_words(const std::string &text) {
  std::string t = lower(text);
  for (char &c : t)
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) c = ' ';
  return words(t);
}
// At ends of lines, and behind points, question and exclamation marks before a blank.
std::vector<Words> sentences_of(const std::string &text) {
  std::vector<std::string> all(1);
  for (size_t i = 0; i < text.size(); ++i) {
    all.back() += text[i];
    const bool ends = (text[i] == '.' || text[i] == '!' || text[i] == '?') && i + 1 < text.size() && text[i + 1] == ' ';
    if (ends || text[i] == '\n') all.emplace_back();
  }
  std::vector<Words> found;
  for (const std::string &s : all)
    if (!words(s).empty()) found.push_back(plain_words(s));
  return found;
}

std::vector<std::vector<size_t>> common_lengths(const Words &pred, const Words &target) {
  std::vector<std::vector<size_t>> all(target.size() + 1, std::vector<size_t>(pred.size() + 1));
  for (size_t i = 1; i <= target.size(); ++i)
    for (size_t j = 1; j <= pred.size(); ++j)
      all[i][j] = target[i - 1] == pred[j - 1] ? all[i - 1][j - 1] + 1 : std::max(all[i - 1][j], all[i][j - 1]);
  return all;
}
// The places in the target of a longest common subsequence.
void add_common_places(const Words &pred, const Words &target, std::set<size_t> &places) {
  const auto table = common_lengths(pred, target);
  for (size_t i = pred.size(), j = target.size(); i > 0 && j > 0;) {
    if (pred[i - 1] == target[j - 1]) {
      places.insert(j - 1);
      --i, --j;
    } else if (table[j][i - 1] > table[j - 1][i]) {
      --i;
    } else {
      --j;
    }
  }
}
Score of_sentences(const std::string &pred, const std::string &target) {
  const std::vector<Words> p = sentences_of(pred), t = sentences_of(target);
  double pred_length = 0, target_length = 0, hits = 0;
  std::map<std::string, double> in_pred, in_target;
  for (const Words &s : p)
    for (const std::string &w : s) ++in_pred[w], ++pred_length;
  for (const Words &s : t)
    for (const std::string &w : s) ++in_target[w], ++target_length;
  for (const Words &s : t) {
    std::set<size_t> places;
    for (const Words &q : p) add_common_places(q, s, places);
    for (const size_t i : places)
      if (in_pred[s[i]] > 0 && in_target[s[i]] > 0) {
        ++hits;
        --in_pred[s[i]], --in_target[s[i]];
      }
  }
  return score(hits, pred_length, target_length);
}
Score rouge(const std::string &key, const std::string &pred, const std::string &target) {
  if (key == "rougeLsum") return of_sentences(pred, target);
  const Words p = plain_words(pred), t = plain_words(target);
  if (key == "rougeL")
    return score(static_cast<double>(common_lengths(p, t).back().back()), static_cast<double>(p.size()),
                 static_cast<double>(t.size()));
  const auto n = static_cast<size_t>(key.back() - '0');
  const Grams a(p, n), b(t, n);
  return score(a.common(b, n), a.total(n), b.total(n));
}

Words keys(const Arguments &o) {
  static const Words known = {"rouge1", "rouge2", "rouge3", "rouge4", "rouge5",   "rouge6",
                              "rouge7", "rouge8", "rouge9", "rougeL", "rougeLsum"};
  Words all;
  const Argument &given = o["rouge_keys"];
  if (const auto *word = given.as<std::string>()) all = {*word};
  if (const auto *list = given.as<Argument::List>())
    for (const Argument &e : *list) all.push_back(e.as<std::string>() ? *e.as<std::string>() : "");
  for (const std::string &k : all)
    if (std::find(known.begin(), known.end(), k) == known.end())
      o.refuse("rouge_keys", "'rouge1' to 'rouge9', 'rougeL', 'rougeLsum'");
  return all;
}
const MetricRow rouge_score(
    "ROUGEScore", "rouge_score",
    "use_stemmer=False, normalizer=None, tokenizer=None, accumulate='best', rouge_keys=('rouge1', 'rouge2', 'rougeL', "
    "'rougeLsum')",
    "preds, target",
    [](const Arguments &o, const Arguments &in) {
      if (o.flag("use_stemmer")) unsupported(o.owner(), ": there is no stemmer here; use_stemmer=False");
      if (o.has("normalizer") || o.has("tokenizer"))
        unsupported(o.owner(), ": 'normalizer' and 'tokenizer' are None here");
      const bool best = o.word("accumulate", {"avg", "best"}) == "best", one = in["preds"].as<std::string>() != nullptr;
      const Words preds = sentences(in), all = keys(o);
      const std::vector<Words> targets = references(in, preds.size(), one);
      std::vector<double> scores;
      for (size_t i = 0; i < preds.size(); ++i)
        for (const std::string &key : all) {
          Score chosen, total;
          bool first = true;
          for (const std::string &t : targets[i]) {
            const Score x = rouge(key, preds[i], t);
            if (first || x.f > chosen.f) chosen = x;
            first = false;
            total = {total.precision + x.precision, total.recall + x.recall, total.f + x.f};
          }
          const auto n = static_cast<double>(targets[i].size());
          if (!best) chosen = {total.precision / n, total.recall / n, total.f / n};
          for (const double x : {chosen.f, chosen.precision, chosen.recall}) scores.push_back(x);
        }
      State s;
      s.list("scores", Numbers({static_cast<int64_t>(preds.size()), static_cast<int64_t>(3 * all.size())}, scores));
      return s;
    },
    [](const Arguments &o, const State &s) {
      std::vector<std::pair<std::string, Numbers>> all;
      size_t column = 0;
      for (const std::string &key : keys(o))
        for (const char *part : {"_fmeasure", "_precision", "_recall"}) {
          double total = 0;
          for (size_t i = column; i < s["scores"].size(); i += static_cast<size_t>(s["scores"].extent(1)))
            total += s["scores"][i];
          all.emplace_back(key + part, total / static_cast<double>(s["scores"].extent(0)));
          ++column;
        }
      return results(all);
    },
    nullptr,
    "preds, target, accumulate='best', use_stemmer=False, normalizer=None, tokenizer=None, rouge_keys=('rouge1', "
    "'rouge2', 'rougeL', 'rougeLsum')");

// ---- Answers: dictionaries, which are lists of pairs here.

const Argument *entry(const Argument &dictionary, const std::string &key) {
  if (const auto *pairs = dictionary.as<Argument::List>())
    for (const Argument &p : *pairs)
      if (const auto *pair = p.as<Argument::List>();
          pair && pair->size() == 2 && (*pair)[0].as<std::string>() && *(*pair)[0].as<std::string>() == key)
        return &(*pair)[1];
  return nullptr;
}
const Argument &expected(const Arguments &in, const char *name, const Argument &dictionary, const std::string &key) {
  const Argument *found = entry(dictionary, key);
  if (!found) in.refuse(name, "dictionaries with '" + key + "'");
  return *found;
}
Argument::List dictionaries(const Arguments &in, const char *name) {
  if (entry(in[name], "id")) return {in[name]};
  const auto *list = in[name].as<Argument::List>();
  if (!list) in.refuse(name, "a dictionary, or a list of them");
  return *list;
}
// In lower case, without punctuation and articles.
Words answer(const std::string &text) {
  std::string t;
  for (const char c : lower(text))
    if (!std::ispunct(static_cast<unsigned char>(c))) t += c;
  Words all = words(t);
  all.erase(
      std::remove_if(all.begin(), all.end(), [](const std::string &w) { return w == "a" || w == "an" || w == "the"; }),
      all.end());
  return all;
}
const MetricRow squad(
    "SQuAD", "squad", "", "preds, target",
    [](const Arguments &, const Arguments &in) {
      std::map<std::string, std::string> answers;
      for (const Argument &p : dictionaries(in, "preds")) {
        const auto *text = expected(in, "preds", p, "prediction_text").as<std::string>();
        if (!text) in.refuse("preds", "a text as 'prediction_text'");
        answers[nn::to_string(expected(in, "preds", p, "id"))] = *text;
      }
      double exact = 0, f1 = 0, count = 0;
      for (const Argument &t : dictionaries(in, "target")) {
        ++count;
        const auto found = answers.find(nn::to_string(expected(in, "target", t, "id")));
        if (found == answers.end()) continue;  // not answered: 0
        const auto *texts = expected(in, "target", expected(in, "target", t, "answers"), "text").as<Argument::List>();
        if (!texts) in.refuse("target", "a list of texts as 'text'");
        double best = 0, same = 0;
        for (const Argument &e : *texts) {
          if (!e.as<std::string>()) in.refuse("target", "a list of texts as 'text'");
          const Words a = answer(found->second), b = answer(*e.as<std::string>());
          same = std::max(same, double(a == b));
          best = std::max(best, a.empty() || b.empty()
                                    ? double(a == b)
                                    : score(Grams(a, 1).common(Grams(b, 1), 1), static_cast<double>(a.size()),
                                            static_cast<double>(b.size()))
                                          .f);
        }
        exact += same;
        f1 += best;
      }
      State s;
      s.sum("exact", exact);
      s.sum("f1", f1);
      s.sum("count", count);
      return s;
    },
    [](const Arguments &, const State &s) {
      return results({{"exact_match", 100 * s["exact"][0] / s["count"][0]}, {"f1", 100 * s["f1"][0] / s["count"][0]}});
    });

// ---- How surprised a model of language is.

const MetricRow perplexity(
    "Perplexity", "perplexity", "ignore_index=None", "preds, target",
    [](const Arguments &o, const Arguments &in) {
      const Numbers p = numbers(in, "preds"), t = numbers(in, "target");
      if (p.rank() != 3 || p.whole) in.refuse("preds", "real numbers, [batch, positions, vocabulary]");
      if (t.shape != Shape{p.extent(0), p.extent(1)}) in.refuse("target", "[batch, positions], as 'preds' has them");
      const auto n = static_cast<size_t>(p.extent(2));
      double total = 0, count = 0;
      for (size_t i = 0; i < t.size(); ++i) {
        if (o.has("ignore_index") && t[i] == static_cast<double>(o.integer("ignore_index"))) continue;
        if (!(t[i] >= 0 && t[i] < static_cast<double>(n))) in.refuse("target", "tokens below " + std::to_string(n));
        const double *row = p.begin() + i * n;
        const double most = *std::max_element(row, row + n);
        double all = 0;
        for (size_t k = 0; k < n; ++k) all += std::exp(row[k] - most);
        total += most + std::log(all) - row[static_cast<size_t>(t[i])];
        ++count;
      }
      State s;
      s.sum("total", total);
      s.sum("count", count);
      return s;
    },
    [](const Arguments &, const State &s) { return result(std::exp(s["total"][0] / s["count"][0])); });

}  // namespace

const void *rouges() { return &rouge_score; }

}  // namespace saltern::metrics
