#pragma once
// Connectionist temporal classification: the probability that a sequence of scores, x(t, n, c), says a sequence of labels,
// each perhaps several times, with blanks around it.
//
//   with l(s) the labels with a blank before, between and behind them, 2 S + 1 places, and p = log_softmax(x):
//   a(t, s) = p(t, l(s)) + log(exp a(t-1, s) + exp a(t-1, s-1) + [l(s) is no blank, nor l(s-2)] exp a(t-1, s-2))
//   loss    = -log(exp a(T, 2 S) + exp a(T, 2 S - 1)), infinite where no way leads there
//
// x is normalised though it should be already: so that the gradient is exp(p) less the share of ways, as PyTorch has it,
// and at the same time that of the formula. In place of the logarithm of 0 stands a number that nothing brings back.

#include <limits>

#include "algorithms/probabilities.h"
#include "dsl/recurrence.h"

namespace saltern::algorithms {

using namespace formula;

inline constexpr double impossible = -1e30;

// log(exp a + exp b)
inline Value log_of_sum(const Values &all) {
  Value largest = all[0], total;
  for (const Value &v : all) largest = max(largest, v);
  largest = stop_gradient(largest);
  for (const Value &v : all) total = total.defined() ? total + exp(v - largest) : exp(v - largest);
  return largest + log(total);
}

// labels(all): those of sample n are `lengths(n)` from starts(n) on, at most `longest`; the first `times(n)` of x count.
inline Value ctc_loss(const Value &x, const Value &labels, const Value &starts, const Value &times,
                      const Value &lengths, int64_t blank, int64_t longest) {
  const Value p = named("p", max(log_softmax(x, 2), impossible));
  const Expression places = 2 * longest + 1, &turns = x.extent(0), &samples = x.extent(1);
  const Type type = x.type();
  const auto label = [&](const Expression &n, const Expression &s) {  // of place s
    return select(modulo(s, 2) == 0, Expression(blank), labels(starts(n) + quotient(s, 2)));
  };
  const Value said = compute("said", {turns, samples, places}, [&](const Axes &at) {
    return p(at[0], at[1], max(0, min(label(at[1], at[2]), x.extent(2) - 1)));
  });
  const Value skips = compute("skips", {samples, places}, [&](const Axes &at) {
    const Expression s = at[1];
    return cast(type, modulo(s, 2) == 1 && 2 <= s && !(label(at[0], s) == label(at[0], s - 2)));
  });
  const Value first = compute("first", {samples, places}, [&](const Axes &at) {
    return select(at[1] == 0, constant(type, 0), constant(type, impossible));
  });
  const Value a = recurrent("ctc", {first}, turns, [&](const Values &before) {
    const auto from = [&](int back) {
      return inlined({turns, samples, places}, [&](const Axes &at) {
        const Expression s = at[2] - back;
        const Expression reached = before[0](at[0], at[1], max(s, 0)), none = constant(type, impossible);
        return select(back == 2 ? skips(at[1], at[2]) > 0 : 0 <= s, reached, none);
      });
    };
    const Value next = log_of_sum({from(0), from(1), from(2)}) + said;
    return Values{inlined({turns, samples, places},
                          [&](const Axes &at) { return select(at[0] < times(at[1]), next.at(at), before[0].at(at)); })};
  })[0];
  const auto end = [&](int64_t back) {
    return inlined({samples}, [&](const Axes &n) {
      const Expression s = 2 * lengths(n[0]) - back;
      return select(0 <= s, a(turns - 1, n[0], max(s, 0)), constant(type, impossible));
    });
  };
  const Value loss = -log_of_sum({end(0), end(1)});
  return where(loss > -0.1 * impossible, constant_value(type, std::numeric_limits<double>::infinity()), loss);
}

}  // namespace saltern::algorithms
