#pragma once
// JPEG pictures, by libjpeg-turbo. A picture is as png.h has it: u8 (height, width, channels), row major.

#include "runtime/data/png.h"

namespace saltern {

// Grey or RGB of 8 bits; Channels::grey and Channels::rgb convert. What libjpeg would mend with grey pixels and a warning, a
// file that is cut short or damaged, is an error here. Of the options, max_bytes bounds the file, its pixels, and what
// decoding takes.
Tensor decode_jpeg(const std::vector<uint8_t> &bytes, const std::string &name, const PngOptions &options = {});

// A PNG or a JPEG file, whatever its name says.
Tensor read_picture(const std::string &path, const PngOptions &options = {});

}  // namespace saltern
