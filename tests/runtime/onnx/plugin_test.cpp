// Operators of plug-ins run in models, by formula and by function, and lower by formula; what is wrong with a plug-in
// or with a node of its operators is said with its name.

#include <cmath>

#include "runtime/graph/executor.h"
#include "runtime/onnx/infer_shapes.h"
#include "runtime/onnx/load_plugin.h"
#include "runtime/onnx/lower_model.h"
#include "tests/errors.h"
#include "tests/imported_model.h"

namespace saltern {
namespace {

void load_example() {
  static const bool once = (load_plugin(EXAMPLE_PLUGIN), true);
  (void)once;
}

TEST(Plugin, AFormulaRunsLowersAndHasAShape) {
  load_example();
  const Model m =
      model_of("input x f32 [n, 3]\nnode Swish6(x) of my.domain {shift = 2.5} -> a\nnode Neg(a) -> y\noutput y\n");
  const HostValues in = some_inputs(m);
  const Tensor x = in.at("x").tensor(), y = run_model(m, in).at("y").tensor();
  for (size_t i = 0; i < 6; ++i) {
    const double v = x.reals()[i];
    EXPECT_NEAR(y.reals()[i], -v * std::fmin(std::fmax(v + 2.5, 0), 6) / 6, 1e-5);
  }
  EXPECT_EQ(run(lower_model(m, {{"x", {2, 3}}}), {{"x", x}}).at("y").reals(), y.reals());
  // What a plug-in does with other sizes nobody knows.
  EXPECT_EQ(infer_shapes(m).find("a"), nullptr);
  const Model fixed = model_of("input x f32 [2, 3]\nnode Swish6(x) of my.domain -> y\noutput y\n");
  EXPECT_EQ(infer_shapes(fixed).values.at("y").shape, (Shape{2, 3}));
}

TEST(Plugin, AFunctionRuns) {
  load_example();
  const Model m = model_of("input x f32 [5]\nnode Sorted(x) of my.domain -> y\noutput y\n");
  const HostValues out = run_model(m, {{"x", Tensor::of<float>({5}, {3, -1, 2, 9, 0})}});
  EXPECT_EQ(out.at("y").tensor().reals(), (std::vector<double>{-1, 0, 2, 3, 9}));
  EXPECT_THROW(lower_model(m), Unsupported);
}

TEST(Plugin, FaultsNameTheNode) {
  load_example();
  expect_error(
      [] {
        run_model(model_of("input x i64 [2]\nnode Swish6(x) of my.domain as here -> y\noutput y\n"),
                  {{"x", Tensor::of<int64_t>({2}, {1, 2})}});
      },
      {"here", "expected one input of f32"});
}

TEST(Plugin, WhatIsNoPluginIsNamed) {
  load_example();
  expect_error([] { load_plugin("/nowhere/lib.so"); }, {"/nowhere/lib.so", "cannot load"});
  expect_error([] { load_plugin("lib.so"); }, {"lib.so"});
  expect_error([] { load_plugin(OLD_PLUGIN); }, {OLD_PLUGIN, "version 99", "has 1"});
  expect_error([] { load_plugin(EXAMPLE_PLUGIN); }, {EXAMPLE_PLUGIN, "my.domain::Swish6 exists already"});
  expect_error([] { load_plugin("/proc/self/exe"); }, {"/proc/self/exe"});
}

}  // namespace
}  // namespace saltern
