#pragma once
// Messages of protocol buffers, written field by field: all that event files need, without a schema.

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace saltern {

class ProtobufMessage {
 public:
  ProtobufMessage &integer(uint32_t field, int64_t value) {
    tag(field, 0);
    varint(static_cast<uint64_t>(value));
    return *this;
  }
  ProtobufMessage &real(uint32_t field, double value) {
    tag(field, 1);
    return raw(value);
  }
  ProtobufMessage &small_real(uint32_t field, float value) {
    tag(field, 5);
    return raw(value);
  }
  ProtobufMessage &text(uint32_t field, const std::string &value) {
    tag(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  ProtobufMessage &message(uint32_t field, const ProtobufMessage &inner) { return text(field, inner.bytes_); }
  // Repeated, in one piece.
  ProtobufMessage &reals(uint32_t field, const std::vector<double> &values) {
    ProtobufMessage all;
    for (const double v : values) all.raw(v);
    return message(field, all);
  }
  const std::string &bytes() const { return bytes_; }

 private:
  void tag(uint32_t field, uint32_t kind) { varint(field << 3 | kind); }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  template <typename T>
  ProtobufMessage &raw(T value) {
    char at[sizeof value];
    std::memcpy(at, &value, sizeof value);
    bytes_.append(at, sizeof value);
    return *this;
  }

  std::string bytes_;
};

}  // namespace saltern
