#pragma once
// NumPy's files of several named arrays, .npz: a ZIP archive of .npy files.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace saltern {

struct NpzOptions {
  uint64_t max_bytes = uint64_t{4} << 30;  // of all arrays together; more is refused before it is allocated
  // Asked before an array is unpacked, which a small file may hold a large one of: what it says no to is left out. All
  // are wanted where there is nobody to ask.
  std::function<bool(const std::string &array, Type type, const Shape &shape)> wants = {};
};

// By name, without the ending .npy. Takes the memory of the arrays and no more. Errors name the file, the array and the
// fault.
std::map<std::string, Tensor> read_npz(const std::string &path, const NpzOptions &options = {});
// The same from memory; errors call it `name`.
std::map<std::string, Tensor> decode_npz(const std::vector<uint8_t> &bytes, const std::string &name,
                                         const NpzOptions &options = {});

// Atomically; deflated as numpy.savez_compressed does it, or stored as numpy.savez. The same arrays give the same bytes.
void write_npz(const std::string &path, const std::map<std::string, Tensor> &tensors, bool compressed = false);

}  // namespace saltern
