#include "runtime/data/png.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "runtime/files/file.h"

// libpng reports errors by longjmp, which skips destructors. So each function here that calls setjmp has only plain
// values as locals; what needs destruction lives in the caller's frame, which longjmp never leaves.

namespace saltern {

namespace {

constexpr png_uint_32 max_side = 1 << 20;
constexpr png_alloc_size_t max_chunk = 8 << 20;  // of what is not pixels

struct Reader {
  explicit Reader(const std::vector<uint8_t> &bytes) : at(bytes.data()), left(bytes.size()) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, remember_and_jump, [](png_structp, png_const_charp) {});
    info = png ? png_create_info_struct(png) : nullptr;
    if (!info) {
      png_destroy_read_struct(&png, nullptr, nullptr);
      fail("out of memory for libpng");
    }
    png_set_read_fn(png, this, take);
  }
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  Reader(const Reader &) = delete;
  Reader &operator=(const Reader &) = delete;

  [[noreturn]] static void remember_and_jump(png_structp png, png_const_charp text) {
    auto *r = static_cast<Reader *>(png_get_error_ptr(png));
    std::snprintf(r->message, sizeof r->message, "%s", text);
    png_longjmp(png, 1);
  }

  static void take(png_structp png, png_bytep to, size_t bytes) {
    auto *r = static_cast<Reader *>(png_get_io_ptr(png));
    if (bytes > r->left) png_error(png, "the file is truncated");
    std::memcpy(to, r->at, bytes);
    r->at += bytes;
    r->left -= bytes;
  }

  char message[256] = "unknown error";
  png_structp png = nullptr;
  png_infop info = nullptr;
  const uint8_t *at;
  size_t left;
};

bool read_header(Reader &r, uint64_t max_bytes) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  png_set_user_limits(r.png, max_side, max_side);
  png_set_chunk_malloc_max(r.png, std::min<png_alloc_size_t>(max_chunk, max_bytes));
  png_set_chunk_cache_max(r.png, 64);
  // Of what need not be there, only transparency is read: for a text, a profile or a scale libpng would allocate what
  // it claims to hold, or to become when unpacked.
  png_set_keep_unknown_chunks(r.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(r.png, r.info);
  return true;
}

bool set_conversions(Reader &r, Channels channels) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  const png_byte colour = png_get_color_type(r.png, r.info);
  const bool alpha = (colour & PNG_COLOR_MASK_ALPHA) || png_get_valid(r.png, r.info, PNG_INFO_tRNS);
  png_set_scale_16(r.png);
  png_set_expand(r.png);
  if (channels == Channels::grey && (colour & PNG_COLOR_MASK_COLOR)) png_set_rgb_to_gray(r.png, 1, -1, -1);
  if (channels == Channels::rgb || (channels == Channels::as_stored && alpha)) png_set_gray_to_rgb(r.png);
  if (channels != Channels::as_stored) png_set_strip_alpha(r.png);
  png_set_interlace_handling(r.png);
  png_read_update_info(r.png, r.info);
  return true;
}

bool read_rows(Reader &r, png_bytepp rows) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  png_read_image(r.png, rows);
  png_read_end(r.png, nullptr);
  return true;
}

std::vector<png_bytep> rows_of(const Tensor &picture) {
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < picture.extent(0); ++y) rows.push_back(picture.data<uint8_t>() + y * picture.strides()[0]);
  return rows;
}

}  // namespace

Tensor decode_png(const std::vector<uint8_t> &bytes, const std::string &name, const PngOptions &options) {
  Reader r(bytes);
  if (bytes.size() < 8 || png_sig_cmp(bytes.data(), 0, 8) != 0) fail(name, " is not a PNG file");
  const auto expect = [&](bool good) {
    if (!good) fail("cannot read ", name, ": ", r.message);
  };
  expect(read_header(r, options.max_bytes));
  const uint64_t height = png_get_image_height(r.png, r.info), width = png_get_image_width(r.png, r.info);
  const uint64_t stored = png_get_rowbytes(r.png, r.info) * height;
  if (stored > bytes.size() * deflate_expansion)
    fail("cannot read ", name, ": it claims ", width, " x ", height, " pixels, more than the file can hold");
  expect(set_conversions(r, options.channels));
  const uint64_t row = png_get_rowbytes(r.png, r.info);
  const int channels = png_get_channels(r.png, r.info);
  if (row * height > options.max_bytes)
    fail("cannot read ", name, ": ", width, " x ", height, " pixels are more than the limit of ", options.max_bytes,
         " bytes");
  if (row != width * static_cast<uint64_t>(channels)) fail("cannot read ", name, ": unexpected row size ", row);

  Tensor picture = Tensor::zeros({static_cast<int64_t>(height), static_cast<int64_t>(width), channels}, Type::u8);
  std::vector<png_bytep> rows = rows_of(picture);
  expect(read_rows(r, rows.data()));
  return picture;
}

Tensor read_png(const std::string &path, const PngOptions &options) {
  return decode_png(read_file(path, options.max_bytes), path, options);
}

std::vector<uint8_t> encode_png(const Tensor &picture) {
  constexpr png_uint_32 none = 0;
  constexpr png_uint_32 formats[] = {none, PNG_FORMAT_GRAY, none, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
  const int64_t channels = picture.rank() == 2 ? 1 : picture.rank() == 3 ? picture.extent(2) : 0;
  if (picture.type() != Type::u8 || channels < 0 || channels > 4 || (channels != 1 && channels < 3) ||
      picture.size() == 0 || picture.extent(0) > max_side || picture.extent(1) > max_side)
    fail("a picture is u8 (height, width, 1, 3 or 4), not ", facts(picture.type()).name, to_string(picture.shape()));
  const Tensor dense = picture.in_layout(Layout::row_major);
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(dense.extent(1));
  image.height = static_cast<png_uint_32>(dense.extent(0));
  image.format = formats[channels];
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<uint8_t> bytes(size);
  if (!png_image_write_to_memory(&image, bytes.data(), &size, /*convert_to_8bit=*/0, dense.raw(), 0, nullptr))
    fail(image.message);
  bytes.resize(size);
  return bytes;
}

void write_png(const std::string &path, const Tensor &picture) {
  std::vector<uint8_t> bytes;
  try {
    bytes = encode_png(picture);
  } catch (const Error &e) {
    fail("cannot write ", path, ": ", e.what());
  }
  write_atomically(path, {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
}

}  // namespace saltern
