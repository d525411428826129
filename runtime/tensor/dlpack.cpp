#include "runtime/tensor/dlpack.h"

#include <dlpack/dlpack.h>

#include <algorithm>
#include <memory>

namespace saltern {

namespace {

constexpr uint8_t dlpack_bool = 6;  // kDLBool of DLPack 0.8 and later

// DLPack numbers codes as storage does, but for booleans, which have one of their own and a byte each.
DLDataType dlpack_type(const TypeFacts &t) {
  if (t.type == Type::boolean) return {dlpack_bool, 8, 1};
  return {static_cast<uint8_t>(t.storage.code), t.storage.bits, 1};
}
static_assert(kDLInt == static_cast<int>(StoredAs::Code::integer) &&
              kDLUInt == static_cast<int>(StoredAs::Code::natural));
static_assert(kDLFloat == static_cast<int>(StoredAs::Code::real) &&
              kDLBfloat == static_cast<int>(StoredAs::Code::brain));

Type type_of(const DLDataType &d) {
  for (const TypeFacts &t : all_types()) {
    const DLDataType known = dlpack_type(t);
    if (t.is_arithmetic() && known.code == d.code && known.bits == d.bits && d.lanes == 1) return t.type;
  }
  fail("a DLPack tensor of type code ", int{d.code}, ", ", int{d.bits}, " bits, ", d.lanes, " lanes is not supported");
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
  const TypeFacts &type = facts(tensor.type());
  if (!type.is_arithmetic()) fail("DLPack has no type for ", type.name);
  auto e = std::make_unique<Exported>();
  e->tensor = tensor;
  e->shape = tensor.shape();
  e->strides = tensor.strides();
  DLTensor &t = e->managed.dl_tensor;
  t.data = tensor.raw();
  t.device = {kDLCPU, 0};
  t.ndim = tensor.rank();
  t.dtype = dlpack_type(type);
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
