#pragma once
// A permutation of 0 .. count - 1 that is a pure function of seed and epoch, on every machine: whoever resumes at an
// epoch gets its order without replaying those before.

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace saltern {

// The finaliser of SplitMix64: scrambles a counter into 64 random bits.
inline uint64_t scramble(uint64_t counter) {
  uint64_t z = counter + 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

inline std::vector<int64_t> shuffled(int64_t count, uint64_t seed, uint64_t epoch) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  const uint64_t key = scramble(scramble(seed) ^ epoch);
  for (size_t i = order.size(); i > 1; --i) {
    // The high word of random * i is uniform in 0 .. i - 1 up to a bias of i / 2^64.
    __extension__ using Wide = unsigned __int128;
    const auto j = static_cast<size_t>((static_cast<Wide>(scramble(key + i)) * i) >> 64);
    std::swap(order[i - 1], order[j]);
  }
  return order;
}

}  // namespace saltern
