// Operators that move elements: cuts, edges, and texts.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/run_operator.h"

namespace saltern {
namespace {

using Integers = std::vector<int64_t>;

Tensor list(const Integers &values) { return Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values); }

Tensor counted(int64_t count) {
  Integers all;
  for (int64_t i = 0; i < count; ++i) all.push_back(i);
  return list(all);
}

// What Python's x[start:end:step] gives, by walking; but ONNX begins at an element, however far back the start is.
Integers walked(int64_t extent, int64_t start, int64_t end, int64_t step) {
  const auto place = [&](int64_t i) {
    return std::clamp(i < 0 ? i + extent : i, step < 0 ? -1L : 0L, step < 0 ? extent - 1 : extent);
  };
  Integers all;
  for (int64_t i = std::max(place(start), 0L); step > 0 ? i < place(end) : i > place(end); i += step) all.push_back(i);
  return all;
}

TEST(Slice, TakesWhatAWalkTakes) {
  for (int64_t step : {1, 2, 7, -1, -3})
    for (int64_t start : {-9, -5, -1, 0, 3, 9})
      for (int64_t end : {-9, -6, -2, 0, 2, 5, 9}) {
        const OperatorCall c = {"Slice", {counted(5), list({start}), list({end}), list({0}), list({step})}};
        EXPECT_EQ(values_of<int64_t>(c.lowered()[0]), walked(5, start, end, step))
            << start << ":" << end << ":" << step;
      }
}

TEST(Slice, TakesTheLargestIntegers) {
  const int64_t most = std::numeric_limits<int64_t>::max(), least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(values_of<int64_t>(
                OperatorCall{"Slice", {counted(4), list({most}), list({least}), list({0}), list({-1})}}.lowered()[0]),
            (Integers{3, 2, 1, 0}));
  EXPECT_EQ(values_of<int64_t>(
                OperatorCall{"Slice", {counted(4), list({0}), list({most}), list({0}), list({most})}}.lowered()[0]),
            (Integers{0}));
}

TEST(Slice, HadAttributesBeforeItHadInputs) {
  const OperatorCall c = {"Slice", {counted(6)}, {{"starts", Integers{-4}}, {"ends", Integers{-1}}}, 1, 9};
  EXPECT_EQ(values_of<int64_t>(c.lowered()[0]), (Integers{2, 3, 4}));
}

TEST(Pad, ReflectsAsOftenAsNeeded) {
  const OperatorCall c = {"Pad", {counted(3), list({5, 4})}, {{"mode", "reflect"}}};
  EXPECT_EQ(values_of<int64_t>(c.lowered()[0]), (Integers{1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2}));
}

TEST(Pad, CutsBeforeItAdds) {
  const OperatorCall wrap = {"Pad", {counted(5), list({-2, 4})}, {{"mode", "wrap"}}};
  EXPECT_EQ(values_of<int64_t>(wrap.lowered()[0]), (Integers{2, 3, 4, 2, 3, 4, 2}));
  const OperatorCall constant = {"Pad", {counted(5), list({2, -3}), Tensor::of<int64_t>({}, {9})}};
  EXPECT_EQ(values_of<int64_t>(constant.lowered()[0]), (Integers{9, 9, 0, 1}));
}

TEST(Texts, MoveLikeNumbers) {
  const Tensor texts = Tensor::of<std::string>({2, 2}, {"a", "b", "", "d"});
  const OperatorCall transpose = {"Transpose", {texts}};
  EXPECT_EQ(values_of<std::string>(transpose.on_host()[0]), (std::vector<std::string>{"a", "", "b", "d"}));
  const OperatorCall pad = {"Pad", {texts, list({0, 1, 0, 0})}};
  EXPECT_EQ(values_of<std::string>(pad.on_host()[0]), (std::vector<std::string>{"", "a", "b", "", "", "d"}));
  const OperatorCall equal = {"Equal", {texts, Tensor::of<std::string>({}, {"b"})}};
  EXPECT_EQ(values_of<bool>(equal.on_host()[0]), (std::vector<bool>{false, true, false, false}));
}

TEST(Concat, JoinsNumbersAndTexts) {
  const Tensor a = counted(6).reshaped({2, 3}), b = counted(4).reshaped({2, 2}),
               none = Tensor::zeros({2, 0}, Type::i64);
  const OperatorCall c = {"Concat", {a, none, b}, {{"axis", int64_t{-1}}}};
  EXPECT_EQ(values_of<int64_t>(c.lowered()[0]), (Integers{0, 1, 2, 0, 1, 3, 4, 5, 2, 3}));
  const Tensor texts = Tensor::of<std::string>({2}, {"b", ""}), more = Tensor::of<std::string>({1}, {"a"});
  EXPECT_EQ(values_of<std::string>(OperatorCall{"Concat", {texts, more, texts}, {{"axis", int64_t{0}}}}.on_host()[0]),
            (std::vector<std::string>{"b", "", "a", "b", ""}));
}

TEST(Moving, KnowsEmptyTensorsAndNumbers) {
  const Tensor none = Tensor::zeros({0, 3}), one = numbers({}, {5});
  EXPECT_EQ((OperatorCall{"Expand", {numbers({3, 1}, {1, 2, 3}), list({3, 0})}}.lowered()[0].tensor().shape()),
            (Shape{3, 0}));
  EXPECT_EQ((OperatorCall{"Expand", {one, list({2})}}.lowered()[0].tensor().shape()), Shape{2});
  EXPECT_EQ((OperatorCall{"Transpose", {none}}.lowered()[0].tensor().shape()), (Shape{3, 0}));
  EXPECT_EQ((OperatorCall{"Flatten", {one}, {{"axis", int64_t{0}}}}.lowered()[0].tensor().shape()), (Shape{1, 1}));
  EXPECT_EQ((OperatorCall{"Unsqueeze", {one, list({0, -1})}}.lowered()[0].tensor().shape()), (Shape{1, 1}));
  EXPECT_EQ((OperatorCall{"Pad", {none, list({1, 0, 1, 0})}}.lowered()[0].tensor().shape()), (Shape{2, 3}));
  EXPECT_EQ((OperatorCall{"Reshape", {none, list({-1, 0})}}.lowered()[0].tensor().shape()), (Shape{0, 3}));
  EXPECT_EQ((OperatorCall{"GatherND", {none, Tensor::zeros({0, 1}, Type::i64)}}.lowered()[0].tensor().shape()),
            (Shape{0, 3}));
  EXPECT_EQ((OperatorCall{"NonZero", {one}}.on_host()[0].tensor().shape()), (Shape{0, 1}));
  EXPECT_EQ((OperatorCall{"Tile", {none, list({2, 2})}}.lowered()[0].tensor().shape()), (Shape{0, 6}));
}

TEST(Split, LeavesTheLastPartShorterSinceOpset18) {
  const auto y = OperatorCall{"Split", {counted(7)}, {{"num_outputs", int64_t{3}}}, 3}.lowered();
  EXPECT_EQ(values_of<int64_t>(y[2]), Integers{6});
  EXPECT_THROW((OperatorCall{"Split", {counted(7)}, {}, 3, 13}.lowered()), Error);
}

TEST(Split, HasAsManyPartsAsOutputs) {
  for (int64_t parts : {int64_t{0}, int64_t{-1}, int64_t{2}, int64_t{1} << 62})
    EXPECT_THROW((OperatorCall{"Split", {counted(7)}, {{"num_outputs", parts}}, 3}.lowered()), Error) << parts;
}

TEST(Reshape, RefusesWhatDoesNotFit) {
  EXPECT_THROW((OperatorCall{"Reshape", {counted(6), list({4, -1})}}.lowered()), Error);
  EXPECT_THROW((OperatorCall{"Reshape", {counted(6), list({-1, -1})}}.lowered()), Error);
}

TEST(Compress, KeepsWhatIsMarked) {
  const Tensor x = Tensor::of<int64_t>({2, 3}, {0, 1, 2, 3, 4, 5}), marks = Tensor::of<bool>({3}, {true, false, true}),
               one = Tensor::of<bool>({2}, {false, true}), none = Tensor::of<bool>({1}, {false});
  const auto kept = [](const Tensor &x, const Tensor &marks, const Attributes &a) {
    return OperatorCall{"Compress", {x, marks}, a}.lowered()[0];
  };
  EXPECT_EQ(values_of<int64_t>(kept(x, marks, {{"axis", int64_t{-1}}})), (Integers{0, 2, 3, 5}));
  EXPECT_EQ(values_of<int64_t>(kept(x, one, {{"axis", int64_t{0}}})), (Integers{3, 4, 5}));
  EXPECT_EQ(values_of<int64_t>(kept(x, marks, {})), (Integers{0, 2}));
  EXPECT_EQ(kept(x, none, {{"axis", int64_t{1}}}).tensor().shape(), (Shape{2, 0}));
  EXPECT_THROW(kept(x, marks, {{"axis", int64_t{0}}}), Error);
  const Tensor texts = Tensor::of<std::string>({3}, {"a", "b", "c"});
  EXPECT_EQ(values_of<std::string>(OperatorCall{"Compress", {texts, marks}}.on_host()[0]),
            (std::vector<std::string>{"a", "c"}));
}

TEST(Gather, RefusesPlacesThatAreNone) {
  const OperatorCall c = {"Gather", {counted(3), list({-3, 2})}};
  EXPECT_EQ(values_of<int64_t>(c.lowered()[0]), (Integers{0, 2}));
  EXPECT_THROW((OperatorCall{"Gather", {counted(3), list({3})}}.lowered()), Error);
}

}  // namespace
TEST(Slice, BackwardsBeginsAtTheFirstElementAtTheFurthest) {
  const Tensor x = Tensor::of<float>({1}, {7});
  const auto sliced = [&](int64_t begin, int64_t end) {
    return values_of<float>(OperatorCall{"Slice", {x, list({begin}), list({end}), list({0}), list({-1})}}.lowered()[0]);
  };
  EXPECT_EQ(sliced(-2, -2), std::vector<float>{7});
  EXPECT_EQ(sliced(-9, -9), std::vector<float>{7});
  EXPECT_EQ(sliced(0, 0), std::vector<float>{});
  const Tensor nothing = Tensor::zeros({0});
  EXPECT_EQ((OperatorCall{"Slice", {nothing, list({-1}), list({-2}), list({0}), list({-1})}}.tensors()[0].shape()),
            Shape{0});
}

}  // namespace saltern
