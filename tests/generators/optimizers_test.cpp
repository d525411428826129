// Optimizer kernels may write their results over their inputs: training updates parameters in place.

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/kernels/instruction_set.h"
#include "runtime/kernels/kernels.h"

namespace saltern {
namespace {

Tensor waves(int64_t size, float step) {
  Tensor t = Tensor::empty({size});
  for (int64_t i = 0; i < size; ++i) t.data<float>()[i] = 1.1f + std::sin(step * static_cast<float>(i));
  return t;
}

void expect_equal(const Tensor &got, const Tensor &want, const std::string &what) {
  for (int64_t i = 0; i < want.size(); ++i)
    ASSERT_EQ(got.data<float>()[i], want.data<float>()[i]) << what << ", element " << i << " of " << want.size();
}

class InPlace : public testing::TestWithParam<int64_t> {};

TEST_P(InPlace, SgdGivesTheSameAsIntoNewMemory) {
  for (InstructionSet set : available_instruction_sets()) {
    const LimitInstructionSet limit(set);
    const Tensor p = waves(GetParam(), 0.3f), g = waves(GetParam(), 0.7f), v = waves(GetParam(), 1.1f);
    const Tensor new_p = Tensor::like(p), new_v = Tensor::like(v);
    call("sgd", {flat(p), flat(g), flat(v), 0.1f, 0.9f, 0.2f, 0.5f, 1.0f, flat(new_p), flat(new_v)});
    call("sgd", {flat(p), flat(g), flat(v), 0.1f, 0.9f, 0.2f, 0.5f, 1.0f, flat(p), flat(v)});
    expect_equal(p, new_p, std::string("p, ") + std::string(name(set)));
    expect_equal(v, new_v, std::string("v, ") + std::string(name(set)));
  }
}

TEST_P(InPlace, AdamGivesTheSameAsIntoNewMemory) {
  for (InstructionSet set : available_instruction_sets()) {
    const LimitInstructionSet limit(set);
    const Tensor p = waves(GetParam(), 0.3f), g = waves(GetParam(), 0.7f), m = waves(GetParam(), 1.1f),
                 v = waves(GetParam(), 1.7f);
    const Tensor new_p = Tensor::like(p), new_m = Tensor::like(m), new_v = Tensor::like(v);
    const auto run = [&](const Tensor &to_p, const Tensor &to_m, const Tensor &to_v) {
      call("adam", {flat(p), flat(g), flat(m), flat(v), 0.1f, 0.9f, 0.99f, 1e-3f, 0.5f, 0.1f, 0.01f, 0.0f, flat(to_p),
                    flat(to_m), flat(to_v)});
    };
    run(new_p, new_m, new_v);
    run(p, m, v);
    expect_equal(p, new_p, std::string("p, ") + std::string(name(set)));
    expect_equal(m, new_m, std::string("m, ") + std::string(name(set)));
    expect_equal(v, new_v, std::string("v, ") + std::string(name(set)));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, InPlace, testing::Values(1, 7, 8, 17, 16385, 40001));

}  // namespace
}  // namespace saltern
