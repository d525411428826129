#include "runtime/data/idx.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "runtime/data/byte_order.h"
#include "runtime/file.h"

namespace saltern {

namespace {

constexpr size_t max_rank = 8;
constexpr size_t chunk = size_t{1} << 20;

struct IdxType {
  uint8_t code;
  std::string_view name;
  bool supported;
  Type type;
};

constexpr std::array<IdxType, 6> idx_types = {{
    {0x08, "unsigned byte", true, Type::u8},
    {0x09, "signed byte", false, Type::u8},
    {0x0b, "16-bit integer", false, Type::i32},
    {0x0c, "32-bit integer", true, Type::i32},
    {0x0d, "32-bit float", true, Type::f32},
    {0x0e, "64-bit float", true, Type::f64},
}};

// A file seen through gzip, or as it is if it is not compressed.
class Stream {
 public:
  explicit Stream(const std::string &path) : input_(path) {
    const int descriptor = dup(input_.descriptor());
    file_.reset(descriptor < 0 ? nullptr : gzdopen(descriptor, "rb"));
    if (!file_) {
      if (descriptor >= 0) close(descriptor);
      fail("cannot read ", path, ": no memory or file descriptor is left");
    }
  }

  // The most bytes that can come out of it.
  uint64_t capacity() const { return gzdirect(file_.get()) ? input_.size() : input_.size() * deflate_expansion; }

  void read(void *to, uint64_t bytes, const char *what) const {
    char *at = static_cast<char *>(to);
    for (uint64_t left = bytes; left > 0;) {
      const int got = gzread(file_.get(), at, static_cast<unsigned>(std::min<uint64_t>(left, chunk)));
      if (got <= 0) fail_to_read(what, bytes - left, bytes);
      at += got;
      left -= static_cast<uint64_t>(got);
    }
  }

  // Reading up to the end also checks the checksum.
  void expect_end() const {
    char more = 0;
    const int got = gzread(file_.get(), &more, 1);
    if (got > 0) fail(input_.path(), " goes on after the elements that its header claims");
    int error = Z_OK;
    const char *why = gzerror(file_.get(), &error);
    if (got < 0 || error != Z_OK) fail(input_.path(), " is damaged: ", why);
  }

 private:
  [[noreturn]] void fail_to_read(const char *what, uint64_t got, uint64_t wanted) const {
    int error = Z_OK;
    const char *why = gzerror(file_.get(), &error);
    if (error != Z_OK && error != Z_BUF_ERROR) fail(input_.path(), " is damaged: ", why);
    fail(input_.path(), " is truncated: ", what, " should have ", wanted, " bytes and has ", got);
  }

  struct Close {
    void operator()(gzFile f) const { gzclose(f); }
  };
  InputFile input_;
  std::unique_ptr<gzFile_s, Close> file_;
};

uint32_t big_endian(const uint8_t *b) {
  return uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 | uint32_t{b[3]};
}

Type element_type(const std::string &path, uint8_t code) {
  for (const IdxType &t : idx_types) {
    if (t.code != code) continue;
    if (!t.supported) fail(path, ": IDX elements of type '", t.name, "' are not supported");
    return t.type;
  }
  fail(path, ": ", static_cast<int>(code), " is not an IDX element type");
}

}  // namespace

Tensor read_idx(const std::string &path, const IdxOptions &options) {
  const Stream stream(path);
  std::array<uint8_t, 4> magic = {};
  stream.read(magic.data(), magic.size(), "the IDX header");
  if (magic[0] != 0 || magic[1] != 0) fail(path, " is not an IDX file: it does not begin with two zero bytes");
  const Type type = element_type(path, magic[2]);
  const size_t rank = magic[3];
  if (rank < 1 || rank > max_rank) fail(path, ": rank ", rank, " is outside 1 to ", max_rank);

  std::array<uint8_t, 4 *max_rank> extents = {};
  stream.read(extents.data(), 4 * rank, "the list of extents");
  Shape shape;
  for (size_t d = 0; d < rank; ++d) shape.push_back(big_endian(&extents[4 * d]));

  uint64_t bytes = static_cast<uint64_t>(facts(type).bytes());
  const bool none = std::count(shape.begin(), shape.end(), 0) > 0;
  for (int64_t e : shape)
    if (none || __builtin_mul_overflow(bytes, static_cast<uint64_t>(e), &bytes)) bytes = none ? 0 : UINT64_MAX;
  if (bytes > stream.capacity())
    fail(path, " is truncated: its header claims a shape of ", to_string(shape), ", more than the file can hold");
  if (bytes > options.max_bytes)
    fail(path, " claims a shape of ", to_string(shape), ", ", bytes, " bytes; at most ", options.max_bytes,
         " are read");

  Tensor t = Tensor::empty(std::move(shape), type);
  stream.read(t.raw(), bytes, "the data");
  stream.expect_end();
  reverse_bytes(t);
  return t;
}

}  // namespace saltern
