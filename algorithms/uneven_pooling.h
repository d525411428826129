#pragma once
// Pooling of x(n, c, ...) over windows that are not all alike: each has a beginning and a number of taps of its own.
//
//   adaptive     window o of O along I elements goes from floor(o I / O) up to ceil((o + 1) I / O)
//   fractional   windows of k taps begin at floor((o + u) a) - floor(u a), a = (I - k) / (O - 1), the last at I - k;
//                u(n, c, axis) is drawn from [0, 1)    (B. Graham, Fractional max-pooling)

#include "algorithms/pooling.h"

namespace saltern::algorithms {

struct Span {
  Expression begin, count;
};

struct Spans {
  std::vector<Expression> extents;  // of the result
  Window most;                      // taps of a window
  std::function<std::vector<Span>(const Axes &at)> of;
};

inline Spans adaptive_spans(const Value &x, const std::vector<Expression> &outputs) {
  Spans s = {{x.extent(0), x.extent(1)}, {}, {}};
  std::vector<Expression> inputs;
  for (size_t d = 0; d < outputs.size(); ++d) {
    const Expression from = x.extent(static_cast<int>(d) + 2), to = outputs[d];
    inputs.push_back(from);
    s.extents.push_back(to);
    s.most.push_back(is_number(modulo(from, to), 0) ? quotient(from, to) : quotient(from + to - 1, to) + 1);
  }
  s.of = [inputs, outputs](const Axes &at) {
    std::vector<Span> all;
    for (size_t d = 0; d < inputs.size(); ++d) {
      const Expression begin = quotient(at[d + 2] * inputs[d], outputs[d]);
      all.push_back({begin, quotient((at[d + 2] + 1) * inputs[d] + outputs[d] - 1, outputs[d]) - begin});
    }
    return all;
  };
  return s;
}

// samples(n, c, axis); of two axes the last one comes first, as PyTorch has it.
inline Spans fractional_spans(const Value &x, const Value &samples, const Window &window,
                              const std::vector<Expression> &outputs) {
  Spans s = {{x.extent(0), x.extent(1)}, window, {}};
  s.extents.insert(s.extents.end(), outputs.begin(), outputs.end());
  s.of = [=](const Axes &at) {
    std::vector<Span> all;
    for (size_t d = 0; d < window.size(); ++d) {
      const Expression room = x.extent(static_cast<int>(d) + 2) - window[d], last = outputs[d] - 1;
      const auto real = [&](const Expression &e) { return cast(samples.type(), e); };
      const auto whole = [](const Expression &e) { return cast(Type::i64, floor(e)); };
      const Expression u = samples(at[0], at[1], static_cast<int64_t>(window.size() == 2 ? 1 - d : d));
      const Expression step = real(room) / real(max(last, 1));
      const Expression begin = whole((real(at[d + 2]) + u) * step) - whole(u * step);
      all.push_back({max(min(select(at[d + 2] == last, room, begin), room), 0), window[d]});
    }
    return all;
  };
  return s;
}

inline Expression is_within(const Axes &k, const std::vector<Span> &spans, const Window &most) {
  Expression all = truth(true);
  for (size_t d = 0; d < k.size(); ++d)
    if (!is_same(spans[d].count, most[d])) all = all && k[d] < spans[d].count;
  return all;
}

inline Axes place_in(const std::vector<Span> &spans, const Axes &at, const Axes &k) {
  Axes place = {at[0], at[1]};
  for (size_t d = 0; d < k.size(); ++d) place.push_back(spans[d].begin + k[d]);
  return place;
}

inline Value average_pool(const Value &x, const Spans &s) {
  return compute("uneven_average", s.extents, [&](const Axes &at) {
    const std::vector<Span> spans = s.of(at);
    Expression count = 1;
    for (const Span &span : spans) count = count * span.count;
    const Expression all = sum(s.most, [&](const Axes &k) {
      return select(is_within(k, spans, s.most), x.at(place_in(spans, at, k)), constant(x.type(), 0));
    });
    return all / cast(x.type(), count);
  });
}

inline Maxima maxima(const Value &x, const Spans &s) {
  const Value taps = compute("taps", s.extents, [&](const Axes &at) {
    const std::vector<Span> spans = s.of(at);
    return reduce_open(Function::first_greatest, s.most, [&](const Axes &k) {
      return select(is_within(k, spans, s.most), number_or_lowest(x.at(place_in(spans, at, k))),
                    constant(x.type(), lowest(x.type())));
    });
  });
  return at_taps(x, taps, s.most, [&](const Axes &at, const Axes &k) { return place_in(s.of(at), at, k); });
}

}  // namespace saltern::algorithms
