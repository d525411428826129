#pragma once
// Imported models written as text, and what a pass makes of them.

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/graph/text.h"
#include "runtime/onnx/optimize.h"
#include "runtime/onnx/run_model.h"
#include "runtime/tensor/element.h"

namespace saltern {

inline Model model_of(const std::string &lines, int64_t opset = 21) {
  Model m;
  m.graph = parse_imported_graph("saltern graph 1\n" + lines, {}, "test");
  m.opsets[""] = opset;
  m.ir_version = 10;
  return m;
}

// Inputs that are not in order; extents that are open are 2, 3, ...
inline HostValues some_inputs(const Model &m) {
  HostValues all;
  unsigned number = 7;
  for (const std::string &i : m.graph.inputs) {
    Shape shape = m.graph.value(i).shape;
    int64_t open = 2;
    for (int64_t &e : shape)
      if (e < 0) e = open++;
    const Tensor t = Tensor::empty(shape, m.graph.value(i).type);
    for (int64_t e = 0; e < t.size(); ++e) {
      number = number * 1664525 + 1013904223;
      set_element(t.type(), t.raw(), e, static_cast<double>(number >> 24) / 32.0 - 4);
    }
    all[i] = t;
  }
  return all;
}

inline void expect_same_results(const Model &a, const Model &b) {
  const HostValues inputs = some_inputs(a), x = run_model(a, inputs), y = run_model(b, inputs);
  ASSERT_EQ(x.size(), y.size());
  for (const auto &[name, value] : x) {
    const Tensor &want = value.tensor(), &got = y.at(name).tensor();
    ASSERT_EQ(got.shape(), want.shape()) << name;
    ASSERT_EQ(got.type(), want.type()) << name;
    const std::vector<double> p = want.reals(), q = got.reals();
    for (size_t i = 0; i < p.size(); ++i)
      ASSERT_NEAR(q[i], p[i], 1e-5 * std::max(1.0, std::fabs(p[i]))) << name << " " << i;
  }
}

// A pass turns one graph into another (without what is dead then), and results stay the same.
inline void expect_pass(Model (*pass)(Model, const Inferred &), const std::string &before, const std::string &after,
                        int64_t opset = 21) {
  const Model given = model_of(before, opset), made = without_dead_code(pass(given, infer_shapes(given)));
  validate_imported(made.graph);
  EXPECT_EQ(to_text(made.graph), "saltern graph 1\n" + after) << "from\n" << before;
  expect_same_results(given, made);
}

// It leaves a graph as it is.
inline void expect_no_change(Model (*pass)(Model, const Inferred &), const std::string &lines, int64_t opset = 21) {
  expect_pass(pass, lines, lines, opset);
}

}  // namespace saltern
