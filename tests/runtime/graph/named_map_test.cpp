#include "runtime/graph/named_map.h"

#include <gtest/gtest.h>

namespace saltern {
namespace {

std::string names_in(const NamedMap<int> &map) {
  std::string all;
  for (const auto &[name, value] : map) all += name + std::to_string(value) + " ";
  return all;
}

TEST(NamedMap, IsWalkedInTheOrderOfNames) {
  NamedMap<int> map;
  map["b"] = 2;
  map["a"] = 1;
  EXPECT_TRUE(map.emplace("c", 3).second);
  EXPECT_FALSE(map.emplace("c", 4).second);
  EXPECT_EQ(names_in(map), "a1 b2 c3 ");
}

TEST(NamedMap, FindsWhatIsThereAndNothingElse) {
  NamedMap<int> map;
  map["a"] = 1;
  map["b"] = 2;
  EXPECT_EQ(map.at("b"), 2);
  EXPECT_EQ(map.find("c"), map.end());
  EXPECT_THROW(map.at("c"), std::out_of_range);
  map.erase("a");
  map.erase("no such name");
  EXPECT_EQ(map.count("a"), 0u);
  EXPECT_EQ(names_in(map), "b2 ");
  map["a"] = 5;  // anew
  EXPECT_EQ(map.at("a"), 5);
}

// What finds must not point into the map that it was copied or moved from.
TEST(NamedMap, CopiesAndMovesAreTheirOwn) {
  NamedMap<int> map;
  for (int i = 0; i < 100; ++i) map["a name that is too long to stand inside of a string " + std::to_string(i)] = i;
  const std::string some = "a name that is too long to stand inside of a string 42";
  NamedMap<int> copy = map;
  copy.at(some) = -1;
  EXPECT_EQ(map.at(some), 42);
  const NamedMap<int> moved = std::move(map);
  EXPECT_EQ(moved.at(some), 42);
  EXPECT_EQ(map.count(some), 0u);  // NOLINT(bugprone-use-after-move): it is empty
  map[some] = 7;
  EXPECT_EQ(names_in(map), some + "7 ");
  copy = moved;
  EXPECT_EQ(copy.at(some), 42);
  EXPECT_EQ(copy.size(), 100u);
}

}  // namespace
}  // namespace saltern
