// Numbers that no sensible file has, in the places where operators add and multiply them: an error, and no overflow
// (the sanitizers look), no hang and no memory.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/formula/evaluate.h"
#include "tests/errors.h"
#include "tests/run_operator.h"

namespace saltern {
namespace {

constexpr int64_t most = std::numeric_limits<int64_t>::max(), least = std::numeric_limits<int64_t>::min(),
                  huge = int64_t{1} << 62;

Tensor list(const std::vector<int64_t> &values) {
  return Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values);
}
Tensor number(int64_t value) { return Tensor::of<int64_t>({}, {value}); }
Tensor zeros(const Shape &shape) { return Tensor::zeros(shape); }

class HostileNumbers : public testing::TestWithParam<OperatorCall> {};

TEST_P(HostileNumbers, AreRefused) { EXPECT_THROW(GetParam().lowered(), Error) << GetParam().name; }

const OperatorCall calls[] = {
    {"CenterCropPad", {zeros({4}), list({least})}},
    {"Clip", {zeros({4}), zeros({2})}},
    {"Clip", {zeros({4}), zeros({}), zeros({0})}},
    {"CenterCropPad", {zeros({4}), list({most})}},
    {"Conv", {zeros({1, 1, 4}), zeros({1, 1, 2})}, {{"pads", Shape{huge, huge}}}},
    {"ConstantOfShape", {list({huge, huge})}},
    {"ConvTranspose", {zeros({1, 0, 4}), zeros({0, 3, 2})}, {{"group", huge}}},
    {"ConvTranspose", {zeros({1, 1, 4}), zeros({1, 1, 2})}, {{"output_shape", Shape{least}}}},
    {"ConvTranspose", {zeros({1, 1, 4}), zeros({1, 1, 2})}, {{"strides", Shape{huge}}}},
    {"DepthToSpace", {zeros({1, 4, 2, 2})}, {{"blocksize", int64_t{1} << 32}}},
    {"DepthToSpace", {zeros({1, 4, 2, 2})}, {{"blocksize", int64_t{0}}}},
    {"DequantizeLinear", {Tensor::zeros({4}, Type::i8), zeros({2})}, {{"axis", int64_t{0}}, {"block_size", most}}},
    {"Expand", {zeros({1}), list({huge, huge})}},
    {"MaxPool", {zeros({1, 1, 4})}, {{"kernel_shape", Shape{huge}}}},
    {"OneHot", {list({0}), number(huge), Tensor::of<float>({2}, {0, 1})}},
    {"Pad", {zeros({3}), list({most, most})}},
    {"Pad", {zeros({3}), list({least, 0})}},
    {"Range", {number(least), number(most), number(1)}},
    {"Range", {number(0), number(least), number(-1)}},
    {"Reshape", {zeros({6}), list({int64_t{1} << 42, huge, -1})}},
    {"Resize", {zeros({3}), HostValue(), Tensor::of<float>({1}, {1e30F})}},
    {"Resize", {zeros({3}), HostValue(), Tensor::of<float>({1}, {NAN})}},
    {"Resize", {zeros({1}), HostValue(), HostValue(), list({int64_t{1} << 30})}},
    {"RNN", {zeros({1 << 20, 1, 1}), zeros({1, 1, 1}), zeros({1, 1, 1})}},
    {"Split", {zeros({4}), list({most, most, 6})}, {}, 3},
    {"Tile", {zeros({2}), list({huge + 1})}},
    {"Tile", {zeros({2}), list({-1})}},
};

INSTANTIATE_TEST_SUITE_P(Operators, HostileNumbers, testing::ValuesIn(calls),
                         [](const auto &info) { return info.param.name + std::to_string(info.index); });

TEST(Integers, OfNumbersThatDoNotFitAreDefined) {
  const double infinity = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(integer_of(-3.7), -3);
  EXPECT_EQ(integer_of(infinity), huge);
  EXPECT_EQ(integer_of(1e300), huge);
  EXPECT_EQ(integer_of(-infinity), -huge);
  EXPECT_EQ(integer_of(none), -huge);
  EXPECT_EQ(Tensor::of<double>({2}, {none, 5}).integers(), (std::vector<int64_t>{-huge, 5}));
  EXPECT_EQ(Tensor::full({1}, 1.8e19, Type::u64).data<uint64_t>()[0], 18000000000000000000U);
  EXPECT_EQ(Tensor::full({1}, -5, Type::i8).integers()[0], -5);
}

TEST(SplitToSequence, PartsAreNoLongerThanWhatIsLeft) {
  EXPECT_THROW((OperatorCall{"SplitToSequence", {zeros({4}), list({2, most})}}.on_host()), Error);
  const HostValue whole = OperatorCall{"SplitToSequence", {zeros({4}), number(most)}}.on_host()[0];
  EXPECT_EQ(whole.sequence().size(), 1u);
}

TEST(TfIdfVectorizer, SkipsNoFurtherThanTheRow) {
  const OperatorCall call = {"TfIdfVectorizer",
                             {list({5, 7, 5})},
                             {{"mode", "TF"},
                              {"min_gram_length", int64_t{1}},
                              {"max_gram_length", most},
                              {"max_skip_count", most - 1},
                              {"ngram_counts", Shape{0, 1}},
                              {"ngram_indexes", Shape{0, 1}},
                              {"pool_int64s", Shape{5, 5, 5}}}};
  EXPECT_EQ(values_of<float>(call.on_host()[0]), (std::vector<float>{2, 1}));
  EXPECT_EQ(values_of<float>(call.lowered()[0]), (std::vector<float>{2, 1}));
}

TEST(TfIdfVectorizer, RefusesPlacesAndLengthsThatAreNone) {
  const auto call = [](int64_t place, const Shape &starts, size_t items) {
    return OperatorCall{"TfIdfVectorizer",
                        {list({5})},
                        {{"mode", "TF"},
                         {"min_gram_length", int64_t{1}},
                         {"max_gram_length", most},
                         {"max_skip_count", int64_t{0}},
                         {"ngram_counts", starts},
                         {"ngram_indexes", Shape{place}},
                         {"pool_int64s", Shape(items, 5)}}};
  };
  EXPECT_THROW(call(most, {0}, 1).on_host(), Error);
  EXPECT_THROW(call(most, {0}, 1).lowered(), Error);
  EXPECT_THROW(call(0, Shape(5000, 0), 5000).lowered(), Unsupported);
  EXPECT_EQ(values_of<float>(call(0, Shape(5000, 0), 5000).on_host()[0]), (std::vector<float>{0}));
}

TEST(Evaluate, RefusesFormulasThatNeverEnd) {
  const auto sum = [](int64_t turns) {
    return reduce(formula::Function::sum, {turns, turns},
                  [](const std::vector<formula::Expression> &) { return formula::constant(Type::f32, 1); });
  };
  EXPECT_EQ(evaluate(sum(30), {}, {}).item(), 900);
  expect_error([&] { evaluate(sum(int64_t{1} << 40), {}, {}); }, {"steps"});
  const StepBudget budget(1500);
  EXPECT_EQ(evaluate(sum(30), {}, {}).item(), 900);
  expect_error([&] { evaluate(sum(30), {}, {}); }, {"steps"});
}

}  // namespace
}  // namespace saltern
