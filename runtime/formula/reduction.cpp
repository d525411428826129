#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/formula/lanes.h"

namespace saltern {

using namespace lanes;
using formula::Function;

Reduction::Reduction(Function f, Type type, int count) : function_(f), type_(type), count_(count) {
  const double start = f == Function::product ? 1 : 0;
  const double infinity = std::numeric_limits<double>::infinity();
  const bool least = f == Function::least || f == Function::first_least || f == Function::last_least;
  std::fill_n(places_.as<int64_t>(), count, int64_t{0});
  // What a reduction without steps gives.
  switch (lane_of(type)) {
    case Lane::f32:
    case Lane::f64: {
      const double value = f == Function::sum || f == Function::product ? start : least ? infinity : -infinity;
      std::fill_n(total_.as<double>(), count, value);
      break;
    }
    case Lane::i64:
    case Lane::u64:
      std::fill_n(total_.as<int64_t>(), count, static_cast<int64_t>(start));
      if (f == Function::greatest || f == Function::least) {
        const bool natural = facts(type).kind == TypeFacts::Kind::natural || type == Type::boolean;
        const int bits = facts(type).bits;
        const uint64_t all = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
        const int64_t lowest = natural ? 0 : -static_cast<int64_t>(all / 2) - 1;
        const auto highest = static_cast<int64_t>(natural ? all : all / 2);
        std::fill_n(total_.as<int64_t>(), count, least ? highest : lowest);
      }
      break;
  }
}

template <typename T>
void Reduction::add_lanes(const T *value, T *total, int64_t step) {
  int64_t *place = places_.as<int64_t>();
  const auto take = [&](const auto &better) {
    for (int k = 0; k < count_; ++k)
      if (first_ || better(value[k], total[k])) {
        total[k] = value[k];
        place[k] = step;
      }
  };
  switch (function_) {
    case Function::sum:
      for (int k = 0; k < count_; ++k) total[k] += value[k];
      break;
    case Function::product:
      for (int k = 0; k < count_; ++k) total[k] *= value[k];
      break;
    case Function::greatest:
      for (int k = 0; k < count_; ++k) total[k] = first_ ? value[k] : maximum(value[k], total[k]);
      break;
    case Function::least:
      for (int k = 0; k < count_; ++k) total[k] = first_ ? value[k] : minimum(value[k], total[k]);
      break;
    case Function::first_greatest:
      take([](T v, T t) { return v > t || (v != v && t == t); });
      break;
    case Function::last_greatest:
      take([](T v, T t) { return v >= t || v != v; });
      break;
    case Function::first_least:
      take([](T v, T t) { return v < t || (v != v && t == t); });
      break;
    case Function::last_least:
      take([](T v, T t) { return v <= t || v != v; });
      break;
    default:
      fail("the formula function ", formula::name(function_), " is not a reduction");
  }
  first_ = false;
}

void Reduction::add(const Block &value, int64_t step) {
  switch (lane_of(type_)) {
    case Lane::f32: {
      double wide[Block::size];
      const float *v = value.as<float>();
      for (int k = 0; k < count_; ++k) wide[k] = v[k];
      return add_lanes<double>(wide, total_.as<double>(), step);
    }
    case Lane::f64:
      return add_lanes(value.as<double>(), total_.as<double>(), step);
    case Lane::i64:
    case Lane::u64:
      // Sums and products of both are the same bits; orders are not.
      if (lane_of(type_) == Lane::u64 || function_ == Function::sum || function_ == Function::product)
        return add_lanes(value.as<uint64_t>(), total_.as<uint64_t>(), step);
      return add_lanes(value.as<int64_t>(), total_.as<int64_t>(), step);
  }
}

void Reduction::finish(Block &to) const {
  if (function_ >= Function::first_greatest) {
    std::copy_n(places_.as<int64_t>(), count_, to.as<int64_t>());
    return;
  }
  if (lane_of(type_) == Lane::f32) {
    const double *t = total_.as<double>();
    float *y = to.as<float>();
    for (int k = 0; k < count_; ++k) y[k] = static_cast<float>(t[k]);
    return;
  }
  std::memcpy(to.words, total_.words, sizeof to.words);
  wrap(type_, to, count_);
}

}  // namespace saltern
