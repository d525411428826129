#include "runtime/tensor/dlpack.h"

#include <dlpack/dlpack.h>

#include <algorithm>
#include <memory>

namespace saltern {

namespace {

constexpr uint8_t dlpack_bool = 6;  // kDLBool of DLPack 0.8 and later

struct DlpackType {
  Type type;
  uint8_t code, bits;
};

constexpr DlpackType dlpack_types[] = {
    {Type::f32, kDLFloat, 32},       {Type::f64, kDLFloat, 64}, {Type::f16, kDLFloat, 16}, {Type::bf16, kDLBfloat, 16},
    {Type::i8, kDLInt, 8},           {Type::i16, kDLInt, 16},   {Type::i32, kDLInt, 32},   {Type::i64, kDLInt, 64},
    {Type::u8, kDLUInt, 8},          {Type::u16, kDLUInt, 16},  {Type::u32, kDLUInt, 32},  {Type::u64, kDLUInt, 64},
    {Type::boolean, dlpack_bool, 8},
};

Type type_of(const DLDataType &d) {
  for (const DlpackType &t : dlpack_types)
    if (t.code == d.code && t.bits == d.bits && d.lanes == 1) return t.type;
  fail("a DLPack tensor of type code ", int{d.code}, ", ", int{d.bits}, " bits, ", d.lanes, " lanes is not supported");
}

DLDataType dlpack_type(Type type) {
  for (const DlpackType &t : dlpack_types)
    if (t.type == type) return {t.code, t.bits, 1};
  fail("DLPack has no type for ", facts(type).name);
}

// What an exported tensor keeps alive: the memory, and the arrays that DLTensor points to.
struct Exported {
  Tensor tensor;
  Shape shape, strides;
  DLManagedTensor managed = {};
};

}  // namespace

DLManagedTensor *to_dlpack(const Tensor &tensor) {
  if (!tensor.defined()) fail("an undefined tensor cannot be given to DLPack");
  auto e = std::make_unique<Exported>();
  e->tensor = tensor;
  e->shape = tensor.shape();
  e->strides = tensor.strides();
  DLTensor &t = e->managed.dl_tensor;
  t.data = tensor.raw();
  t.device = {kDLCPU, 0};
  t.ndim = tensor.rank();
  t.dtype = dlpack_type(tensor.type());
  t.shape = e->shape.data();
  t.strides = e->strides.data();
  t.byte_offset = 0;
  e->managed.manager_ctx = e.get();
  e->managed.deleter = [](DLManagedTensor *self) { delete static_cast<Exported *>(self->manager_ctx); };
  return &e.release()->managed;
}

Tensor from_dlpack(DLManagedTensor *managed) {
  if (!managed) fail("a DLPack tensor is null");
  const std::shared_ptr<DLManagedTensor> owner(managed, [](DLManagedTensor *m) {
    if (m->deleter) m->deleter(m);
  });
  const DLTensor &t = managed->dl_tensor;
  if (t.device.device_type != kDLCPU && t.device.device_type != kDLCUDAHost)
    fail("a DLPack tensor lies on device type ", static_cast<int>(t.device.device_type), ", not in the CPU's memory");
  if (t.ndim < 0 || (t.ndim > 0 && !t.shape)) fail("a DLPack tensor has rank ", t.ndim, " or no shape");
  const Type type = type_of(t.dtype);
  Shape shape(t.shape, t.shape + t.ndim);
  const int64_t count = elements(shape);
  Shape strides = t.strides ? Shape(t.strides, t.strides + t.ndim) : dense_strides(shape, Layout::row_major);
  if (!t.data && count > 0) fail("a DLPack tensor of shape ", to_string(shape), " has no data");
  // An empty tensor may have no address; the structure's own stands for it and is never read.
  char *data = t.data ? static_cast<char *>(t.data) + t.byte_offset : reinterpret_cast<char *>(managed);
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(facts(type).bytes()) != 0)
    fail("a DLPack tensor's address is not aligned for ", facts(type).name);
  return Tensor::borrowed(data, std::move(shape), type, std::move(strides), owner);
}

}  // namespace saltern
