// Tensors cross DLPack without a copy, and memory is released exactly once, when its last user is gone.

#include "runtime/tensor/dlpack.h"

#include <dlpack/dlpack.h>
#include <gtest/gtest.h>

#include "tests/scratch_folder.h"

namespace saltern {
namespace {

// A tensor as another library would offer it; counts how often it is released.
struct Foreign {
  std::vector<float> values = {0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<int64_t> shape = {2, 3};
  std::vector<int64_t> strides;
  int released = 0;
  DLManagedTensor managed = {};

  DLManagedTensor *offer() {
    managed.dl_tensor = {values.data(),
                         {kDLCPU, 0},
                         static_cast<int>(shape.size()),
                         {kDLFloat, 32, 1},
                         shape.data(),
                         strides.empty() ? nullptr : strides.data(),
                         0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor *m) { ++static_cast<Foreign *>(m->manager_ctx)->released; };
    return &managed;
  }
};

TEST(Dlpack, ForeignMemoryIsReleasedOnceAfterItsLastUser) {
  Foreign f;
  Tensor slice;
  {
    const Tensor t = from_dlpack(f.offer());
    EXPECT_EQ(t.raw(), f.values.data());
    slice = t.slice(0, 1, 1);
  }
  EXPECT_EQ(f.released, 0);
  EXPECT_EQ(slice.at<float>({0, 2}), 5);
  slice = Tensor();
  EXPECT_EQ(f.released, 1);
}

TEST(Dlpack, StridesAndOffsetsAreHonoured) {
  Foreign row_major, transposed, shifted;
  EXPECT_EQ(from_dlpack(row_major.offer()).strides(), (Shape{3, 1}));
  transposed.strides = {1, 2};
  EXPECT_EQ(from_dlpack(transposed.offer()).at<float>({1, 2}), 5);
  EXPECT_EQ(from_dlpack(transposed.offer()).at<float>({1, 1}), 3);
  shifted.offer()->dl_tensor.byte_offset = 2 * sizeof(float);
  EXPECT_EQ(from_dlpack(&shifted.managed).at<float>({1, 2}), 7);
}

TEST(Dlpack, EveryTypeGoesOutAndComesBack) {
  for (const TypeFacts &f : all_types()) {
    if (!f.is_arithmetic()) {
      EXPECT_THROW(to_dlpack(Tensor::zeros({1}, f.type)), Error) << f.name;
      continue;
    }
    const Tensor t = Tensor::zeros({2, 3, 4, 5}, f.type, Layout::channels_last);
    const Tensor back = from_dlpack(to_dlpack(t));
    EXPECT_EQ(back.type(), t.type());
    EXPECT_EQ(back.shape(), t.shape());
    EXPECT_EQ(back.strides(), t.strides());
    EXPECT_EQ(back.raw(), t.raw());
  }
}

TEST(Dlpack, AnExportKeepsItsMemoryAlive) {
  DLManagedTensor *managed = nullptr;
  auto owner = std::make_shared<std::vector<float>>(6, 2.5F);
  const std::weak_ptr<std::vector<float>> watch = owner;
  {
    const Tensor t = Tensor::borrowed(owner->data(), {6}, Type::f32, {1}, owner);
    owner.reset();
    managed = to_dlpack(t);
  }
  ASSERT_FALSE(watch.expired());
  EXPECT_EQ(static_cast<float *>(managed->dl_tensor.data)[5], 2.5F);
  EXPECT_EQ(managed->dl_tensor.dtype.code, kDLFloat);
  EXPECT_EQ(managed->dl_tensor.shape[0], 6);
  managed->deleter(managed);
  EXPECT_TRUE(watch.expired());
}

TEST(Dlpack, ScalarsAndEmptyTensorsPass) {
  Foreign scalar, empty;
  scalar.shape = {};
  EXPECT_EQ(from_dlpack(scalar.offer()).item(), 0);
  empty.shape = {0, 3};
  empty.offer()->dl_tensor.data = nullptr;
  const Tensor t = from_dlpack(&empty.managed);
  EXPECT_TRUE(t.defined());
  EXPECT_EQ(t.size(), 0);
}

TEST(Dlpack, WhatCannotBeTakenIsNamedAndReleased) {
  const auto refused = [](const std::function<void(DLTensor &)> &spoil) {
    Foreign f;
    spoil(f.offer()->dl_tensor);
    const std::string text = error_of([&] { from_dlpack(&f.managed); });
    EXPECT_EQ(f.released, 1);
    return text;
  };
  EXPECT_TRUE(contains(refused([](DLTensor &t) { t.device.device_type = kDLCUDA; }), "device type 2"));
  EXPECT_TRUE(contains(refused([](DLTensor &t) { t.dtype.bits = 8; }), "8 bits"));
  EXPECT_TRUE(contains(refused([](DLTensor &t) { t.dtype.lanes = 4; }), "4 lanes"));
  EXPECT_TRUE(contains(refused([](DLTensor &t) { t.dtype.code = kDLComplex; }), "code 5"));
  EXPECT_TRUE(contains(refused([](DLTensor &t) { t.data = nullptr; }), "no data"));
  EXPECT_TRUE(contains(refused([](DLTensor &t) { t.shape = nullptr; }), "no shape"));
  EXPECT_TRUE(contains(refused([](DLTensor &t) { t.ndim = -1; }), "rank -1"));
  EXPECT_TRUE(contains(refused([](DLTensor &t) { t.shape[0] = -2; }), "negative"));
  EXPECT_TRUE(contains(refused([](DLTensor &t) { t.byte_offset = 1; }), "aligned"));
  error_of([] { from_dlpack(nullptr); });
  error_of([] { to_dlpack(Tensor()); });
}

}  // namespace
}  // namespace saltern
