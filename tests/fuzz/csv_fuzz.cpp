// Bytes as a table of cells.

#include "runtime/data/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    saltern::CsvOptions options;
    options.has_names = size % 2 == 0;
    saltern::decode_csv({data, data + size}, "table", options);
  } catch (const saltern::Error &) {  // what bad bytes get
  }
  return 0;
}
