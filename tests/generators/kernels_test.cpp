// Every declared kernel, called through the registry on every instruction set that this machine has, gives what its
// plain algorithm gives.

#include <gtest/gtest.h>

#include "runtime/instruction_set.h"
#include "runtime/kernels.h"
#include "tests/kernel_calls.h"

namespace saltern {
namespace {

std::vector<Halide::Buffer<>> run_library(const std::string &name, const Build &build, Values &values) {
  const Kernel *kernel = find_kernel(name);
  EXPECT_NE(kernel, nullptr) << name << " has no registry row";
  auto outs = outputs_of(build);
  EXPECT_EQ(kernel->call(arguments_of(build, values, outs).data()), 0);
  return outs;
}

class Kernels : public testing::TestWithParam<std::string> {};

TEST_P(Kernels, LibraryGivesWhatThePlainAlgorithmGives) {
  const generators::Kernel &kernel = generators::find_kernel(GetParam());
  ASSERT_FALSE(kernel.checks.empty()) << "a kernel needs at least one call to check";
  for (size_t c = 0; c < kernel.checks.size(); ++c) {
    const generators::Call &call = kernel.checks[c];
    Build plain = kernel.build(host_target(), Build::Schedule::plain, call);
    Values values = draw(plain, call);
    const auto want = run_plain(plain, values);
    for (InstructionSet set : available_instruction_sets()) {
      const LimitInstructionSet limit(set);
      const auto got = run_library(kernel.name, plain, values);
      for (size_t o = 0; o < want.size(); ++o)
        if (want[o].type() == Halide::Float(32))
          EXPECT_LE(relative_difference(got[o].as<float>(), want[o].as<float>()), 2e-5)
              << kernel.name << ", check " << c << ", output " << plain.output_names()[o] << ", " << name(set);
        else
          EXPECT_EQ(relative_difference(got[o].as<int>(), want[o].as<int>()), 0) << kernel.name << ", check " << c;
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
  EXPECT_EQ(kernels().size(), generators::all_kernels().size());
}

}  // namespace
}  // namespace saltern
