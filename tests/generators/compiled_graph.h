#pragma once
// Graphs run by the executor and as compiled libraries, on the same random inputs.

#include <gtest/gtest.h>

#include "generators/model/compile.h"
#include "generators/model/toolchain.h"
#include "runtime/compiled_model.h"
#include "runtime/graph/executor.h"
#include "tests/graph_builder.h"

namespace saltern::generators {

inline std::map<std::string, Tensor> random_inputs(const Graph &g) {
  std::map<std::string, Tensor> inputs;
  for (const std::string &i : g.inputs) inputs[i] = random_tensor(g.value(i).shape, 100 + inputs.size());
  return inputs;
}

inline void expect_close(const std::map<std::string, Tensor> &got, const std::map<std::string, Tensor> &want) {
  for (const auto &[name, t] : want) {
    const std::vector<double> a = t.reals(), b = got.at(name).reals();
    ASSERT_EQ(a.size(), b.size()) << name;
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(b[i], a[i], 1e-4 * (1 + std::fabs(a[i]))) << name << " at " << i;
  }
}

inline void expect_same_results(const Graph &after, const Graph &before) {
  validate(after);
  const auto inputs = random_inputs(before);
  expect_close(run(after, inputs), run(before, inputs));
}

// The compiled library gives what the executor gives.
inline void expect_right_when_compiled(const Graph &g, const std::string &target = best_target_here()) {
  const TemporaryFolder folder;
  CompileOptions options;
  options.name = "net";
  options.folder = folder.path();
  options.targets = {target};
  options.shared = true;
  const CompiledModel made = compile_model(g, options);
  const auto inputs = random_inputs(g);
  const CompiledLibrary library(made.shared_library, "net", 1);
  std::vector<Tensor> given;
  for (const auto &e : library.inputs()) given.push_back(inputs.at(e.name));
  const std::vector<Tensor> results = library.run(given);
  std::map<std::string, Tensor> got;
  for (size_t i = 0; i < results.size(); ++i) got[library.outputs()[i].name] = results[i];
  expect_close(got, run(g, inputs));
}

}  // namespace saltern::generators
