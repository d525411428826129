// ImageDecoder: the bytes of a picture file to u8 (height, width, channels). PNG, BMP without compression and PNM are
// read; the other formats are named and refused. A file that is damaged gives an empty picture, as the operator says.

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>

#include "runtime/data/png.h"
#include "runtime/onnx/operators/choices.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using Bytes = std::vector<uint8_t>;

constexpr int64_t most_pixels = int64_t{1} << 26;

Tensor picture(int64_t height, int64_t width) {
  if (height < 1 || width < 1 || height > most_pixels / width) fail("a picture of ", height, " x ", width);
  return Tensor::empty({height, width, 3}, Type::u8);
}

Tensor read_png_bytes(const Bytes &file) {
  PngOptions options;
  options.channels = Channels::rgb;
  return decode_png(file, "the picture", options);
}

uint32_t little_endian(const Bytes &file, size_t at, int bytes) {
  if (at + static_cast<size_t>(bytes) > file.size()) fail("the file ends early");
  uint32_t v = 0;
  for (int k = bytes - 1; k >= 0; --k) v = v << 8 | file[at + static_cast<size_t>(k)];
  return v;
}

// Rows of blue, green, red (and a byte unused), padded to four bytes, the last row first unless the height is negative.
Tensor read_bmp(const Bytes &file) {
  const size_t pixels = little_endian(file, 10, 4);
  const auto width = static_cast<int32_t>(little_endian(file, 18, 4)),
             height = static_cast<int32_t>(little_endian(file, 22, 4));
  const uint32_t bits = little_endian(file, 28, 2), compression = little_endian(file, 30, 4);
  if (little_endian(file, 14, 4) < 40 || (bits != 24 && bits != 32) || compression != 0)
    unsupported("BMP files of ", bits, " bits with compression ", compression);
  const int64_t rows = height < 0 ? -int64_t{height} : height, step = bits / 8;
  const Tensor y = picture(rows, width);
  const size_t stride = (static_cast<size_t>(width * step) + 3) / 4 * 4;
  if (pixels > file.size() || stride * static_cast<size_t>(rows) > file.size() - pixels) fail("the file ends early");
  for (int64_t row = 0; row < rows; ++row) {
    const uint8_t *from = file.data() + pixels + stride * static_cast<size_t>(height < 0 ? row : rows - 1 - row);
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < 3; ++c) y.data<uint8_t>()[(row * width + x) * 3 + c] = from[x * step + 2 - c];
  }
  return y;
}

// P2 and P3 are numbers in words, P5 and P6 bytes; 2 and 5 grey, 3 and 6 RGB.
class PnmReader {
 public:
  explicit PnmReader(const Bytes &file) : file_(file) {}

  Tensor read() {
    const char kind = static_cast<char>(file_.at(1));
    if (kind != '2' && kind != '3' && kind != '5' && kind != '6') unsupported("PNM files of the kind P", kind);
    at_ = 2;
    const int64_t width = number(), height = number(), most = number();
    if (most < 1 || most > 255) unsupported("PNM files with values up to ", most);
    const bool words = kind < '4', grey = kind == '2' || kind == '5';
    if (!words) ++at_;  // one blank
    const Tensor y = picture(height, width);
    uint8_t *to = y.data<uint8_t>();
    for (int64_t i = 0; i < y.size(); i += grey ? 3 : 1) {
      const int64_t v = words ? number() : byte();
      std::fill_n(to + i, grey ? 3 : 1, static_cast<uint8_t>((std::min(v, most) * 255 + most / 2) / most));
    }
    return y;
  }

 private:
  uint8_t byte() {
    if (at_ >= file_.size()) fail("the file ends early");
    return file_[at_++];
  }

  int64_t number() {
    uint8_t c = byte();
    while (std::isspace(c) || c == '#') {
      if (c == '#')
        while (c != '\n') c = byte();
      c = byte();
    }
    int64_t v = 0;
    for (; c >= '0' && c <= '9'; c = byte()) {
      v = std::min<int64_t>(v * 10 + c - '0', most_pixels);
      if (at_ == file_.size()) return v;
    }
    if (!std::isspace(c)) fail("expected a number");
    --at_;
    return v;
  }

  const Bytes &file_;
  size_t at_ = 0;
};

Tensor read_pnm(const Bytes &file) { return PnmReader(file).read(); }

struct Format {
  const char *name;
  std::string_view begins;
  Tensor (*read)(const Bytes &file);  // null: known by name only
};

using namespace std::string_view_literals;

const Format formats[] = {
    {"PNG", "\x89PNG"sv, read_png_bytes},
    {"BMP", "BM"sv, read_bmp},
    {"PNM", "P"sv, read_pnm},
    {"JPEG", "\xFF\xD8"sv, nullptr},
    {"JPEG 2000", "\0\0\0\x0CjP"sv, nullptr},
    {"JPEG 2000", "\xFF\x4F\xFF\x51"sv, nullptr},
    {"TIFF", "II*\0"sv, nullptr},
    {"TIFF", "MM\0*"sv, nullptr},
    {"WebP", "RIFF"sv, nullptr},
};

Tensor decoded(const Bytes &file) {
  for (const Format &f : formats)
    if (file.size() >= f.begins.size() && std::memcmp(file.data(), f.begins.data(), f.begins.size()) == 0) {
      if (!f.read) unsupported(f.name, " pictures");
      return f.read(file);
    }
  fail("this is no picture");
}

// Grey by the weights of ITU-R BT.601, as pictures of video are.
Tensor in_pixel_format(const Tensor &rgb, const std::string &format) {
  if (format == "RGB") return rgb;
  const bool grey = format == "Grayscale";
  const Tensor y = Tensor::empty({rgb.extent(0), rgb.extent(1), grey ? 1 : 3}, Type::u8);
  const uint8_t *from = rgb.data<uint8_t>();
  uint8_t *to = y.data<uint8_t>();
  for (int64_t i = 0; i < rgb.size() / 3; ++i, from += 3)
    if (grey)
      *to++ = static_cast<uint8_t>((from[0] * 19595 + from[1] * 38470 + from[2] * 7471 + 0x8000) >> 16);
    else
      to = std::reverse_copy(from, from + 3, to);
  return y;
}

std::vector<HostValue> decode(const HostCall &c) {
  const std::string format =
      one_of({"RGB", "BGR", "Grayscale"}, "pixel_format", c.attributes().word("pixel_format", "RGB"));
  const Tensor bytes = c.tensor(0).in_layout(Layout::row_major);
  const Bytes file(bytes.data<uint8_t>(), bytes.data<uint8_t>() + bytes.size());
  try {
    return {in_pixel_format(decoded(file), format)};
  } catch (const Unsupported &) {
    throw;
  } catch (const std::exception &) {
    return {Tensor::empty({0, 0, format == "Grayscale" ? 1 : 3}, Type::u8)};
  }
}

}  // namespace

const OperatorList image_operators = {{"ImageDecoder", nullptr, decode}};

}  // namespace saltern
