#pragma once
// Bytes as text, for pictures inside of JSON and HTML.

#include <cstdint>
#include <string>
#include <vector>

namespace saltern {

inline std::string base64(const std::vector<uint8_t> &bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k) word = word << 8 | (k < count ? bytes[i + k] : 0u);
    for (size_t k = 0; k < 4; ++k) text += k <= count ? digits[word >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace saltern
