// The search finds the optimum of functions that are not tuned to it, measures nothing twice, and repeats itself.

#include "autoscheduler/search.h"

#include <gtest/gtest.h>

#include <set>

#include "autoscheduler/cost_model.h"
#include "runtime/error.h"

namespace saltern::autoscheduler {
namespace {

Space tiles() {
  return Space(
      {{"columns", {1, 2, 3, 4, 5, 6, 7, 8}, 1}, {"rows", {1, 2, 3, 4, 5, 6, 7, 8}, 2}, {"unroll", {1, 2, 4}, 4}});
}

// Two hills: a low one around (2, 7) and the highest at (6, 3).
double hills(const Knobs &k) {
  const auto hill = [&](double c, double r, double height) {
    const double dc = k.at("columns") - c, dr = k.at("rows") - r;
    return height / (1 + dc * dc + dr * dr);
  };
  return hill(2, 7, 0.6) + hill(6, 3, 1) + (k.at("unroll") == 2 ? 0.05 : 0);
}

std::vector<Knobs> run(int trials, Search &search) {
  std::vector<Knobs> asked;
  for (int i = 0; i < trials; ++i) {
    const auto next = search.next();
    if (!next) break;
    asked.push_back(*next);
    search.report(*next, hills(*next));
  }
  return asked;
}

TEST(Space, CountsItsPointsAndHoldsTheSchedulesOwn) {
  const Space s({{"a", {1, 2}, 7}, {"b", {3}, 3}});
  EXPECT_EQ(s.size(), 3);
  std::set<Knobs> points;
  for (int i = 0; i < 3; ++i) points.insert(s.point(i));
  EXPECT_EQ(points.size(), 3u);
  EXPECT_EQ(points.count(s.own()), 1u);
}

TEST(Space, NeighboursDifferByOneStepOfOneKnob) {
  const Space s = tiles();
  for (const Knobs &n : s.neighbours(s.own())) {
    int different = 0;
    for (const auto &[name, value] : n) different += value != s.own().at(name);
    EXPECT_EQ(different, 1);
  }
  EXPECT_EQ(s.neighbours(s.own()).size(), 4u);  // columns up; rows both ways; unroll down
}

TEST(Space, RefusesKnobsThatCannotBeSearched) {
  EXPECT_THROW(Space({{"a", {}, 1}}), Error);
  EXPECT_THROW(Space({{"a", {1}, 1}, {"a", {1}, 1}}), Error);
}

TEST(Search, BeginsWithTheSchedulesOwnKnobs) {
  Search search(tiles(), 1);
  EXPECT_EQ(*search.next(), tiles().own());
}

TEST(Search, FindsTheHighestOfTwoHillsInHalfOfTheSpace) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Search search(tiles(), seed);
    run(96, search);
    EXPECT_EQ(*search.best(), (Knobs{{"columns", 6}, {"rows", 3}, {"unroll", 2}})) << "seed " << seed;
  }
}

TEST(Search, AsksForEveryPointOnceAndThenStops) {
  Search search(tiles(), 3);
  const auto asked = run(100000, search);
  EXPECT_EQ(static_cast<int64_t>(asked.size()), tiles().size());
  EXPECT_EQ(std::set<Knobs>(asked.begin(), asked.end()).size(), asked.size());
}

TEST(Search, IsTheSameForTheSameSeedAndAnotherForAnother) {
  Search a(tiles(), 7), b(tiles(), 7), c(tiles(), 8);
  const auto first = run(40, a), second = run(40, b), other = run(40, c);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
}

TEST(CostModel, LikesTilesThatFillTheRegistersAndNoMore) {
  const auto share = [](int rows, int columns, int registers) {
    return expected_share({{"rows", rows}, {"column_vectors", columns}}, registers);
  };
  EXPECT_GT(share(6, 2, 16), share(2, 1, 16));   // too few to hide latency
  EXPECT_GT(share(6, 2, 16), share(14, 4, 16));  // spills
  EXPECT_GT(share(6, 4, 32), share(6, 2, 32));   // fewer loads
  EXPECT_EQ(expected_share({{"unknown", 3}}, 16), 1);
}

}  // namespace
}  // namespace saltern::autoscheduler
