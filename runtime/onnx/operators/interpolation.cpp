#include "runtime/onnx/operators/interpolation.h"

#include <algorithm>

namespace saltern {

using formula::Function;

namespace {

using Filter = Interpolation::Filter;
using Outside = Interpolation::Outside;

// Back into the image, turning round at both ends until it is inside.
Expression reflected_index(const Expression &index, int64_t extent, bool at_centres) {
  const int64_t period = 2 * (at_centres ? extent - 1 : extent);
  if (period <= 0) return formula::constant_integer(Type::i64, 0);
  const Expression m = index % period;
  return select(m < extent, m, (at_centres ? period : period - 1) - m);
}

Expression weight(Filter filter, const Expression &fraction, const Expression &tap) {
  if (filter == Filter::linear) return select(tap == 0, 1.0 - fraction, fraction);
  constexpr double a = -0.75;
  const Expression x = abs(fraction + 1.0 - cast(fraction.type(), tap));
  return select(x <= 1, ((x * (a + 2)) - (a + 3)) * x * x + 1.0, ((x * a - 5 * a) * x + 8 * a) * x - 4 * a);
}

}  // namespace

Expression interpolated(const Interpolation &how, const Read &x, const Expression &batch, const Expression &channel,
                        const std::vector<Expression> &place, Type value_type) {
  const size_t rank = place.size();
  const auto extent = [&](size_t d) { return x.shape()[d + 2]; };
  // The element at these indices, as the rule for the outside has it.
  const auto element = [&](const std::vector<Expression> &at) {
    std::vector<Expression> indices = {batch, channel};
    Expression inside;
    for (size_t d = 0; d < rank; ++d) {
      if (how.outside == Outside::reflection) {
        indices.push_back(reflected_index(at[d], extent(d), how.at_centres));
      } else {
        indices.push_back(max(min(at[d], extent(d) - 1), 0));
        const Expression here = at[d] >= 0 && at[d] < extent(d);
        inside = inside.defined() ? inside && here : here;
      }
    }
    const Expression value = cast(value_type, x(indices));
    return how.outside == Outside::zeros && inside.defined() ? select(inside, value, literal(value, 0)) : value;
  };

  std::vector<Expression> base, fraction;
  for (size_t d = 0; d < rank; ++d) {
    const Expression &p = place[d];
    if (how.filter == Filter::nearest) {
      base.push_back(cast(Type::i64, call(Function::round, p)));
      continue;
    }
    fraction.push_back(p - floor(p));
    base.push_back(cast(Type::i64, floor(p)));
  }
  if (how.filter == Filter::nearest) return element(base);
  const int64_t taps = how.filter == Filter::linear ? 2 : 4;
  return reduce(Function::sum, std::vector<int64_t>(rank, taps), [&](const std::vector<Expression> &s) {
    std::vector<Expression> at;
    Expression product;
    for (size_t d = 0; d < rank; ++d) {
      at.push_back(base[d] + s[d] - (taps / 2 - 1));
      const Expression w = cast(value_type, weight(how.filter, fraction[d], s[d]));
      product = product.defined() ? product * w : w;
    }
    return product.defined() ? element(at) * product : element(at);
  });
}

}  // namespace saltern
