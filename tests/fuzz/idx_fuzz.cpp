// Bytes as IDX data, plain or compressed.

#include "runtime/data/idx.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    saltern::decode_idx({data, data + size}, "data");
  } catch (const saltern::Error &) {  // what bad bytes get
  }
  return 0;
}
