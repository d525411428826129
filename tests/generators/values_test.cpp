// Values as kernels of any size, scheduled by their structure alone: each algorithm and its gradient give what the
// interpreter gives.

#include <gtest/gtest.h>

#include "dsl/derivative.h"
#include "tests/algorithm_cases.h"
#include "tests/values.h"

namespace saltern {
namespace {

void expect_same(const Values &outputs, const Given &g, const std::string &what) {
  SCOPED_TRACE(what);
  const std::vector<Tensor> want = values_of(outputs, g);
  const std::vector<Tensor> got = compiled(outputs, g.inputs, g.tensors, g.numbers, want);
  for (size_t o = 0; o < want.size(); ++o) {
    SCOPED_TRACE("output " + std::to_string(o));
    expect_agreement(got[o], want[o], 1e-6);
  }
}

class Compiled : public testing::TestWithParam<size_t> {};

INSTANTIATE_TEST_SUITE_P(All, Compiled, testing::Range<size_t>(0, algorithm_cases().size()),
                         [](const auto &info) { return case_name(algorithm_cases()[info.param].first, info.param); });

TEST_P(Compiled, GivesWhatTheInterpreterGives) {
  Case c = algorithm_cases()[GetParam()].second();
  expect_same(c.outputs, c.given, "forward");
  const Values first = formula::gradient(c.outputs, seeded(c.outputs, c.given, "seed"), c.wanted);
  expect_same(first, c.given, "first order");
}

}  // namespace
}  // namespace saltern
