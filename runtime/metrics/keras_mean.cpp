#include "runtime/metrics/keras_mean.h"

namespace saltern::metrics {

KerasPair keras_pair(const Arguments &in) {
  KerasPair p{numbers(in, "y_true"), numbers(in, "y_pred")};
  Numbers &longer = p.truth.rank() > p.pred.rank() ? p.truth : p.pred, &other = &longer == &p.truth ? p.pred : p.truth;
  Shape with_one = other.shape;
  with_one.push_back(1);
  if (longer.shape == with_one) other.shape = with_one;
  if (p.truth.shape != p.pred.shape)
    in.refuse("y_pred", "the shape " + to_string(p.truth.shape) + " that 'y_true' has");
  return p;
}

std::vector<double> keras_weights(const Arguments &in, const Shape &shape) {
  const auto count = static_cast<size_t>(elements(shape));
  if (!in.has("sample_weight")) return std::vector<double>(count, 1.0);
  Numbers w = numbers(in, "sample_weight");
  while (w.shape.size() > shape.size() && w.shape.back() == 1) w.shape.pop_back();
  for (size_t d = 0; d < w.shape.size(); ++d)
    if (w.shape.size() > shape.size() || (w.shape[d] != shape[d] && w.shape[d] != 1))
      in.refuse("sample_weight", "weights of leading dimensions of " + to_string(shape));
  std::vector<double> all;
  for (size_t i = 0; i < count; ++i) {
    size_t at = 0, rest = i, inside = count;
    for (size_t d = 0; d < w.shape.size(); ++d) {
      inside /= static_cast<size_t>(shape[d]);
      at = at * static_cast<size_t>(w.shape[d]) + (w.shape[d] == 1 ? 0 : rest / inside);
      rest %= inside;
    }
    all.push_back(w[at]);
  }
  return all;
}

KerasMean::KerasMean(const char *name, const std::string &options, Values values, double (*finish)(double),
                     const char *inputs, bool sums)
    : MetricRow(
          name, "", options, inputs,
          [=](const Arguments &o, const Arguments &in) {
            const Numbers v = values(o, in);
            const std::vector<double> w = keras_weights(in, v.shape);
            const auto inner = sums ? 1 : static_cast<double>(v.extent_from(1));
            double total = 0, count = 0;
            for (size_t i = 0; i < v.size(); ++i) {
              total += v[i] * w[i] / inner;
              count += w[i] / inner;
            }
            State s;
            s.sum("total", total);
            s.sum("count", sums ? 1 : count);
            return s;
          },
          [=](const Arguments &, const State &s) {
            const double m = sums ? s["total"][0] : ratio(s["total"][0], s["count"][0]);
            return result(finish ? finish(m) : m);
          }) {}

std::string named(const char *name, const char *more) {
  return std::string("name='") + name + "', dtype=None" + (more[0] ? ", " : "") + more;
}

KerasPair classes_and_scores(const Arguments &in) {
  KerasPair p{numbers(in, "y_true"), numbers(in, "y_pred")};
  if (p.pred.rank() < 1) in.refuse("y_pred", "scores of each class");
  Shape rows(p.pred.shape.begin(), p.pred.shape.end() - 1);
  if (static_cast<int64_t>(p.truth.size()) != elements(rows)) in.refuse("y_true", "a class of each row of 'y_pred'");
  p.truth.shape = rows;
  return p;
}

}  // namespace saltern::metrics
