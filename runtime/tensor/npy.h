#pragma once
// NumPy's files of one array, .npy:
//   "\x93NUMPY", a version, the length of a header, the header (a Python dictionary that tells type, order and shape),
//   then the elements.
// Booleans, integers of 8 to 64 bits and floats of 16, 32 and 64 are read, big-endian ones and those in Fortran's order
// too, and written; what else NumPy has (texts, objects, records, complex numbers) and what NumPy has not (bf16 and
// smaller) is refused by name.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace saltern {

// A row-major tensor. Nothing is allocated for a header that claims another size than the file has. Errors name the
// file and the fault.
Tensor read_npy(const std::string &path);
// The same without reading the elements, which come in when they are looked at: arrays larger than memory. Whoever writes to
// them changes a copy. Big-endian elements, truth values, of which any byte but 0 is one, and Fortran's order are refused.
Tensor map_npy(const std::string &path);
// The same from memory; errors call it `name`.
Tensor decode_npy(const std::vector<uint8_t> &bytes, const std::string &name);

// The next bytes of a file that is read from its beginning on.
using NextBytes = std::function<void(void *to, uint64_t bytes)>;
// The same from such a file of `size` bytes. Undefined where `wants` says no to what the header says: then nothing is
// read after that.
Tensor decode_npy(const NextBytes &next, uint64_t size, const std::string &name,
                  const std::function<bool(Type, const Shape &)> &wants);

// Row major and little-endian, whatever the tensor's strides; atomically.
void write_npy(const std::string &path, const Tensor &tensor);
// The file's bytes; errors call it `name`.
std::vector<uint8_t> encode_npy(const Tensor &tensor, const std::string &name);

}  // namespace saltern
