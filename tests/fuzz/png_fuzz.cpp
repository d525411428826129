// Bytes as a PNG picture.

#include "runtime/data/png.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    saltern::decode_png({data, data + size}, "picture");
  } catch (const saltern::Error &) {  // what bad bytes get
  }
  return 0;
}
