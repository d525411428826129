#include "runtime/tensor/storage.h"

#include <mutex>

#include "runtime/files/hash.h"

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

std::string Storage::hash() const { return content_hash({static_cast<const char *>(begin_), bytes_}); }

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
  const std::string now = hash();
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
