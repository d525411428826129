#include "runtime/python/arrays.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "runtime/nn/argument.h"

namespace nb = nanobind;

namespace saltern::python {

using nn::ArgumentError;

namespace {

using AnyArray = nb::ndarray<nb::ro>;  // of any device, and maybe read-only
using Array = nb::ndarray<nb::device::cpu>;

nb::dlpack::dtype dlpack_type(Type type) {
  const TypeFacts &f = facts(type);
  using Code = nb::dlpack::dtype_code;
  const Code code = f.kind == TypeFacts::Kind::boolean          ? Code::Bool
                    : f.storage.code == StoredAs::Code::real    ? Code::Float
                    : f.storage.code == StoredAs::Code::brain   ? Code::Bfloat
                    : f.storage.code == StoredAs::Code::integer ? Code::Int
                                                                : Code::UInt;
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(f.bytes() * 8), 1};
}

std::optional<Type> type_of(const nb::dlpack::dtype &d) {
  for (const TypeFacts &f : all_types())
    if (f.is_arithmetic() && dlpack_type(f.type) == d) return f.type;
  return std::nullopt;
}

std::string class_of(nb::handle h) { return nb::cast<std::string>(nb::str(nb::handle(h.type()))); }

// Throws where the array cannot be read in its place.
template <typename A>
Tensor borrowed(const A &array, const std::string &function) {
  const std::optional<Type> type = type_of(array.dtype());
  if (!type)
    throw ArgumentError(function + ": an array of this element type (DLPack's code " +
                        std::to_string(array.dtype().code) + ", " + std::to_string(array.dtype().bits) +
                        " bits) cannot be a tensor");
  Shape shape, strides;
  for (size_t d = 0; d < array.ndim(); ++d) {
    shape.push_back(static_cast<int64_t>(array.shape(d)));
    strides.push_back(array.stride(d));
  }
  if (elements(shape) == 0) return Tensor::empty(shape, *type);
  if (reinterpret_cast<uintptr_t>(array.data()) % static_cast<uintptr_t>(facts(*type).bytes()) != 0)
    fail(function, ": the array is not aligned for ", facts(*type).name, "; tensor(array) copies it");
  auto owner = std::make_shared<A>(array);
  return Tensor::borrowed(const_cast<void *>(static_cast<const void *>(array.data())), shape, *type, strides, owner);
}

// What shows a tensor to others, which keeps it alive.
template <typename Framework>
nb::object shown(const Tensor &t) {
  auto *kept = new Tensor(t);
  const nb::capsule owner(kept, [](void *p) noexcept { delete static_cast<Tensor *>(p); });
  std::vector<size_t> shape(t.shape().begin(), t.shape().end());
  return nb::cast(
      nb::ndarray<Framework>(t.raw(), shape.size(), shape.data(), owner, t.strides().data(), dlpack_type(t.type())));
}

nb::object numpy(const Variable &v) {
  if (facts(v.type()).storage.code == StoredAs::Code::brain)
    throw ArgumentError("numpy: NumPy has no bfloat16; cast the tensor to float32 first");
  return shown<nb::numpy>(v.value());
}

nb::object dlpack(const Variable &v, std::optional<bool> copy, const nb::kwargs &options) {
  return shown<nb::array_api>(copy.value_or(false) ? v.value().clone() : v.value()).attr("__dlpack__")(**options);
}

}  // namespace

Tensor in_memory_of(nb::handle h, const std::string &function) {
  Array array;
  if (nb::try_cast(h, array)) return borrowed(array, function);
  AnyArray any;
  if (!nb::try_cast(h, any))
    throw ArgumentError(function + ": expected an array or tensor, which a " + class_of(h) +
                        " is not, or not of an element type that a tensor may have");
  if (any.device_type() != nb::device::cpu::value)
    fail(function, ": the array is on a device (DLPack's ", any.device_type(), "); expected one of the CPU");
  fail(function, ": the array is read-only, and a tensor in its memory would write there; tensor(array) copies it");
}

std::optional<Tensor> copy_of(nb::handle h) {
  nb::ndarray<nb::ro, nb::device::cpu> array;
  if (!nb::try_cast(h, array)) return std::nullopt;
  return borrowed(array, "tensor").clone();
}

void bind_arrays(nb::module_ &m, nb::class_<Variable> &tensor) {
  tensor.def("numpy", numpy, "An array in the same memory.")
      .def("__dlpack__", dlpack, nb::arg("copy") = nb::none(), nb::arg("options"))
      .def("__dlpack_device__", [](const Variable &) { return nb::make_tuple(nb::device::cpu::value, 0); });
  m.def(
      "shared", [](nb::handle array, const std::string &function) { return Variable(in_memory_of(array, function)); },
      nb::arg("array"), nb::arg("function"), "A tensor in the memory of an array.");
}

}  // namespace saltern::python
