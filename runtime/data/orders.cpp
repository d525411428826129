#include "runtime/data/orders.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "runtime/error.h"
#include "runtime/tensor/random.h"

namespace saltern {

namespace {

Random stream(uint64_t seed, uint64_t epoch) { return Random(Random(seed, epoch).bits()); }

std::vector<int64_t> counted(int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

void shuffle(std::vector<int64_t> &order, Random &random) {
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
}

}  // namespace

std::vector<int64_t> shuffled(int64_t count, uint64_t seed, uint64_t epoch) {
  std::vector<int64_t> order = counted(count);
  Random random = stream(seed, epoch);
  shuffle(order, random);
  return order;
}

Order in_order(int64_t count) {
  return [count](int64_t) { return counted(count); };
}

Order shuffled(int64_t count, uint64_t seed) {
  return [=](int64_t epoch) { return shuffled(count, seed, static_cast<uint64_t>(epoch)); };
}

Order weighted(const std::vector<double> &weights, int64_t count, uint64_t seed) {
  std::vector<double> sums;
  for (double w : weights) {
    if (!(w >= 0) || std::isinf(w)) fail("an order by weights: the weight of sample ", sums.size(), " is ", w);
    sums.push_back(w + (sums.empty() ? 0 : sums.back()));
  }
  if (sums.empty() || sums.back() <= 0) fail("an order by weights: no sample has a weight above 0");
  return [=](int64_t epoch) {
    Random random = stream(seed, static_cast<uint64_t>(epoch));
    std::vector<int64_t> order;
    for (int64_t i = 0; i < count; ++i) {
      const double at = static_cast<double>(random.bits() >> 11) * 0x1p-53 * sums.back();
      order.push_back(std::upper_bound(sums.begin(), sums.end(), at) - sums.begin());
    }
    return order;
  };
}

Order stratified(const std::vector<int32_t> &labels, uint64_t seed) {
  std::map<int32_t, std::vector<int64_t>> classes;
  for (size_t i = 0; i < labels.size(); ++i) classes[labels[i]].push_back(static_cast<int64_t>(i));
  return [=](int64_t epoch) {
    Random random = stream(seed, static_cast<uint64_t>(epoch));
    // Those of a class lie evenly between 0 and 1, each class from a place of its own on.
    std::vector<std::pair<double, int64_t>> places;
    for (const auto &[label, members] : classes) {
      std::vector<int64_t> order = members;
      shuffle(order, random);
      const double first = static_cast<double>(random.bits() >> 11) * 0x1p-53;
      for (size_t i = 0; i < order.size(); ++i)
        places.emplace_back((static_cast<double>(i) + first) / static_cast<double>(order.size()), order[i]);
    }
    std::sort(places.begin(), places.end());
    std::vector<int64_t> order;
    for (const auto &[place, sample] : places) order.push_back(sample);
    return order;
  };
}

Order sharded(Order order, int64_t rank, int64_t ranks) {
  if (ranks < 1 || rank < 0 || rank >= ranks) fail("an order in parts: there is no part ", rank, " of ", ranks);
  return [=, order = std::move(order)](int64_t epoch) {
    const std::vector<int64_t> all = order(epoch);
    std::vector<int64_t> part;
    for (size_t i = 0; i < all.size() / static_cast<size_t>(ranks); ++i)
      part.push_back(all[i * static_cast<size_t>(ranks) + static_cast<size_t>(rank)]);
    return part;
  };
}

}  // namespace saltern
