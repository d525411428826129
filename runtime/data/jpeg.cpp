#include "runtime/data/jpeg.h"

#include <csetjmp>
#include <cstdio>
// It needs the two above.
#include <jpeglib.h>

#include "runtime/files/file.h"

// libjpeg reports errors through a function that must not return. As in png.cpp, functions that call setjmp have only plain
// values as locals.

namespace saltern {

namespace {

// A picture may come in parts, each of which goes over all pixels: a small file of many would take hours.
constexpr int most_scans = 100;

struct Reader {
  Reader() {
    decoder.err = jpeg_std_error(&errors);
    decoder.client_data = this;
    errors.error_exit = [](j_common_ptr d) {
      auto *r = static_cast<Reader *>(d->client_data);
      r->errors.format_message(d, r->message);
      std::longjmp(r->jump, 1);
    };
    errors.emit_message = [](j_common_ptr d, int level) {
      if (level < 0) d->err->error_exit(d);  // a warning: the data are damaged
    };
  }
  ~Reader() { jpeg_destroy_decompress(&decoder); }
  Reader(const Reader &) = delete;
  Reader &operator=(const Reader &) = delete;

  jpeg_decompress_struct decoder = {};
  jpeg_error_mgr errors = {};
  jpeg_progress_mgr progress = {};
  std::jmp_buf jump = {};
  char message[JMSG_LENGTH_MAX] = "unknown error";
};

bool read_header(Reader &r, const std::vector<uint8_t> &bytes, uint64_t max_bytes) {
  if (setjmp(r.jump)) return false;
  jpeg_create_decompress(&r.decoder);
  r.decoder.mem->max_memory_to_use = static_cast<long>(max_bytes);
  r.progress.progress_monitor = [](j_common_ptr d) {
    auto *r = static_cast<Reader *>(d->client_data);
    if (r->decoder.input_scan_number <= most_scans) return;
    std::snprintf(r->message, sizeof r->message, "it has more than %d scans", most_scans);
    std::longjmp(r->jump, 1);
  };
  r.decoder.progress = &r.progress;
  jpeg_mem_src(&r.decoder, bytes.data(), static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&r.decoder, TRUE);
  return true;
}

bool read_rows(Reader &r, uint8_t *to, size_t row) {
  if (setjmp(r.jump)) return false;
  jpeg_start_decompress(&r.decoder);
  while (r.decoder.output_scanline < r.decoder.output_height) {
    JSAMPROW at = to + row * r.decoder.output_scanline;
    jpeg_read_scanlines(&r.decoder, &at, 1);
  }
  jpeg_finish_decompress(&r.decoder);
  return true;
}

}  // namespace

Tensor decode_jpeg(const std::vector<uint8_t> &bytes, const std::string &name, const PngOptions &options) {
  if (bytes.size() < 3 || bytes[0] != 0xff || bytes[1] != 0xd8) fail(name, " is not a JPEG file");
  Reader r;
  const auto expect = [&](bool good) {
    if (!good) fail("cannot read ", name, ": ", r.message);
  };
  expect(read_header(r, bytes, options.max_bytes));
  if (r.decoder.num_components != 1 && r.decoder.num_components != 3)
    fail("cannot read ", name, ": it has ", r.decoder.num_components, " channels; grey and colour pictures are read");
  const bool grey =
      options.channels == Channels::grey || (options.channels == Channels::as_stored && r.decoder.num_components == 1);
  r.decoder.out_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
  const int64_t height = r.decoder.image_height, width = r.decoder.image_width, channels = grey ? 1 : 3;
  // Decoding in several scans takes two bytes a value.
  if (static_cast<uint64_t>(height) * static_cast<uint64_t>(width) * 6 > options.max_bytes)
    fail("cannot read ", name, ": its ", width, " x ", height, " pixels take more than ", options.max_bytes, " bytes");
  const Tensor picture = Tensor::empty({height, width, channels}, Type::u8);
  expect(read_rows(r, picture.data<uint8_t>(), static_cast<size_t>(width * channels)));
  return picture;
}

Tensor read_picture(const std::string &path, const PngOptions &options) {
  const std::vector<uint8_t> bytes = read_file(path, options.max_bytes);
  if (bytes.size() > 1 && bytes[0] == 0xff && bytes[1] == 0xd8) return decode_jpeg(bytes, path, options);
  if (bytes.size() > 1 && bytes[0] == 0x89 && bytes[1] == 'P') return decode_png(bytes, path, options);
  fail(path, " is neither a PNG nor a JPEG file");
}

}  // namespace saltern
