#pragma once
// A hash of contents, for names of cached files: 128 bits as 32 hexadecimal digits. Not against forgery.

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace saltern {

inline std::string content_hash(std::string_view content) {
  // FNV-1a, twice with other offsets.
  uint64_t a = 0xcbf29ce484222325u, b = 0x84222325cbf29ce4u;
  for (const char c : content) {
    a = (a ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
    b = (b ^ static_cast<uint8_t>(c)) * 0x100000001b3u + 0x9e3779b97f4a7c15u;
  }
  char hex[33];
  std::snprintf(hex, sizeof hex, "%016llx%016llx", static_cast<unsigned long long>(a),
                static_cast<unsigned long long>(b));
  return hex;
}

}  // namespace saltern
