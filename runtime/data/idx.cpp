#include "runtime/data/idx.h"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "runtime/files/file.h"
#include "runtime/tensor/element.h"

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

// Bytes seen through gzip, or as they are if they are not compressed.
class Stream {
 public:
  explicit Stream(const ByteSource &source) : source_(source) {
    std::array<uint8_t, 2> magic = {};
    source_.read(magic.data(), std::min<uint64_t>(magic.size(), source_.size()), 0);
    compressed_ = magic[0] == 0x1f && magic[1] == 0x8b;
    constexpr int gzip = 15 + 16;  // the largest window, and gzip's header before it
    if (compressed_ && inflateInit2(&z_, gzip) != Z_OK) fail("cannot read ", source_.path(), ": no memory is left");
  }
  ~Stream() { inflateEnd(&z_); }
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  // The most bytes that can come out of it.
  uint64_t capacity() const { return compressed_ ? source_.size() * deflate_expansion : source_.size(); }

  void read(void *to, uint64_t bytes, const char *what) {
    const uint64_t got = take(to, bytes);
    if (got < bytes) fail(source_.path(), " is truncated: ", what, " should have ", bytes, " bytes and has ", got);
  }

  // Reading up to the end also checks the checksum.
  void expect_end() {
    char more = 0;
    if (take(&more, 1) > 0) fail(source_.path(), " goes on after the elements that its header claims");
    if (compressed_ && !ended_) fail(source_.path(), " is truncated: its checksum is missing");
  }

 private:
  // As many bytes as there are, `most` at most.
  uint64_t take(void *to, uint64_t most) {
    char *at = static_cast<char *>(to);
    uint64_t got = 0;
    while (got < most) {
      const uint64_t wanted = std::min<uint64_t>(most - got, chunk),
                     now = compressed_ ? unpack(at, wanted) : copy(at, wanted);
      if (now == 0) break;
      at += now;
      got += now;
    }
    return got;
  }

  uint64_t copy(char *to, uint64_t most) {
    const uint64_t now = std::min(most, source_.size() - at_);
    source_.read(to, now, at_);
    at_ += now;
    return now;
  }

  uint64_t unpack(char *to, uint64_t most) {
    z_.next_out = reinterpret_cast<Bytef *>(to);
    z_.avail_out = static_cast<uInt>(most);
    while (z_.avail_out > 0) {
      if (z_.avail_in == 0) fill();
      if (z_.avail_in == 0) break;
      if (ended_) inflateReset(&z_);  // what follows is one more file, packed for itself
      const int code = inflate(&z_, Z_NO_FLUSH);
      ended_ = code == Z_STREAM_END;
      if (code != Z_OK && !ended_)
        fail(source_.path(), " is damaged: ", z_.msg ? z_.msg : "its compressed data is wrong");
    }
    return most - z_.avail_out;
  }

  void fill() {
    const uint64_t now = std::min<uint64_t>(buffer_.size(), source_.size() - at_);
    source_.read(buffer_.data(), now, at_);
    at_ += now;
    z_.next_in = buffer_.data();
    z_.avail_in = static_cast<uInt>(now);
  }

  const ByteSource &source_;
  bool compressed_ = false, ended_ = false;
  uint64_t at_ = 0;  // what was taken of the source
  z_stream z_ = {};
  std::array<uint8_t, size_t{1} << 14> buffer_;
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

Tensor read(const ByteSource &source, const IdxOptions &options) {
  const std::string &path = source.path();
  Stream stream(source);
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

}  // namespace

Tensor read_idx(const std::string &path, const IdxOptions &options) { return read(InputFile(path), options); }

Tensor decode_idx(const std::vector<uint8_t> &bytes, const std::string &name, const IdxOptions &options) {
  return read(InputBytes(bytes, name), options);
}

}  // namespace saltern
