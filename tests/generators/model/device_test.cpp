// Kernels on a device: nets, their gradients and formulas give what the CPU gives, tensors stay there between kernels and
// are right wherever somebody looks at them.

#include "runtime/kernels/device.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "runtime/autograd/backward.h"
#include "runtime/formula/just_in_time.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/trace.h"
#include "runtime/kernels/kernels.h"
#include "runtime/nn/all.h"
#include "runtime/operations.h"
#include "runtime/optim/optimizer.h"
#include "runtime/tensor/random.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

const Operation scaled_softsign("scaled_softsign", [](Value x, Value scale) { return scale * x / (abs(x) + 1); });

class OnOpenCl : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    cache = std::make_unique<ScratchFolder>();
    setenv("SALTERN_CACHE", cache->file("cache").c_str(), 1);
  }
  static void TearDownTestSuite() { cache.reset(); }

  static std::unique_ptr<ScratchFolder> cache;
};
std::unique_ptr<ScratchFolder> OnOpenCl::cache;

void expect_close(const Tensor &got, const Tensor &want, double tolerance = 2e-5) {
  ASSERT_EQ(got.shape(), want.shape());
  const std::vector<double> g = got.reals(), w = want.reals();
  double largest = 1e-3;  // a gradient that is 0 but for rounding is nothing to compare with
  for (double x : w) largest = std::max(largest, std::abs(x));
  for (size_t i = 0; i < g.size(); ++i) ASSERT_LE(std::abs(g[i] - w[i]), tolerance * largest) << i;
}

// A net of every kind of layer that has kernels.
struct Net {
  Sequential layers = [] {
    nn::manual_seed(7);
    return Sequential(nn::Conv2d(3, 8, 3, /*stride=*/1, /*padding=*/1), nn::BatchNorm2d(8), nn::ReLU(),
                      nn::MaxPool2d(2), nn::Conv2d(8, 8, 3, /*stride=*/1, /*padding=*/1, /*dilation=*/1, /*groups=*/8),
                      nn::SiLU(), nn::AvgPool2d(3, /*stride=*/2, /*padding=*/1), nn::Flatten(),
                      nn::Linear(8 * 2 * 2, 33), nn::LayerNorm(33), nn::GELU(), nn::Linear(33, 10));
  }();
};

struct Results {
  Tensor logits, probabilities;
  std::vector<Tensor> gradients;
};

Results one_step() {
  Net net;
  Random random(3);
  const Variable x(random.normal_tensor({4, 3, 9, 9}), /*requires_gradient=*/true);
  const Variable logits = net.layers(x);
  backward(cross_entropy(logits, Tensor::of<int32_t>({4}, {1, 9, 0, 4})));
  Results r = {logits.value(), softmax(logits).value(), {x.gradient().value()}};
  for (const Variable &p : net.layers.parameters()) r.gradients.push_back(p.gradient().value());
  return r;
}

TEST_F(OnOpenCl, ANetAndItsGradientsAreThoseOfTheCpu) {
  const Results want = one_step();
  const DeviceCounts before = device_counts();
  const UseDevice device(Device::opencl);
  const Results got = one_step();
  expect_close(got.logits, want.logits);
  expect_close(got.probabilities, want.probabilities);
  ASSERT_EQ(got.gradients.size(), want.gradients.size());
  for (size_t i = 0; i < want.gradients.size(); ++i) {
    SCOPED_TRACE("gradient " + std::to_string(i));
    expect_close(got.gradients[i], want.gradients[i], 1e-4);
  }
  EXPECT_GT(device_counts().on_device, before.on_device + 20);
  EXPECT_EQ(device_counts().on_cpu, before.on_cpu);
  for (const auto &[kernel, why] : kernels_without_device()) ADD_FAILURE() << kernel << ": " << why;
}

TEST_F(OnOpenCl, AFormulaOfOnesOwnAndItsGradientRunThere) {
  const auto computed = [] {
    Random random(5);
    const Variable x(random.normal_tensor({512, 257}), true), scale(random.normal_tensor({257}), true);
    const Variable y = scaled_softsign(x, scale);
    backward(sum(y * y));
    return std::vector<Tensor>{y.value(), x.gradient().value(), scale.gradient().value()};
  };
  set_just_in_time(JustInTime::always);
  const std::vector<Tensor> want = computed();
  const DeviceCounts before = device_counts();
  const UseDevice device(Device::opencl);
  const std::vector<Tensor> got = computed();
  for (size_t i = 0; i < want.size(); ++i) expect_close(got[i], want[i], 1e-4);
  EXPECT_EQ(last_just_in_time_failure(), "");
  EXPECT_GT(device_counts().on_device, before.on_device);
  EXPECT_EQ(device_counts().on_cpu, before.on_cpu);
}

TEST_F(OnOpenCl, TensorsStayThereUntilSomebodyLooks) {
  const UseDevice device(Device::opencl);
  const Tensor x = Tensor::full({3, 5}, 2);
  const Tensor y = Tensor::empty({3, 5}), z = Tensor::empty({3, 5});
  call("square", {flat(x), flat(y)});
  call("negate", {flat(y), flat(z)});
  EXPECT_EQ(x.memory()->newest(), Storage::Newest::both);
  EXPECT_EQ(y.memory()->newest(), Storage::Newest::device);
  EXPECT_EQ(z.reals(), std::vector<double>(15, -4));
  EXPECT_EQ(z.memory()->newest(), Storage::Newest::both);
  EXPECT_EQ(y.memory()->newest(), Storage::Newest::device);
}

TEST_F(OnOpenCl, WhatIsWrittenHereIsSeenThere) {
  const UseDevice device(Device::opencl);
  const Tensor x = Tensor::full({7}, 2), y = Tensor::empty({7});
  call("square", {flat(x), flat(y)});
  x.data<float>()[3] = 5;  // a new pointer
  call("square", {flat(x), flat(y)});
  EXPECT_EQ(y.reals(), (std::vector<double>{4, 4, 4, 25, 4, 4, 4}));
  x.copy_from(Tensor::full({7}, 3));
  call("square", {flat(x), flat(y)});
  EXPECT_EQ(y.reals(), std::vector<double>(7, 9));
  // Both in place: the square is on the device when the CPU goes on.
  call("square", {flat(y), flat(y)});
  y.slice(0, 2, 3).copy_from(Tensor::full({3}, 1));
  EXPECT_EQ(y.reals(), (std::vector<double>{81, 81, 1, 1, 1, 81, 81}));
}

TEST_F(OnOpenCl, PartsOfATensorAndBorrowedMemoryAreReadAndWritten) {
  const UseDevice device(Device::opencl);
  const Tensor whole = Tensor::full({10}, 2);
  call("square", {flat(whole), flat(whole)});                                // all of it is there
  call("negate", {flat(whole.slice(0, 1, 3)), flat(whole.slice(0, 5, 3))});  // parts of it
  EXPECT_EQ(whole.reals(), (std::vector<double>{4, 4, 4, 4, 4, -4, -4, -4, 4, 4}));
  std::vector<float> mine = {1, 2, 3, 4};
  const Tensor borrowed = Tensor::borrowed(mine.data(), {2}, Type::f32, {2});  // every other one
  const Tensor y = Tensor::empty({2});
  for (int turn = 0; turn < 2; ++turn) {
    mine[2] += 10;  // its owner writes when it likes
    call("copy", {reversed(borrowed.viewed({1, 1, 1, 1, 2}, {2, 2, 2, 2, 2})), reversed(y.reshaped({1, 1, 1, 1, 2}))});
    EXPECT_EQ(y.reals(), (std::vector<double>{1, 13. + 10 * turn}));
  }
  call("copy", {reversed(y.reshaped({1, 1, 1, 1, 2})), reversed(borrowed.viewed({1, 1, 1, 1, 2}, {2, 2, 2, 2, 2}))});
  EXPECT_EQ(mine, (std::vector<float>{1, 2, 23, 4}));
}

TEST_F(OnOpenCl, ATracedNetGivesTheSameTwiceAndOnTheCpuAgain) {
  Net net;
  net.layers.eval();
  const Graph graph = trace(net.layers, {4, 3, 9, 9});
  Random random(3);
  const std::map<std::string, Tensor> inputs = {{graph.inputs[0], random.normal_tensor({4, 3, 9, 9})}};
  const Tensor want = run(graph, inputs).at(graph.outputs[0]);
  std::vector<double> first;
  {
    const UseDevice device(Device::opencl);
    const Tensor got = run(graph, inputs).at(graph.outputs[0]);
    expect_close(got, want);
    first = got.reals();
    EXPECT_EQ(run(graph, inputs).at(graph.outputs[0]).reals(), first);
  }
  EXPECT_EQ(run(graph, inputs).at(graph.outputs[0]).reals(), want.reals());
}

TEST_F(OnOpenCl, WhatIsMissingIsNamed) {
  EXPECT_TRUE(contains(error_of([] { UseDevice(Device::cuda); }), "libcuda.so"));
  EXPECT_EQ(device_in_use(), Device::cpu);
  EXPECT_TRUE(contains(error_of([] { device("tpu"); }), "expected cpu, opencl or cuda"));
}

}  // namespace
}  // namespace saltern
