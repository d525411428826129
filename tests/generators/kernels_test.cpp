// Every declared kernel, called through the registry on every instruction set that this machine has, gives what its
// plain algorithm gives.

#include <gtest/gtest.h>

#include "generators/kernel.h"
#include "runtime/instruction_set.h"
#include "runtime/kernels.h"
#include "tests/random_buffer.h"

namespace saltern {
namespace {

using generators::Build;

struct Values {
  std::vector<Halide::Buffer<>> buffers;  // inputs that are buffers
  std::vector<halide_scalar_value_t> scalars;
};

Values draw(const Build &build, const generators::Call &call) {
  Values v;
  for (size_t i = 0; i < build.inputs().size(); ++i) {
    const generators::InputFacts &in = build.inputs()[i];
    if (in.rank > 0) {
      v.buffers.push_back(random_buffer(in.type, call[i].extents, in.range.low, in.range.high, 17 + i));
    } else {
      halide_scalar_value_t s = {};
      if (in.type == Halide::Float(32))
        s.u.f32 = static_cast<float>(call[i].value);
      else
        s.u.i32 = static_cast<int>(call[i].value);
      v.scalars.push_back(s);
    }
  }
  return v;
}

std::vector<Halide::Buffer<>> outputs_of(const Build &build) {
  std::vector<Halide::Buffer<>> outs;
  const auto extents = build.output_extents();
  const auto types = build.output_types();
  for (size_t i = 0; i < extents.size(); ++i) {
    outs.emplace_back(types[i], extents[i]);
    if (types[i] == Halide::Float(32)) outs.back().as<float>().fill(NAN);
  }
  return outs;
}

std::vector<Halide::Buffer<>> run_plain(Build &build, const Values &values) {
  auto params = build.buffers();
  for (size_t i = 0; i < params.size(); ++i) params[i].set(values.buffers[i]);
  auto outs = outputs_of(build);
  build.pipeline().realize(Halide::Realization(outs));
  return outs;
}

std::vector<Halide::Buffer<>> run_library(const std::string &name, const Build &build, Values &values) {
  const Kernel *kernel = find_kernel(name);
  EXPECT_NE(kernel, nullptr) << name << " has no registry row";
  auto outs = outputs_of(build);
  std::vector<void *> arguments;
  size_t buffer = 0, scalar = 0;
  for (const generators::InputFacts &in : build.inputs())
    arguments.push_back(in.rank > 0 ? static_cast<void *>(values.buffers[buffer++].raw_buffer())
                                    : static_cast<void *>(&values.scalars[scalar++]));
  for (auto &o : outs) arguments.push_back(o.raw_buffer());
  EXPECT_EQ(kernel->call(arguments.data()), 0);
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
