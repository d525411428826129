#pragma once
// IDX files, the format of MNIST and its kin, plain or compressed with gzip:
//   two zero bytes, an element type, a rank, then an extent (32 bits) for each dimension, then the elements,
//   row major; all numbers big-endian.

#include <cstdint>
#include <string>

#include "runtime/tensor/tensor.h"

namespace saltern {

struct IdxOptions {
  uint64_t max_bytes = uint64_t{4} << 30;  // of the elements; a file that claims more is refused
};

// A row-major tensor of the file's shape and type. Nothing is allocated for a header that claims more than the file
// can hold: its own size if it is plain, 1032 times that if compressed (no deflate stream does better).
Tensor read_idx(const std::string &path, const IdxOptions &options = {});
// The same from memory; errors call it `name`.
Tensor decode_idx(const std::vector<uint8_t> &bytes, const std::string &name, const IdxOptions &options = {});

}  // namespace saltern
