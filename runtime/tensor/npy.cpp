#include "runtime/tensor/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "runtime/files/file.h"
#include "runtime/tensor/element.h"

namespace saltern {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr size_t longest_header = 64 << 10;  // NumPy itself refuses more than 10000 characters
constexpr size_t max_rank = 32;
constexpr size_t header_alignment = 64;

// NumPy's name of a type without the byte order, a letter and a number of bytes; empty where it has none.
std::string code_of(const TypeFacts &t) {
  constexpr char letters[] = {'f', 'i', 'u', 'b'};
  if (!t.is_arithmetic() || t.type == Type::bf16) return "";
  return letters[static_cast<size_t>(t.kind)] + std::to_string(t.bytes());
}

struct Header {
  Type type = Type::f32;
  bool big_endian = false, fortran_order = false;
  Shape shape;
  uint64_t begin = 0;  // of the elements
};

// The header's dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderText {
 public:
  HeaderText(std::string_view text, const std::string &name) : text_(text), name_(name) {}

  Header parse() {
    Header h;
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr")
        parse_type(h), has_type = true;
      else if (key == "fortran_order")
        h.fortran_order = boolean(), has_order = true;
      else if (key == "shape")
        h.shape = tuple(), has_shape = true;
      else
        fault("has the key '" + std::string(key) + "'");
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    if (!has_type || !has_order || !has_shape) fault("lacks descr, fortran_order or shape");
    skip_blanks();
    if (at_ != text_.size()) fault("goes on after its dictionary");
    return h;
  }

 private:
  [[noreturn]] void fault(const std::string &what) const { fail(name_, ": the .npy header ", what); }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fault("has no '" + std::string(1, c) + "' at character " + std::to_string(at_));
  }
  bool take_word(std::string_view word) {
    skip_blanks();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::string_view quoted() {
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fault("has a text without an end");
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end + 1;
    return word;
  }

  bool boolean() {
    if (take_word("True")) return true;
    if (!take_word("False")) fault("has a fortran_order that is neither True nor False");
    return false;
  }

  Shape tuple() {
    Shape shape;
    expect('(');
    while (!take(')')) {
      skip_blanks();
      int64_t extent = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (error != std::errc() || extent < 0) fault("has a shape that is no list of extents");
      at_ = static_cast<size_t>(end - text_.data());
      take('L');  // as Python 2 wrote large numbers
      shape.push_back(extent);
      if (shape.size() > max_rank) fault("has more than " + std::to_string(max_rank) + " dimensions");
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  void parse_type(Header &h) {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '[') fail(name_, ": records are not supported, only plain arrays");
    const std::string_view code = quoted();
    const std::string_view orders = "<>|=";
    const bool has_order = !code.empty() && orders.find(code[0]) != std::string_view::npos;
    for (const TypeFacts &t : all_types())
      if (const std::string known = code_of(t); !known.empty() && known == code.substr(has_order ? 1 : 0)) {
        h.type = t.type;
        h.big_endian = code[0] == '>';
        return;
      }
    fail(name_, ": elements of NumPy's type '", code, "' are not supported");
  }

  std::string_view text_;
  const std::string &name_;
  size_t at_ = 0;
};

// How many bytes its elements have.
uint64_t bytes_of(const Header &h, const std::string &name) {
  uint64_t bytes = static_cast<uint64_t>(facts(h.type).bytes());
  // Strides are computed of arrays without elements, too.
  for (int64_t e : h.shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(std::max<int64_t>(e, 1)), &bytes) || bytes > INT64_MAX / 8)
      fail(name, ": the .npy header claims the impossible shape ", to_string(h.shape));
  return std::count(h.shape.begin(), h.shape.end(), 0) > 0 ? 0 : bytes;
}

uint64_t little_endian(const uint8_t *from, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value |= uint64_t{from[i]} << (8 * i);
  return value;
}

// Memory in which the first dimension is innermost, as a row-major tensor.
Tensor from_fortran_order(const Tensor &t) {
  std::vector<int> order(t.shape().size());
  std::iota(order.begin(), order.end(), 0);
  return t.viewed(t.shape(), dense_strides(t.shape(), order)).in_layout(Layout::row_major);
}

// What comes before the elements, and where these begin. Their bytes are what is left of the file.
Header read_header(const NextBytes &next, uint64_t size, const std::string &name) {
  std::array<uint8_t, 12> prefix = {};
  if (size >= magic.size()) next(prefix.data(), magic.size());
  if (std::memcmp(prefix.data(), magic.data(), magic.size()) != 0) fail(name, " is not an .npy file");
  if (size < prefix.size()) fail(name, " is truncated: it ends in the .npy header");
  next(&prefix[magic.size()], 10 - magic.size());
  const int version = prefix[6];
  if (version < 1 || version > 3) fail(name, " has version ", version, " of the .npy format; 1 to 3 are known");
  const size_t begin = version == 1 ? 10 : 12;
  next(&prefix[10], begin - 10);
  const uint64_t length = little_endian(&prefix[8], begin - 8);
  if (length > longest_header)
    fail(name, ": the .npy header has ", length, " characters; at most ", longest_header, " are read");
  if (length > size - begin) fail(name, " is truncated: it ends in the .npy header");
  std::string text(length, ' ');
  next(text.data(), length);
  Header h = HeaderText(text, name).parse();
  h.begin = begin + length;

  const uint64_t wanted = bytes_of(h, name), held = size - begin - length;
  if (wanted > held)
    fail(name, " is truncated: ", facts(h.type).name, to_string(h.shape), " has ", wanted, " bytes, the file ", held);
  if (wanted < held) fail(name, " goes on after the ", wanted, " bytes of ", facts(h.type).name, to_string(h.shape));
  return h;
}

}  // namespace

Tensor decode_npy(const NextBytes &next, uint64_t size, const std::string &name,
                  const std::function<bool(Type, const Shape &)> &wants) {
  const Header h = read_header(next, size, name);
  if (!wants(h.type, h.shape)) return {};
  const Tensor t = Tensor::empty(h.shape, h.type);
  if (t.size() > 0) next(t.raw(), t.bytes());
  if (h.big_endian) reverse_bytes(t);
  if (h.type == Type::boolean)
    for (int64_t i = 0; i < t.size(); ++i) {
      uint8_t &element = static_cast<uint8_t *>(t.raw())[i];
      element = element != 0;
    }
  return h.fortran_order && t.rank() > 1 && t.size() > 0 ? from_fortran_order(t) : t;
}

namespace {

Tensor decoded(const ByteSource &file) {
  uint64_t at = 0;
  const auto next = [&](void *to, uint64_t bytes) {
    file.read(to, bytes, at);
    at += bytes;
  };
  return decode_npy(next, file.size(), file.path(), [](Type, const Shape &) { return true; });
}

}  // namespace

Tensor decode_npy(const std::vector<uint8_t> &bytes, const std::string &name) {
  return decoded(InputBytes(bytes, name));
}

Tensor read_npy(const std::string &path) { return decoded(InputFile(path)); }

Tensor map_npy(const std::string &path) {
  const InputFile file(path);
  uint64_t at = 0;
  const auto next = [&](void *to, uint64_t bytes) {
    file.read(to, bytes, at);
    at += bytes;
  };
  const Header h = read_header(next, file.size(), path);
  if (h.big_endian || h.type == Type::boolean || (h.fortran_order && h.shape.size() > 1))
    fail(path, " cannot be mapped: its elements are ",
         h.big_endian              ? "big-endian"
         : h.type == Type::boolean ? "truth values"
                                   : "in Fortran's order");
  const auto memory = file.mapped(file.size() - h.begin, h.begin);
  return Tensor::borrowed(memory.get(), h.shape, h.type, dense_strides(h.shape, Layout::row_major), memory);
}

std::vector<uint8_t> encode_npy(const Tensor &tensor, const std::string &name) {
  const TypeFacts &type = facts(tensor.type());
  if (code_of(type).empty()) fail("cannot write ", name, ": NumPy has no type for ", type.name);
  std::string header =
      "{'descr': '" + ((type.bytes() == 1 ? "|" : "<") + code_of(type)) + "', 'fortran_order': False, 'shape': (";
  const Shape &shape = tensor.shape();
  for (size_t d = 0; d < shape.size(); ++d) header += (d > 0 ? ", " : "") + std::to_string(shape[d]);
  header += shape.size() == 1 ? ",), }" : "), }";
  constexpr size_t before = 10;  // magic, version 1.0, length
  while ((before + header.size() + 1) % header_alignment != 0) header += ' ';
  header += '\n';

  std::vector<uint8_t> bytes(magic.begin(), magic.end());
  for (size_t b : {size_t{1}, size_t{0}, header.size() & 255, header.size() >> 8})
    bytes.push_back(static_cast<uint8_t>(b));
  bytes.insert(bytes.end(), header.begin(), header.end());
  const Tensor dense = tensor.in_layout(Layout::row_major);
  const auto *elements = static_cast<const uint8_t *>(dense.raw());
  bytes.insert(bytes.end(), elements, elements + dense.bytes());
  return bytes;
}

void write_npy(const std::string &path, const Tensor &tensor) {
  const std::vector<uint8_t> bytes = encode_npy(tensor, path);
  write_atomically(path, {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
}

}  // namespace saltern
