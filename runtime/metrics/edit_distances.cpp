// By how many edits texts become others: error rates of words and characters, and the extended edit distance.

#include <algorithm>
#include <cmath>

#include "runtime/metrics/text.h"

namespace saltern::metrics {

namespace {

// Edits, words of the targets, words of the predictions, and those of the longer of both.
State edited(const Arguments &in, Words (*parts)(const std::string &)) {
  const auto [preds, targets] = sentence_pairs(in);
  double distance = 0, target = 0, pred = 0, longer = 0;
  for (size_t i = 0; i < preds.size(); ++i) {
    const Words p = parts(preds[i]), t = parts(targets[i]);
    distance += edits(p, t);
    target += static_cast<double>(t.size());
    pred += static_cast<double>(p.size());
    longer += static_cast<double>(std::max(p.size(), t.size()));
  }
  State s;
  s.sum("edits", distance);
  s.sum("target", target);
  s.sum("preds", pred);
  s.sum("longer", longer);
  return s;
}
struct Edited : MetricRow {
  Edited(const char *name, const char *function, Words (*parts)(const std::string &), double (*of)(const State &))
      : MetricRow(
            name, function, "", "preds, target",
            [parts](const Arguments &, const Arguments &in) { return edited(in, parts); },
            [of](const Arguments &, const State &s) { return result(of(s)); }) {}
};
double rate(const State &s) { return s["edits"][0] / s["target"][0]; }
double preserved(const State &s) {
  const double hits = s["longer"][0] - s["edits"][0];
  return hits / s["target"][0] * (hits / s["preds"][0]);
}
const Edited word_rate("WordErrorRate", "word_error_rate", words, rate),
    character_rate("CharErrorRate", "char_error_rate", characters, rate),
    match_rate("MatchErrorRate", "match_error_rate", words,
               [](const State &s) { return s["edits"][0] / s["longer"][0]; }),
    information_preserved("WordInfoPreserved", "word_information_preserved", words, preserved),
    information_lost("WordInfoLost", "word_information_lost", words, [](const State &s) { return 1 - preserved(s); });

const MetricRow distance(
    "EditDistance", "edit_distance", "substitution_cost=1, reduction='mean'", "preds, target",
    [](const Arguments &o, const Arguments &in) {
      const auto [preds, targets] = sentence_pairs(in);
      std::vector<double> all;
      for (size_t i = 0; i < preds.size(); ++i)
        all.push_back(edits(characters(preds[i]), characters(targets[i]), o.real("substitution_cost")));
      State s;
      s.list("edits", all);
      return s;
    },
    [](const Arguments &o, const State &s) {
      const std::string how = word_or_none(o, "reduction", {"mean", "sum"});
      return how == "none" ? result(s["edits"]) : result(how == "sum" ? sum(s["edits"]) : mean(s["edits"]));
    });

// ---- Extended edit distance: jumps at blanks are an edit, too, and places that are visited often or never cost.

std::string prepared(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  for (const char c : {'.', '!', '?', ','}) text = replaced(text, std::string(1, c), std::string{' ', c});
  std::string joined;
  for (const char c : text) {
    const bool blank = std::isspace(static_cast<unsigned char>(c));
    if (!blank || joined.empty() || joined.back() != ' ') joined += blank ? ' ' : c;
  }
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string out;
  for (size_t i = 0; i < joined.size(); ++i) {  // points in numbers stay there
    if (i + 4 < joined.size() && is_digit(joined[i]) && joined[i + 1] == ' ' &&
        (joined[i + 2] == '.' || joined[i + 2] == ',') && joined[i + 3] == ' ' && is_digit(joined[i + 4])) {
      out += std::string{joined[i], joined[i + 2], joined[i + 4]};
      i += 4;
    } else {
      out += joined[i];
    }
  }
  for (size_t i = 0; i < out.size(); ++i)
    for (const std::string title : {"Dr", "Jr", "Prof", "Rev", "Gen", "Mr", "Mt", "Mrs", "Ms"})
      if (out.compare(i, title.size() + 1, title + " ") == 0 && i + title.size() + 1 < out.size()) {
        out.replace(i + title.size(), 2, ".");
        i += title.size();
        break;
      }
  out = replaced(out, "e . g .", "e.g.");
  out = replaced(out, "i . e .", "i.e.");
  out = replaced(out, "U . S .", "U.S.");
  return " " + out + " ";
}
double extended(const Arguments &o, const Words &hypothesis, const Words &reference) {
  const double alpha = o.real("alpha"), rho = o.real("rho"), deletion = o.real("deletion"),
               insertion = o.real("insertion");
  const size_t n = hypothesis.size();
  std::vector<double> visits(n + 1, -1.0), row(n + 1, 1.0);
  row[0] = 0;
  for (const std::string &c : reference) {
    std::vector<double> next(n + 1);
    next[0] = row[0] + 1;
    for (size_t i = 1; i <= n; ++i)
      next[i] = std::min({next[i - 1] + deletion, row[i - 1] + double(hypothesis[i - 1] != c), row[i] + insertion});
    const auto least = std::min_element(next.begin(), next.end());
    ++visits[static_cast<size_t>(least - next.begin())];
    if (c == " ") {
      const double jump = alpha + *least;
      for (double &x : next) x = std::min(x, jump);
    }
    row = next;
  }
  double coverage = 0;
  for (const double v : visits) coverage += rho * (v >= 0 ? v : 1);
  return std::min(1.0, (row.back() + coverage) / (static_cast<double>(reference.size()) + coverage));
}
const MetricRow extended_distance(
    "ExtendedEditDistance", "extended_edit_distance",
    "language='en', return_sentence_level_score=False, alpha=2.0, rho=0.3, deletion=0.2, insertion=1.0",
    "preds, target",
    [](const Arguments &o, const Arguments &in) {
      o.word("language", {"en"});
      for (const char *option : {"alpha", "rho", "deletion", "insertion"})
        if (!(o.real(option) >= 0)) o.refuse(option, "at least 0");
      const Words preds = sentences(in);
      const std::vector<Words> targets = references(in, preds.size());
      std::vector<double> all;
      for (size_t i = 0; i < preds.size(); ++i) {
        double best = infinity;
        for (const std::string &t : targets[i])
          best = std::min(best, extended(o, characters(prepared(preds[i])), characters(prepared(t))));
        all.push_back(best);
      }
      State s;
      s.list("scores", all);
      return s;
    },
    [](const Arguments &o, const State &s) -> Argument {
      const double average = s["scores"].size() == 0 ? 0 : mean(s["scores"]);
      if (o.flag("return_sentence_level_score")) return Argument::List{result(average), result(s["scores"])};
      return result(average);
    });

}  // namespace

const void *edit_distances() { return &distance; }

}  // namespace saltern::metrics
