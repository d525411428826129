// The GPU mapping of all library kernels: what OpenCL computes is what the kernel for the CPU gives (which
// tests/generators/kernels_test.cpp compares with the plain algorithm), and the CUDA code assembles without spilling
// registers.

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <regex>

#include "algorithms/movement.h"
#include "dsl/derivative.h"
#include "generators/targets.h"
#include "runtime/kernels/kernels.h"
#include "tests/kernel_calls.h"
#include "tests/ptx.h"

namespace saltern {
namespace {

using Halide::Target;

struct Mapping {
  std::string label;
  generators::Knobs knobs;
};

const Mapping own = {"own knobs", {}};

struct Mapped {
  std::string kernel;
  std::vector<Mapping> mappings;
};

void PrintTo(const Mapped &m, std::ostream *out) { *out << m.kernel; }

// Every kernel whose declaration says that it has a GPU schedule, by its own knobs and by those that change its structure.
std::vector<Mapped> mapped() {
  const Mapping narrow = {"tiles of 4 rows, 4 steps unrolled", {{"rows", 4}, {"unroll_k", 4}}};
  const Mapping whole = {"images in one part", {{"parts", 1}}};
  const Mapping wider = {"blocks of 128 threads", {{"threads", 128}}};
  const std::map<std::string, std::vector<Mapping>> more = {
      {"dense", {narrow}}, {"conv2d", {narrow}}, {"conv2d_gradient_w", {whole}}, {"softmax", {wider}}};
  std::vector<Mapped> all;
  for (const generators::KernelTargets &k : generators::all_kernel_targets()) {
    if (!k.why_no_gpu.empty()) continue;
    all.push_back({k.name, {own}});
    if (const auto found = more.find(k.name); found != more.end())
      all.back().mappings.insert(all.back().mappings.end(), found->second.begin(), found->second.end());
  }
  return all;
}

Build gpu_build(const std::string &kernel, const Mapping &m, const Target &target) {
  return generators::find_kernel(kernel).build(target, Build::Schedule::own, std::nullopt, m.knobs);
}

class Gpu : public testing::TestWithParam<Mapped> {};

INSTANTIATE_TEST_SUITE_P(All, Gpu, testing::ValuesIn(mapped()), [](const auto &info) { return info.param.kernel; });

// Those that are of a class without a GPU pattern are named here.
TEST(GpuMapping, EveryLibraryKernelHasOneButThoseForCpus) {
  const std::map<std::string, std::string> for_cpus = {
      {"image_of_window_lines", "there is no GPU pattern for a scatter"}};
  size_t kernels = 0;
  for (const generators::KernelTargets &k : generators::all_kernel_targets()) {
    const auto without = for_cpus.find(k.name);
    EXPECT_EQ(k.why_no_gpu, without == for_cpus.end() ? "" : without->second) << k.name;
    EXPECT_FALSE(k.classes.empty()) << k.name;
    ++kernels;
  }
  EXPECT_EQ(kernels, generators::all_kernels().size());
}

// ---- OpenCL, run.

Target opencl() { return host_target().with_feature(Target::OpenCL).with_feature(Target::JIT); }

TEST(GpuMapping, AScatterHasNone) {
  Build b(opencl(), Build::Schedule::own);
  const formula::Value table = b.input("table", {"v", "c"}), places = b.input("places", {"n"}, Type::i64),
                       dy = b.input("dy", {"n", "c"});
  b.output("dtable", formula::gradient({algorithms::embedding(table, places)}, {dy}, {table})[0]);
  b.finish(nullptr);
  EXPECT_EQ(b.why_no_gpu(), "there is no GPU pattern for a scatter");
}

TEST(GpuDevice, OpenClIsThere) {
  ASSERT_TRUE(Halide::host_supports_target_device(opencl()))
      << "no OpenCL device: cmake/setup.sh installs one that runs on the CPU (Debian's pocl-opencl-icd)";
}

void expect_same(const Halide::Callable &callable, const Build &facts, Values &values,
                 const std::vector<Halide::Buffer<>> &want) {
  auto got = outputs_of(facts);
  for (auto &b : values.buffers) b.set_host_dirty();
  Halide::JITUserContext none = {}, *context = &none;
  std::vector<void *> arguments = arguments_of(facts, values, got);
  arguments.insert(arguments.begin(), &context);
  ASSERT_EQ(callable.call_argv_fast(arguments.size(), arguments.data()), 0);
  for (size_t o = 0; o < want.size(); ++o) {
    EXPECT_TRUE(got[o].device_dirty()) << "the output was not computed on the device";
    got[o].copy_to_host();
    SCOPED_TRACE(facts.output_names()[o]);
    if (want[o].type() == Halide::Float(32))
      EXPECT_LE(relative_difference(got[o].as<float>(), want[o].as<float>()), 2e-5);
    else
      EXPECT_EQ(relative_difference(got[o].as<int>(), want[o].as<int>()), 0);
  }
}

TEST_P(Gpu, OpenClGivesWhatTheCpuGives) {
  ASSERT_TRUE(Halide::host_supports_target_device(opencl())) << "no OpenCL device, see GpuDevice.OpenClIsThere";
  const generators::Kernel &kernel = generators::find_kernel(GetParam().kernel);
  std::vector<Halide::Callable> callables;
  for (const Mapping &m : GetParam().mappings) {
    Build build = gpu_build(kernel.name, m, opencl());
    callables.push_back(build.pipeline().compile_to_callable(build.arguments(), opencl()));
  }
  for (size_t c = 0; c < kernel.checks.size(); ++c) {
    const Build facts = kernel.build(host_target(), Build::Schedule::plain, kernel.checks[c]);
    Values values = draw(facts, kernel.checks[c]);
    auto want = outputs_of(facts);
    ASSERT_EQ(find_compiled_kernel(kernel.name)->call(arguments_of(facts, values, want).data()), 0);
    for (size_t m = 0; m < callables.size(); ++m) {
      SCOPED_TRACE("check " + std::to_string(c) + ", " + GetParam().mappings[m].label);
      expect_same(callables[m], facts, values, want);
    }
  }
}

// ---- CUDA, assembled.

bool assembles_for(const std::string &processor) {
  int exit_code = -1;
  static const std::string help = read_all(std::string(SALTERN_PTXAS) + " --help 2>&1", exit_code);
  return help.find("'" + processor + "'") != std::string::npos;
}

// Assembles, expects no spills, and no stack but where sines and cosines of large angles have a table there, and says how
// many registers each kernel takes.
void expect_no_spills(const ScratchFolder &folder, const std::string &ptx, const std::string &processor) {
  const bool has_table = ptx.find("__cudart_i2opi_f") != std::string::npos;
  const auto [good, said] = assembled(folder, ptx, processor);
  ASSERT_TRUE(good) << processor << ": " << said;
  const std::regex memory("(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads");
  const std::regex registers("Used (\\d+) registers");
  const std::sregex_iterator end;
  EXPECT_NE(std::sregex_iterator(said.begin(), said.end(), memory), end) << said;
  for (std::sregex_iterator it(said.begin(), said.end(), memory); it != end; ++it)
    for (int i = has_table ? 2 : 1; i < 4; ++i) EXPECT_EQ((*it)[i], "0") << processor << ": " << said;
  std::string counts;
  for (std::sregex_iterator it(said.begin(), said.end(), registers); it != end; ++it) counts += " " + (*it)[1].str();
  std::printf("  %s: registers%s\n", processor.c_str(), counts.c_str());
}

TEST_P(Gpu, PtxAssemblesWithoutSpills) {
  ASSERT_STRNE(SALTERN_PTXAS, "") << "ptxas was not found: cmake/setup.sh installs it (the wheel nvidia-cuda-nvcc)";
  // What takes many registers on processors of every kind; the others take few on the first.
  const bool is_large = GetParam().mappings.size() > 1;
  const std::vector<std::string> newer =
      is_large ? std::vector<std::string>{"sm_80", "sm_90", "sm_100", "sm_120"} : std::vector<std::string>{"sm_80"};
  ASSERT_TRUE(assembles_for(newer.front())) << SALTERN_PTXAS << " does not know " << newer.front();
  const ScratchFolder folder;
  for (const Mapping &m : GetParam().mappings)
    for (const std::string capability : {"50", "80"}) {
      if (capability == "50" && GetParam().kernel != "dense") continue;
      SCOPED_TRACE(m.label + ", capability " + capability);
      std::printf("%s, %s, capability %s\n", GetParam().kernel.c_str(), m.label.c_str(), capability.c_str());
      const Target target(cpu_targets().back().halide + "-cuda-cuda_capability_" + capability + "-no_runtime");
      Build build = gpu_build(GetParam().kernel, m, target);
      const std::string object = folder.file("kernel.o");
      build.pipeline().compile_to_object(object, build.arguments(), "kernel", target);
      const std::string ptx = ptx_in(object);
      ASSERT_NE(ptx.find(".entry"), std::string::npos) << "no PTX in the object";
      for (const std::string &processor : newer)
        if (assembles_for(processor)) expect_no_spills(folder, ptx, processor);
    }
}

// ---- Ahead of time.

TEST(GpuAheadOfTime, OpenClKernelCompilesToAnObject) {
  const ScratchFolder folder;
  const std::string object = folder.file("dense.o");
  const Target target("x86-64-linux-opencl");
  Build build = gpu_build("dense", own, target);
  build.pipeline().compile_to_object(object, build.arguments(), "saltern_dense_opencl", target);
  const std::string bytes = bytes_of_file(object);
  EXPECT_NE(bytes.find("__kernel void"), std::string::npos) << "the object carries no OpenCL source";
  EXPECT_NE(bytes.find("saltern_dense_opencl"), std::string::npos);
}

}  // namespace
}  // namespace saltern
