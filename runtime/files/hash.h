#pragma once
// A hash of contents, for names and checksums of cached files: 128 bits as 32 hexadecimal digits. Not against forgery.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace saltern {

inline std::string content_hash(std::string_view content) {
  // Two chains over words of eight bytes, which are as fast as the memory they read. Each step can be undone, so that no
  // change within one word is ever missed.
  const auto turned = [](uint64_t x, int bits) { return x << bits | x >> (64 - bits); };
  uint64_t a = 0xcbf29ce484222325u ^ content.size(), b = 0x84222325cbf29ce4u + content.size();
  uint64_t word = 0;
  const auto take = [&] {
    a = turned((a ^ word) * 0x9fb21c651e98df25u, 29);
    b = turned((b + word) * 0xd6e8feb86659fd93u, 31);
  };
  for (; content.size() >= sizeof word; content.remove_prefix(sizeof word)) {
    std::memcpy(&word, content.data(), sizeof word);
    take();
  }
  word = 0;
  if (!content.empty()) std::memcpy(&word, content.data(), content.size());
  take();
  for (uint64_t *x : {&a, &b}) *x = (*x ^ *x >> 32) * 0x9e3779b97f4a7c15u;
  char hex[33];
  std::snprintf(hex, sizeof hex, "%016llx%016llx", static_cast<unsigned long long>(a),
                static_cast<unsigned long long>(b));
  return hex;
}

}  // namespace saltern
