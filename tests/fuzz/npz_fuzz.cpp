// Bytes as an archive of NumPy's arrays.

#include "runtime/tensor/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    saltern::decode_npz({data, data + size}, "archive", {1 << 24});
  } catch (const saltern::Error &) {  // what bad bytes get
  }
  return 0;
}
