// Every declared kernel, called through the registry on every instruction set that this machine has, gives what its
// plain algorithm gives.

#include <gtest/gtest.h>

#include "runtime/kernels/instruction_set.h"
#include "runtime/kernels/kernels.h"
#include "tests/kernel_calls.h"

namespace saltern {
namespace {

std::vector<Halide::Buffer<>> run_library(const CompiledKernel &kernel, const Build &build, Values &values) {
  auto outs = outputs_of(build);
  EXPECT_EQ(kernel.call(arguments_of(build, values, outs).data()), 0);
  return outs;
}

class Kernels : public testing::TestWithParam<std::string> {};

TEST_P(Kernels, LibraryGivesWhatThePlainAlgorithmGives) {
  const generators::Kernel &kernel = generators::find_kernel(GetParam());
  ASSERT_FALSE(kernel.checks.empty()) << "a kernel needs at least one call to check";
  const CompiledKernel *built = find_compiled_kernel(kernel.name);
  ASSERT_NE(built, nullptr) << kernel.name << " has no registry row";
  for (size_t c = 0; c < kernel.checks.size(); ++c) {
    const generators::Call &call = kernel.checks[c];
    Build plain = kernel.build(host_target(), Build::Schedule::plain, call);
    Values values = draw(plain, call);
    const auto want = run_plain(plain, values);
    for (InstructionSet set : available_instruction_sets()) {
      const LimitInstructionSet limit(set);
      const auto got = run_library(*built, plain, values);
      for (size_t o = 0; o < want.size(); ++o) {
        SCOPED_TRACE(kernel.name + ", check " + std::to_string(c) + ", output " + plain.output_names()[o] + ", " +
                     std::string(name(set)));
        if (want[o].type() == Halide::Float(32))
          EXPECT_LE(relative_difference(got[o].as<float>(), want[o].as<float>()), 2e-5);
        else if (want[o].type() == Halide::Int(32))
          EXPECT_EQ(relative_difference(got[o].as<int>(), want[o].as<int>()), 0);
        else
          FAIL() << "nobody knows how near outputs of this type have to be";
      }
    }
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const generators::Kernel &k : generators::all_kernels()) all.push_back(k.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Kernels, testing::ValuesIn(names()), [](const auto &info) { return info.param; });

TEST(KernelRegistry, HasARowForEveryDeclarationAndNoOther) {
  EXPECT_EQ(compiled_kernels().size(), generators::all_kernels().size());
}

}  // namespace
}  // namespace saltern
