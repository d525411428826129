#include "runtime/tensor/storage.h"

#include <cstring>
#include <mutex>

namespace saltern {

namespace {

std::mutex lent_storages;  // guards what lent_ and hash_when_lent_ say of any of them

std::mutex copied_back;  // several threads may ask for the same contents

}  // namespace

void Storage::copy_to_host() {
  const std::lock_guard<std::mutex> lock(copied_back);
  if (newest_ != Newest::device) return;
  on_device_->copy_to_host();
  set_newest(Newest::both);
}

uint64_t Storage::hash() const {
  constexpr uint64_t prime = 0x9e3779b97f4a7c15u;
  const auto *at = static_cast<const uint8_t *>(begin_);
  uint64_t all = bytes_, word = 0;
  for (size_t i = 0; i + 8 <= bytes_; i += 8) {
    std::memcpy(&word, at + i, 8);
    all = (all ^ word) * prime;
    all ^= all >> 29;
  }
  word = 0;
  if (bytes_ % 8 > 0) std::memcpy(&word, at + bytes_ / 8 * 8, bytes_ % 8);
  return (all ^ word) * prime;
}

void Storage::lend_kept() {
  const std::lock_guard<std::mutex> lock(lent_storages);
  if (lent_) return;
  hash_when_lent_ = hash();
  lent_ = true;
}

void Storage::notice_writes() {
  if (!lent_) return;
  to_host();
  const std::lock_guard<std::mutex> lock(lent_storages);
  const uint64_t now = hash();
  if (now != hash_when_lent_) written();
  hash_when_lent_ = now;
}

uint64_t Storage::keep() {
  notice_writes();
  keepers_.fetch_add(1);
  return version_.load();
}

void Storage::let_go() {
  if (keepers_.fetch_sub(1) == 1) lent_ = false;
}

bool Storage::has_version(uint64_t version) {
  notice_writes();
  return version_.load() == version;
}

}  // namespace saltern
