#include "runtime/onnx/operators/onnx_types.h"

#include "runtime/onnx/operators/lowering.h"

namespace saltern {

namespace {

struct OnnxType {
  Type type;
  int number;
};

// TensorProto.DataType of ONNX; 14 and 15 are complex numbers.
constexpr OnnxType onnx_types[] = {
    {Type::f32, 1},         {Type::u8, 2},      {Type::i8, 3},          {Type::u16, 4},     {Type::i16, 5},
    {Type::i32, 6},         {Type::i64, 7},     {Type::text, 8},        {Type::boolean, 9}, {Type::f16, 10},
    {Type::f64, 11},        {Type::u32, 12},    {Type::u64, 13},        {Type::bf16, 16},   {Type::f8e4m3fn, 17},
    {Type::f8e4m3fnuz, 18}, {Type::f8e5m2, 19}, {Type::f8e5m2fnuz, 20}, {Type::u4, 21},     {Type::i4, 22},
    {Type::f4e2m1, 23},     {Type::f8e8m0, 24}, {Type::u2, 25},         {Type::i2, 26},
};

}  // namespace

Type type_of_onnx(int64_t number) {
  for (const OnnxType &t : onnx_types)
    if (t.number == number) return t.type;
  if (number == 14 || number == 15) unsupported("complex numbers (ONNX type ", number, ")");
  fail("ONNX has no element type ", number);
}

int onnx_type(Type type) {
  for (const OnnxType &t : onnx_types)
    if (t.type == type) return t.number;
  fail("ONNX has no type for ", facts(type).name);
}

}  // namespace saltern
