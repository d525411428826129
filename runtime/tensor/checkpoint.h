#pragma once
// Checkpoints: named tensors and metadata in one safetensors file, which other tools read too.
//   8 bytes: length of the header, little-endian; then the header, JSON; then the elements, row major.
// Whatever a tensor's strides, the file holds its public shape (N, C, H, W) in row-major order.

#include <map>
#include <string>

#include "runtime/tensor/tensor.h"

namespace saltern {

struct Checkpoint {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;

  // The tensor of that name; its absence, another shape or another type is an error that names all of these.
  const Tensor &expect(const std::string &name, const Shape &shape, Type type = Type::f32) const;
};

// Writes atomically: until it returns, `path` holds what it held before.
void save_checkpoint(const std::string &path, const Checkpoint &checkpoint);

struct LoadOptions {
  // Errors that name the tensor and the index:
  bool expect_finite = false;   // infinities and NaN
  bool expect_numbers = false;  // NaN; infinities are what masks are made of
};

// Tensors in row-major memory of their own, 64-byte aligned. Every claim of the header is checked against the size of
// the file before anything is allocated for it.
Checkpoint load_checkpoint(const std::string &path, const LoadOptions &options = {});
// The same from memory; errors call it `name`.
Checkpoint decode_checkpoint(const std::vector<uint8_t> &bytes, const std::string &name,
                             const LoadOptions &options = {});

// Fails if an element is infinite or not a number; `context` begins the message.
void expect_finite(const Tensor &tensor, const std::string &context);
// Likewise, where infinities are welcome.
void expect_numbers(const Tensor &tensor, const std::string &context);

}  // namespace saltern
