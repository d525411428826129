#pragma once
// Small ONNX models for tests of the program, and tensors to run them with.

#include <string>

#include "runtime/onnx/export.h"
#include "tests/scratch_folder.h"

namespace saltern {

inline Tensor counting(const Shape &shape, double step = 0.25) {
  const Tensor t = Tensor::empty(shape);
  for (int64_t i = 0; i < t.size(); ++i)
    t.data<float>()[i] = static_cast<float>(step * static_cast<double>(i % 11) - 1);
  return t;
}

inline Model model_of(Graph graph) {
  Model m;
  m.ir_version = 10;
  m.opsets[""] = 21;
  m.graph = std::move(graph);
  return m;
}

// scores = relu(x w) + b, for batches of any size: x f32 (batch, 3), scores f32 (batch, 4).
inline Model scores_model() {
  Graph g;
  g.inputs = {"x", "b"};
  g.values["x"] = {{-1, 3}, Type::f32, {}, {"batch", ""}};
  g.values["b"] = {{4}, Type::f32, {}, {}};
  g.add_constant("w", counting({3, 4}));
  g.nodes = {{"MatMul", {}, {"x", "w"}, {"h"}}, {"Relu", {}, {"h"}, {"r"}}, {"Add", {}, {"r", "b"}, {"scores"}}};
  g.outputs = {"scores"};
  g.values["scores"] = {{-1, 4}, Type::f32, {}, {"batch", ""}};
  return model_of(g);
}

// What it gives, by loops.
inline Tensor scores_of(const Tensor &x, const Tensor &b) {
  const Tensor w = counting({3, 4}), y = Tensor::empty({x.extent(0), 4});
  for (int64_t n = 0; n < x.extent(0); ++n)
    for (int64_t o = 0; o < 4; ++o) {
      float sum = 0;
      for (int64_t i = 0; i < 3; ++i) sum += x.at<float>({n, i}) * w.at<float>({i, o});
      y.at<float>({n, o}) = std::max(sum, 0.0F) + b.at<float>({o});
    }
  return y;
}

// y = x: what comes out is what went in.
inline Model identity_model(const Shape &shape, Type type = Type::f32) {
  Graph g;
  g.inputs = {"image"};
  g.values["image"] = {shape, type, {}, {}};
  g.nodes = {{"Identity", {}, {"image"}, {"same"}}};
  g.outputs = {"same"};
  g.values["same"] = {shape, type, {}, {}};
  return model_of(g);
}

// A net as it is saved: y = relu(x wᵀ + b).
inline Graph small_net() {
  Graph g;
  g.add_input("x", {5, 3});
  g.add_constant("w", counting({2, 3}));
  g.add_constant("b", counting({2}));
  g.add_node("dense", {"x", "w", "b"}, "h", {5, 2});
  g.add_node("relu", {"h"}, "y", {5, 2});
  g.outputs = {"y"};
  return g;
}

inline void expect_same(const Tensor &got, const Tensor &want, double tolerance = 1e-5) {
  ASSERT_EQ(got.shape(), want.shape());
  ASSERT_EQ(got.type(), want.type());
  const std::vector<double> a = got.reals(), b = want.reals();
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << i;
}

}  // namespace saltern
