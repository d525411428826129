// Translation edit rate: edits of words where moving a sequence of words is one edit, too (Snover et al., 2006, as Tercom does).

#include <algorithm>
#include <cmath>
#include <optional>

#include "runtime/metrics/text.h"

namespace saltern::metrics {

namespace {

constexpr size_t longest_move = 10, farthest_move = 50, most_candidates = 1000;

enum class Edit { nothing, substitute, insertion, deletion };

// Edits of `from` into `to`, near the diagonal, and which they are.
struct Alignment {
  double distance = 0;
  std::vector<Edit> trace;

  Alignment(const Words &from, const Words &to) {
    const size_t rows = from.size(), columns = to.size();
    struct Cell {
      double cost = 1e16;
      Edit edit = Edit::nothing;
    };
    std::vector<std::vector<Cell>> table(rows + 1, std::vector<Cell>(columns + 1));
    for (size_t j = 0; j <= columns; ++j) table[0][j] = {static_cast<double>(j), Edit::insertion};
    const double slope = rows == 0 ? 1 : static_cast<double>(columns) / static_cast<double>(rows);
    const double width = slope / 2 > 25 ? std::ceil(slope / 2 + 25) : 25;
    for (size_t i = 1; i <= rows; ++i) {
      const double diagonal = std::floor(static_cast<double>(i) * slope);
      const auto first = static_cast<size_t>(std::max(0.0, diagonal - width));
      const auto end =
          i == rows ? columns + 1 : static_cast<size_t>(std::min(static_cast<double>(columns) + 1, diagonal + width));
      for (size_t j = first; j < end; ++j) {
        Cell &cell = table[i][j];
        const auto offer = [&](double cost, Edit edit) {
          if (cost < cell.cost) cell = {cost, edit};
        };
        if (j > 0) {
          const bool same = from[i - 1] == to[j - 1];
          offer(table[i - 1][j - 1].cost + !same, same ? Edit::nothing : Edit::substitute);
        }
        offer(table[i - 1][j].cost + 1, Edit::deletion);
        if (j > 0) offer(table[i][j - 1].cost + 1, Edit::insertion);
      }
    }
    distance = table[rows][columns].cost;
    for (size_t i = rows, j = columns; i > 0 || j > 0;) {
      const Edit e = table[i][j].edit;
      trace.push_back(e);
      if (e != Edit::insertion) --i;
      if (e != Edit::deletion) --j;
    }
    std::reverse(trace.begin(), trace.end());
  }
};

Words moved(const Words &all, size_t start, size_t length, size_t to) {
  const auto part = [&](size_t from, size_t end) {
    from = std::min(from, all.size());
    end = std::max(from, std::min(end, all.size()));
    return Words(all.begin() + static_cast<int64_t>(from), all.begin() + static_cast<int64_t>(end));
  };
  Words out;
  const auto add = [&](const Words &w) { out.insert(out.end(), w.begin(), w.end()); };
  const Words piece = part(start, start + length);
  if (to < start) {
    add(part(0, to)), add(piece), add(part(to, start)), add(part(start + length, all.size()));
  } else if (to > start + length) {
    add(part(0, start)), add(part(start + length, to)), add(piece), add(part(to, all.size()));
  } else {
    add(part(0, start)), add(part(start + length, length + to)), add(piece), add(part(length + to, all.size()));
  }
  return out;
}

// The move that saves most; of equal ones the longest, then the first.
double best_move(Words &from, const Words &to, size_t &candidates) {
  const Alignment now(from, to);
  std::vector<int64_t> place(to.size(), -1);  // in `from`, of each word of `to`
  std::vector<bool> wrong_from, wrong_to;
  int64_t at = -1;
  for (const Edit e : now.trace) {
    const bool wrong = e != Edit::nothing;
    if (e != Edit::insertion) {
      ++at;
      wrong_from.push_back(wrong);
    }
    if (e != Edit::deletion) {
      place[wrong_to.size()] = at;
      wrong_to.push_back(wrong);
    }
  }
  const auto any = [](const std::vector<bool> &v, size_t start, size_t n) {
    return std::any_of(v.begin() + static_cast<int64_t>(start),
                       v.begin() + static_cast<int64_t>(std::min(start + n, v.size())), [](bool b) { return b; });
  };
  using Candidate = std::tuple<double, size_t, int64_t, int64_t, Words>;
  std::optional<Candidate> best;
  for (size_t i = 0; i < from.size(); ++i)
    for (size_t j = 0; j < to.size(); ++j) {
      if (std::max(i, j) - std::min(i, j) > farthest_move) continue;
      for (size_t n = 1;
           n < longest_move && i + n <= from.size() && j + n <= to.size() && from[i + n - 1] == to[j + n - 1]; ++n) {
        const auto start = static_cast<int64_t>(i), length = static_cast<int64_t>(n);
        if (any(wrong_from, i, n) && any(wrong_to, j, n) && !(place[j] >= start && place[j] < start + length)) {
          int64_t before = -1;
          for (int64_t offset = -1; offset < length; ++offset) {
            const int64_t k = static_cast<int64_t>(j) + offset;
            if (k >= static_cast<int64_t>(to.size())) break;
            const int64_t target = k < 0 ? 0 : place[static_cast<size_t>(k)] + 1;
            if (target == before) continue;
            before = target;
            Words words = moved(from, i, n, static_cast<size_t>(target));
            Candidate c{now.distance - Alignment(words, to).distance, n, -start, -target, words};
            ++candidates;
            if (!best || c > *best) best = std::move(c);
          }
        }
        if (candidates >= most_candidates) break;
      }
    }
  if (!best) return 0;
  from = std::get<4>(*best);
  return std::get<0>(*best);
}

double edits_with_moves(Words from, const Words &to) {
  if (to.empty()) return 0;
  size_t candidates = 0;
  double moves = 0;
  for (;;) {
    Words next = from;
    const double saved = best_move(next, to, candidates);
    if (candidates >= most_candidates || saved <= 0) break;
    ++moves;
    from = next;
  }
  return moves + Alignment(from, to).distance;
}

Words prepared(const Arguments &o, const std::string &given) {
  if (o.flag("asian_support")) unsupported(o.owner(), ": 'asian_support' is False here");
  std::string text = o.flag("lowercase") ? lower(given) : given;
  if (o.flag("normalize")) {
    text = " " + text + " ";
    for (const auto &[what, by] : {std::make_pair("\n-", ""), std::make_pair("\n", " "), std::make_pair("&quot;", "\""),
                                   std::make_pair("&amp;", "&"), std::make_pair("&lt;", "<"),
                                   std::make_pair("&gt;", ">"), std::make_pair("'s ", " 's ")})
      text = replaced(text, what, by);
    text = with_spaced_punctuation(text);
  }
  if (o.flag("no_punctuation"))
    text.erase(std::remove_if(text.begin(), text.end(),
                              [](char c) { return std::string(".,?:;!\"()").find(c) != std::string::npos; }),
               text.end());
  return words(text);
}
double rate(double edits, double length) { return edits <= 0 ? 0 : length > 0 ? edits / length : 1; }

const MetricRow ter(
    "TranslationEditRate", "translation_edit_rate",
    "normalize=False, no_punctuation=False, lowercase=True, asian_support=False, return_sentence_level_score=False",
    "preds, target",
    [](const Arguments &o, const Arguments &in) {
      const Words preds = sentences(in);
      const std::vector<Words> targets = references(in, preds.size());
      double edits = 0, length = 0;
      std::vector<double> scores;
      for (size_t i = 0; i < preds.size(); ++i) {
        const Words p = prepared(o, preds[i]);
        double best = 2e16, words = 0;
        for (const std::string &t : targets[i]) {
          const Words w = prepared(o, t);
          best = std::min(best, edits_with_moves(w, p));
          words += static_cast<double>(w.size()) / static_cast<double>(targets[i].size());
        }
        edits += best;
        length += words;
        scores.push_back(rate(best, words));
      }
      State s;
      s.sum("edits", edits);
      s.sum("length", length);
      s.list("scores", scores);
      return s;
    },
    [](const Arguments &o, const State &s) -> Argument {
      const Argument all = result(rate(s["edits"][0], s["length"][0]));
      if (o.flag("return_sentence_level_score")) return Argument::List{all, result(s["scores"])};
      return all;
    });

}  // namespace

const void *translation_edit_rates() { return &ter; }

}  // namespace saltern::metrics
