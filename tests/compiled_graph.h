#pragma once
// Whether a compiled graph gives what the executor gives, on one thread and on several.

#include <gtest/gtest.h>

#include <cmath>

#include "generators/model/compile.h"
#include "generators/model/passes/passes.h"
#include "generators/model/planned_model.h"
#include "runtime/graph/executor.h"
#include "runtime/kernels/compiled_model.h"
#include "tests/compiled_program.h"

namespace saltern {

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

inline generators::CompiledModel expect_right_when_compiled(const Graph &g, const std::vector<std::string> &targets = {
                                                                                generators::best_target_here()}) {
  static const generators::TemporaryFolder cache;  // what kernels share is compiled once
  const generators::TemporaryFolder folder;
  generators::CompileOptions options;
  options.cache = cache.path();
  options.name = "net";
  options.folder = folder.path();
  options.targets = targets;
  options.shared = true;
  const generators::CompiledModel made = generators::compile_model(g, options);
  const auto inputs = random_inputs(g);
  std::map<std::string, Tensor> first;
  for (int threads : {1, 2, 3}) {
    const CompiledLibrary library(made.shared_library, "net", threads);
    std::vector<Tensor> given;
    for (const auto &e : library.inputs()) given.push_back(inputs.at(e.name));
    // Twice: what is left of the first run must not matter.
    for (int times = 0; times < 2; ++times) {
      const std::vector<Tensor> results = library.run(given);
      std::map<std::string, Tensor> got;
      for (size_t i = 0; i < results.size(); ++i) got[library.outputs()[i].name] = results[i];
      if (first.empty()) first = got;
      for (const auto &[name, t] : first)
        EXPECT_EQ(got.at(name).reals(), t.reals()) << name << ", " << threads << " threads";
    }
  }
  expect_close(first, run(g, inputs));
  return made;
}

// All operations of a graph, in order.
inline std::string operations_of(const Graph &g) {
  std::string all;
  for (const Graph::Node &n : g.nodes) all += (all.empty() ? "" : " ") + n.operation;
  return all;
}

// How many chains of steps its compiled library runs at the same time.
inline int most_lanes(const Graph &g) {
  const generators::Plan plan = generators::planned({generators::prepared_for_inference(g)}).plan;
  int most = 0;
  for (const generators::DriverStep &s : plan.seen().steps) most = std::max(most, s.lanes);
  return most;
}

}  // namespace saltern
