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

struct Message {
  char text[256] = "unknown error";
};

[[noreturn]] void remember_and_jump(png_structp png, png_const_charp text) {
  auto *message = static_cast<Message *>(png_get_error_ptr(png));
  std::snprintf(message->text, sizeof message->text, "%s", text);
  png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

struct Reader {
  explicit Reader(const std::vector<uint8_t> &bytes) : at(bytes.data()), left(bytes.size()) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &message, remember_and_jump, ignore_warning);
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

  static void take(png_structp png, png_bytep to, size_t bytes) {
    auto *r = static_cast<Reader *>(png_get_io_ptr(png));
    if (bytes > r->left) png_error(png, "the file is truncated");
    std::memcpy(to, r->at, bytes);
    r->at += bytes;
    r->left -= bytes;
  }

  Message message;
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

struct Writer {
  Writer() {
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &message, remember_and_jump, ignore_warning);
    info = png ? png_create_info_struct(png) : nullptr;
    if (!info) {
      png_destroy_write_struct(&png, nullptr);
      fail("out of memory for libpng");
    }
    png_set_write_fn(png, this, give, [](png_structp) {});
  }
  ~Writer() { png_destroy_write_struct(&png, &info); }
  Writer(const Writer &) = delete;
  Writer &operator=(const Writer &) = delete;

  bool append(png_const_bytep from, size_t count) noexcept {
    try {
      bytes.insert(bytes.end(), from, from + count);
      return true;
    } catch (const std::bad_alloc &) {
      return false;
    }
  }
  static void give(png_structp png, png_bytep from, size_t count) {
    if (!static_cast<Writer *>(png_get_io_ptr(png))->append(from, count)) png_error(png, "out of memory");
  }

  Message message;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::vector<uint8_t> bytes;
};

bool write_rows(Writer &w, png_uint_32 width, png_uint_32 height, int colour, png_bytepp rows) {
  if (setjmp(png_jmpbuf(w.png))) return false;
  png_set_IHDR(w.png, w.info, width, height, 8, colour, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(w.png, w.info);
  png_write_image(w.png, rows);
  png_write_end(w.png, nullptr);
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
    if (!good) fail("cannot read ", name, ": ", r.message.text);
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

void write_png(const std::string &path, const Tensor &picture) {
  constexpr int colours[] = {-1, PNG_COLOR_TYPE_GRAY, -1, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGBA};
  const int64_t channels = picture.rank() == 2 ? 1 : picture.rank() == 3 ? picture.extent(2) : 0;
  if (picture.type() != Type::u8 || channels < 0 || channels > 4 || (channels != 1 && channels < 3) ||
      picture.size() == 0 || picture.extent(0) > max_side || picture.extent(1) > max_side)
    fail("cannot write ", path, ": a picture is u8 (height, width, 1, 3 or 4), not ", facts(picture.type()).name,
         to_string(picture.shape()));
  const Tensor dense = picture.in_layout(Layout::row_major);
  std::vector<png_bytep> rows = rows_of(dense);
  Writer w;
  if (!write_rows(w, static_cast<png_uint_32>(dense.extent(1)), static_cast<png_uint_32>(dense.extent(0)),
                  colours[channels], rows.data()))
    fail("cannot write ", path, ": ", w.message.text);
  AtomicFile file(path);
  file.write(w.bytes.data(), w.bytes.size());
  file.commit();
}

}  // namespace saltern
