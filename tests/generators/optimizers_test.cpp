// Kernels of optimizers may write their results over their inputs: training updates parameters in place.

#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/optimizers.h"
#include "runtime/kernels/instruction_set.h"
#include "runtime/kernels/kernels.h"

namespace saltern {
namespace {

Tensor waves(int64_t size, size_t which) {
  Tensor t = Tensor::empty({size});
  const float step = 0.3f + 0.4f * static_cast<float>(which);
  for (int64_t i = 0; i < size; ++i) t.data<float>()[i] = 0.55f + 0.5f * std::sin(step * static_cast<float>(i));
  return t;
}

class InPlace : public testing::TestWithParam<int64_t> {};

TEST_P(InPlace, EveryUpdateGivesTheSameAsIntoNewMemory) {
  for (const algorithms::UpdateKernel &kernel : algorithms::update_kernels())
    for (InstructionSet set : available_instruction_sets()) {
      const LimitInstructionSet limit(set);
      std::vector<Tensor> in, out;  // p, slots
      for (size_t i = 0; i < 1 + kernel.slots; ++i) {
        in.push_back(waves(GetParam(), i + 1));
        out.push_back(Tensor::like(in[i]));
      }
      const Tensor g = waves(GetParam(), 0);
      const auto run = [&](const std::vector<Tensor> &to) {
        std::vector<KernelArgument> arguments = {flat(in[0]), flat(g)};
        for (size_t i = 1; i < in.size(); ++i) arguments.emplace_back(flat(in[i]));
        for (size_t i = 0; i < kernel.numbers.size(); ++i) arguments.emplace_back(0.3f + 0.05f * static_cast<float>(i));
        for (const Tensor &t : to) arguments.emplace_back(flat(t));
        call(kernel.name, arguments);
      };
      run(out);
      run(in);
      for (size_t i = 0; i < in.size(); ++i)
        ASSERT_EQ(in[i].reals(), out[i].reals()) << kernel.name << ", " << name(set) << ", result " << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, InPlace, testing::Values(1, 7, 8, 17, 16385, 40001));

}  // namespace
}  // namespace saltern
