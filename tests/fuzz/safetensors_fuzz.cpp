// Bytes as tensors, or as a model that was saved here.

#include "runtime/graph/flops.h"
#include "runtime/graph/model_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    const std::vector<uint8_t> bytes(data, data + size);
    if (saltern::holds_model(saltern::decode_checkpoint(bytes, "file")))
      saltern::flops(saltern::decode_model(bytes, "file"));
  } catch (const saltern::Error &) {  // what bad bytes get
  }
  return 0;
}
