// Bytes as an array of NumPy's.

#include "runtime/tensor/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    saltern::decode_npy({data, data + size}, "array");
  } catch (const saltern::Error &) {  // what bad bytes get
  }
  return 0;
}
