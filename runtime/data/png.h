#pragma once
// PNG pictures. A picture is a u8 tensor (height, width, channels), row major: 1 channel is grey, 3 RGB, 4 RGBA.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace saltern {

enum class Channels { as_stored, grey, rgb };

struct PngOptions {
  Channels channels = Channels::as_stored;
  uint64_t max_bytes = uint64_t{256} << 20;  // of the file and of its pixels; more is refused before it is allocated
};

// Palettes, fewer than 8 bits, 16 bits and grey with alpha are converted: what comes out is grey, RGB or RGBA of 8
// bits. Channels::grey and Channels::rgb drop alpha; RGB becomes grey by the weights of ITU-R BT.709.
Tensor read_png(const std::string &path, const PngOptions &options = {});
// The same from memory; errors call it `name`.
Tensor decode_png(const std::vector<uint8_t> &bytes, const std::string &name, const PngOptions &options = {});

// Writes u8 (height, width) or (height, width, 1, 3 or 4), atomically.
void write_png(const std::string &path, const Tensor &picture);
// The same into memory.
std::vector<uint8_t> encode_png(const Tensor &picture);

}  // namespace saltern
