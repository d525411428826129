// One thread or several: a layer's result, its gradients and its buffers are the same bits.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>

#include "runtime/autograd/backward.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/nn/all.h"
#include "runtime/tensor/strided.h"

namespace saltern {
namespace {

using Named = std::map<std::string, Tensor>;

// Forward and backward once, from the same parameters and with the same dy.
Named everything(const std::function<std::unique_ptr<Module>()> &make, const Shape &shape, int threads_wanted) {
  set_threads(threads_wanted);
  nn::manual_seed(11);
  Random random(11);
  const std::unique_ptr<Module> layer = make();
  const Variable x(random.uniform_tensor(shape, -2, 2), true);
  const Variable y = (*layer)(x);
  backward(y, random.uniform_tensor(y.shape(), -1, 1));
  Named all = {{"y", row_major(y.value())}, {"dx", row_major(x.gradient().value())}};
  for (auto &[name, p] : layer->named_parameters()) all["d" + name] = row_major(p.gradient().value());
  for (auto &[name, t] : layer->state()) all[name] = row_major(t).clone();
  return all;
}

void expect_same_bits(const std::string &what, const std::function<std::unique_ptr<Module>()> &make,
                      const std::vector<Shape> &shapes) {
  const int before = threads();
  for (const Shape &shape : shapes) {
    const Named one = everything(make, shape, 1);
    for (int several : {2, 3}) {
      const Named got = everything(make, shape, several);
      ASSERT_EQ(got.size(), one.size());
      for (const auto &[name, t] : one) {
        for (int64_t i = 0; t.type() == Type::f32 && i < t.size(); ++i)
          ASSERT_FALSE(std::isnan(t.data<float>()[i])) << what << " " << to_string(shape) << " " << name;
        EXPECT_EQ(std::memcmp(t.raw(), got.at(name).raw(), t.bytes()), 0)
            << what << " " << to_string(shape) << " " << name << ", " << several << " threads";
      }
    }
  }
  set_threads(before);
}

auto layer(const nn::NamedLayer &of, const nn::Argument &argument) {
  return [=] { return std::make_unique<nn::Layer>(of(argument)); };
}

TEST(Threads, BatchNormIsTheSameBitsInTrainingAndInEvaluation) {
  for (int64_t channels : {1, 7, 17, 64})
    expect_same_bits("batch norm", layer(nn::BatchNorm2d, channels), {{2, channels, 1, 1}, {5, channels, 31, 33}});
  expect_same_bits("batch norm in evaluation",
                   [] {
                     auto norm = std::make_unique<nn::Layer>(nn::BatchNorm2d(17));
                     norm->eval();
                     return norm;
                   },
                   {{5, 17, 31, 33}});
}

TEST(Threads, SoftmaxIsTheSameBits) {
  expect_same_bits("softmax", layer(nn::Softmax, -1), {{1, 1}, {3, 1000}, {257, 17}, {1000, 64}});
  expect_same_bits("softmax over channels", layer(nn::Softmax, 1), {{2, 9, 31, 17}});
}

TEST(Threads, LayerNormIsTheSameBits) {
  expect_same_bits("layer norm", layer(nn::LayerNorm, 479), {{1, 479}, {300, 479}});
}

TEST(Threads, ConvolutionsPoolsAndDenseLayersAreTheSameBits) {
  expect_same_bits("net",
                   [] {
                     return std::make_unique<Sequential>(nn::Conv2d(3, 17, 3, 1, 1), nn::BatchNorm2d(17), nn::ReLU(),
                                                         nn::MaxPool2d(2), nn::Conv2d(17, 32, 3, 2, 1),
                                                         nn::AvgPool2d(2), nn::Flatten(), nn::Linear(32 * 4 * 4, 10),
                                                         nn::Softmax(-1));
                   },
                   {{5, 3, 32, 32}});
}

}  // namespace
}  // namespace saltern
