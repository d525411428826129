// Operators as they were in opsets 7 to 12, where arguments were attributes, defaults were others and some words had
// another meaning. Expected values are ONNX Runtime's.

#include <gtest/gtest.h>

#include "tests/run_operator.h"

namespace saltern {
namespace {

using List = std::vector<int64_t>;
using Reals = std::vector<double>;

struct Case {
  OperatorCall call;
  Shape shape;
  std::vector<double> expected;
};

Tensor counting(Shape shape) {
  const Tensor t = Tensor::empty(shape);
  for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] = static_cast<float>(i + 1);
  return t;
}

OperatorCall call(int64_t opset, const std::string &name, std::vector<HostValue> inputs, Attributes attributes = {}) {
  OperatorCall c{name, std::move(inputs), std::move(attributes)};
  c.opset = opset;
  return c;
}

TEST(OldOpsets, GiveWhatTheyGave) {
  const Tensor x = counting({2, 3}), list = counting({6});
  const std::string nearest = "nearest";
  for (const Case &c : std::vector<Case>{
           {call(7, "Clip", {x}, {{"min", 2.0}, {"max", 4.0}}), {2, 3}, {2, 2, 3, 4, 4, 4}},
           {call(10, "Clip", {x}, {{"max", 4.0}}), {2, 3}, {1, 2, 3, 4, 4, 4}},
           {call(7, "Squeeze", {counting({1, 2, 1})}, {{"axes", List{0}}}), {2, 1}, {1, 2}},
           {call(7, "Unsqueeze", {list}, {{"axes", List{0, 2}}}), {1, 6, 1}, {1, 2, 3, 4, 5, 6}},
           {call(7, "Pad", {x}, {{"pads", List{0, 1, 0, 0}}, {"value", 9.0}}), {2, 4}, {9, 1, 2, 3, 9, 4, 5, 6}},
           {call(7, "Pad", {x}, {{"pads", List{0, 1, 0, 1}}, {"mode", std::string("reflect")}}),
            {2, 5},
            {2, 1, 2, 3, 2, 5, 4, 5, 6, 5}},
           {call(7, "Slice", {x}, {{"axes", List{1}}, {"starts", List{1}}, {"ends", List{-1}}}), {2, 1}, {2, 5}},
           {call(9, "Slice", {x}, {{"starts", List{1}}, {"ends", List{1000}}}), {1, 3}, {4, 5, 6}},
           {call(7, "Upsample", {x}, {{"scales", Reals{1, 2}}, {"mode", nearest}}),
            {2, 6},
            {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}},
           {call(9, "Upsample", {x, numbers({2}, {2, 1})}), {4, 3}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}},
           // Down where it grows, up where it shrinks.
           {call(10, "Resize", {counting({1, 4}), numbers({2}, {1, 0.6})}), {1, 2}, {1, 3}},
           {call(10, "Resize", {counting({1, 2}), numbers({2}, {1, 1.5})}), {1, 3}, {1, 1, 2}},
           // These flattened everything behind their axis.
           {call(11, "Hardmax", {counting({1, 2, 2})}), {1, 2, 2}, {0, 0, 0, 1}},
           {call(13, "Hardmax", {counting({1, 2, 2})}), {1, 2, 2}, {0, 1, 0, 1}},
           {call(7, "Softmax", {Tensor::zeros({1, 2, 2})}), {1, 2, 2}, {.25, .25, .25, .25}},
           {call(13, "Softmax", {Tensor::zeros({1, 2, 2})}), {1, 2, 2}, {.5, .5, .5, .5}},
           {call(7, "ReduceSum", {x}, {{"axes", List{1}}, {"keepdims", int64_t{0}}}), {2}, {6, 15}},
           {call(11, "ReduceMax", {x}, {{"axes", List{-2}}}), {1, 3}, {4, 5, 6}},
           {call(7, "ReduceL1", {x}), {1, 1}, {21}},
           {call(7, "Gemm", {counting({1, 2}), x, numbers({}, {10})}, {{"beta", 0.5}}), {1, 3}, {14, 17, 20}},
           {call(7, "BatchNormalization",
                 {counting({1, 2}), numbers({2}, {2, 3}), numbers({2}, {1, 1}), numbers({2}, {1, 1}),
                  numbers({2}, {4, 1})},
                 {{"epsilon", 0.0}}),
            {1, 2},
            {1, 4}},
           {call(7, "Dropout", {x}, {{"ratio", 0.9}}), {2, 3}, {1, 2, 3, 4, 5, 6}},
           {call(9, "Scatter", {list, numbers({2}, {5, 0}, Type::i64), numbers({2}, {50, 60})}),
            {6},
            {60, 2, 3, 4, 5, 50}},
           {call(7, "Flatten", {counting({1, 2, 2})}, {{"axis", int64_t{2}}}), {2, 2}, {1, 2, 3, 4}},
           {call(7, "Max", {x, x}), {2, 3}, {1, 2, 3, 4, 5, 6}},
       }) {
    const Tensor got = c.call.tensors().at(0);
    EXPECT_EQ(got.shape(), c.shape) << c.call.name << " " << c.call.opset;
    EXPECT_EQ(got.reals(), c.expected) << c.call.name << " " << c.call.opset;
  }
}

TEST(OldOpsets, SeveralResults) {
  OperatorCall split = call(7, "Split", {counting({6})}, {{"split", List{2, 4}}});
  split.outputs = 2;
  EXPECT_EQ(split.tensors()[1].reals(), (Reals{3, 4, 5, 6}));
  split.attributes = {};
  EXPECT_EQ(split.tensors()[1].reals(), (Reals{4, 5, 6}));
  OperatorCall top = call(7, "TopK", {numbers({1, 4}, {3, 1, 4, 2})}, {{"k", int64_t{2}}});
  top.outputs = 2;
  EXPECT_EQ(top.tensors()[0].reals(), (Reals{4, 3}));
  EXPECT_EQ(top.tensors()[1].integers(), (List{2, 0}));
  // Places in columns first.
  OperatorCall pool =
      call(8, "MaxPool", {counting({1, 1, 2, 3})}, {{"kernel_shape", List{2, 2}}, {"storage_order", int64_t{1}}});
  pool.outputs = 2;
  EXPECT_EQ(pool.tensors()[1].integers(), (List{3, 5}));
}

}  // namespace
}  // namespace saltern
