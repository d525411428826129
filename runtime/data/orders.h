#pragma once
// In which order an epoch sees its samples: pure functions of seed and epoch, on every machine, so that whoever resumes at an
// epoch gets its order without replaying those before.
//
//   options.order = sharded(stratified(labels, 1), rank, ranks);

#include <cstdint>
#include <functional>
#include <vector>

namespace saltern {

// The samples of an epoch; as many in every epoch.
using Order = std::function<std::vector<int64_t>(int64_t epoch)>;

// A permutation of 0 .. count - 1.
std::vector<int64_t> shuffled(int64_t count, uint64_t seed, uint64_t epoch);

Order in_order(int64_t count);
Order shuffled(int64_t count, uint64_t seed);
// `count` draws, with replacement, each sample in proportion to its weight.
Order weighted(const std::vector<double> &weights, int64_t count, uint64_t seed);
// All samples, shuffled so that every stretch has the classes in nearly the shares that the whole has.
Order stratified(const std::vector<int32_t> &labels, uint64_t seed);
// Part `rank` of `ranks` equal ones; what is left over is left out.
Order sharded(Order order, int64_t rank, int64_t ranks);

}  // namespace saltern
