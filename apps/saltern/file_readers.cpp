#include "apps/saltern/file_readers.h"

namespace saltern {

const std::vector<FileReader> &file_readers() {
  static const std::vector<FileReader> readers = {};
  return readers;
}

}  // namespace saltern
