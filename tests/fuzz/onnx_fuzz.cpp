// Bytes as an ONNX model, and what `saltern info` does with one: import, checks, lowering.

#include "runtime/graph/flops.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/onnx/lower_model.h"
#include "runtime/tensor/memory.h"

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  saltern::set_threads(1);
  saltern::set_memory_limit(size_t{1} << 28);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    const saltern::Model model = saltern::decode_onnx({data, data + size}, "model", "no-such-folder");
    saltern::flops(saltern::lower_model(model, {}, saltern::quick_limits(model)));
  } catch (const saltern::Error &) {  // what bad bytes get
  }
  return 0;
}
