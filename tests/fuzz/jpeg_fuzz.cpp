// Bytes as a JPEG picture.

#include "runtime/data/jpeg.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    saltern::PngOptions options;
    options.max_bytes = 16 << 20;
    saltern::decode_jpeg({data, data + size}, "picture", options);
  } catch (const saltern::Error &) {  // what bad bytes get
  }
  return 0;
}
