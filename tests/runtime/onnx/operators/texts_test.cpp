// Texts and sequences.

#include <gtest/gtest.h>

#include "runtime/onnx/operators/code_points.h"
#include "tests/run_operator.h"

namespace saltern {
namespace {

using Texts = std::vector<std::string>;

Tensor list(const Texts &t) { return Tensor::of<std::string>({static_cast<int64_t>(t.size())}, t); }

TEST(CodePoints, AreThereAndBack) {
  const std::string text = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80";  // one to four bytes
  EXPECT_EQ(code_points(text), (std::wstring{L'a', 0xE4, 0x20AC, 0x1F600}));
  EXPECT_EQ(utf8(code_points(text)), text);
  EXPECT_THROW(code_points("\xC3"), Error);
}

TEST(StringNormalizer, StopsWordsWhateverTheirCase) {
  const Attributes a = {{"stopwords", Texts{"monday"}}, {"case_change_action", "UPPER"}};
  const OperatorCall c = {"StringNormalizer", {list({"Monday", "tuesday", "\xC3\xA4"})}, a};
  EXPECT_EQ(values_of<std::string>(c.on_host()[0]), (Texts{"TUESDAY", "\xC3\x84"}));
  const OperatorCall none = {"StringNormalizer", {list({"MONDAY"})}, a};
  EXPECT_EQ(values_of<std::string>(none.on_host()[0]), (Texts{""}));
}

TEST(StringSplit, PadsWithEmptyTexts) {
  const auto y = OperatorCall{"StringSplit", {list({"a,,b", ""})}, {{"delimiter", ","}}, 2}.on_host();
  EXPECT_EQ(values_of<std::string>(y[0]), (Texts{"a", "", "b", "", "", ""}));
  EXPECT_EQ(values_of<int64_t>(y[1]), (std::vector<int64_t>{3, 1}));
  const auto words = OperatorCall{"StringSplit", {list({" a  b c ", " "})}, {{"maxsplit", int64_t{1}}}, 2}.on_host();
  EXPECT_EQ(values_of<std::string>(words[0]), (Texts{"a", "b c", "", ""}));
}

TEST(RegexFullMatch, MatchesCharactersNotBytes) {
  const OperatorCall c = {"RegexFullMatch", {list({"\xC3\xA4", "xy"})}, {{"pattern", "."}}};
  EXPECT_EQ(values_of<bool>(c.on_host()[0]), (std::vector<bool>{true, false}));
  EXPECT_THROW((OperatorCall{"RegexFullMatch", {list({"a"})}, {{"pattern", "\\pN"}}}.on_host()), Unsupported);
}

TEST(RegexFullMatch, TakesNoLongerForPatternsThatTempt) {
  const std::string near_miss = std::string(200, 'a') + "b";  // by trying all ways, that takes 2^200 steps
  const OperatorCall c = {"RegexFullMatch", {list({near_miss, std::string(200, 'a')})}, {{"pattern", "(a+)+"}}};
  EXPECT_EQ(values_of<bool>(c.on_host()[0]), (std::vector<bool>{false, true}));
  const std::string deep = std::string(100000, '(') + std::string(100000, ')');
  EXPECT_THROW((OperatorCall{"RegexFullMatch", {list({"a"})}, {{"pattern", deep}}}.on_host()), Unsupported);
}

TEST(Sequences, InsertAndEraseAtBothEnds) {
  const auto number = [](int64_t v) { return HostValue(Tensor::of<int64_t>({}, {v})); };
  const HostValue s = OperatorCall{"SequenceConstruct", {number(1), number(2)}}.on_host()[0];
  const HostValue longer = OperatorCall{"SequenceInsert", {s, number(3), number(2)}}.on_host()[0];
  EXPECT_EQ(longer.sequence()[2].tensor().item(), 3);
  const HostValue front = OperatorCall{"SequenceInsert", {s, number(0), number(-2)}}.on_host()[0];
  EXPECT_EQ(front.sequence()[0].tensor().item(), 0);
  EXPECT_EQ((OperatorCall{"SequenceErase", {longer}}.on_host()[0].sequence().size()), 2U);
  EXPECT_THROW((OperatorCall{"SequenceAt", {s, number(2)}}.on_host()), Error);
}

TEST(SplitToSequence, LeavesAShorterLastPart) {
  const Tensor x = Tensor::of<int64_t>({5}, {0, 1, 2, 3, 4});
  const HostValue s = OperatorCall{"SplitToSequence", {x, Tensor::of<int64_t>({}, {2})}}.on_host()[0];
  ASSERT_EQ(s.sequence().size(), 3U);
  EXPECT_EQ(values_of<int64_t>(s.sequence()[2]), std::vector<int64_t>{4});
}

}  // namespace
}  // namespace saltern
