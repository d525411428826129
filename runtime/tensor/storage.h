#pragma once
// The memory that tensors share, and whether it was written since a tape kept it.
//
// A recorded step keeps its inputs and outputs, since gradient rules read them; what is written in place before
// backward() would make gradients wrong. Every write that the library does counts (one atomic number). A pointer to
// elements may be read or written through, which nobody sees: where contents are kept at the time, their hash is taken
// when such a pointer is first given out, and looked at again when they are needed. A pointer that was taken before is
// not noticed: whoever writes through one says so by written().

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace saltern {

class Storage {
 public:
  // `begin` and `bytes` say where the elements are; 0 bytes: they are not told apart by a hash.
  Storage(std::shared_ptr<void> owner, const void *begin, size_t bytes)
      : owner_(std::move(owner)), begin_(begin), bytes_(bytes) {}
  // Of an outline (runtime/tensor/outline.h): there are no elements.
  Storage() : begin_(nullptr), bytes_(0), outline_(true) {}

  bool is_outline() const { return outline_; }

  // Whether nobody else owns the memory that this storage has.
  bool is_sole_owner() const { return owner_.use_count() == 1; }

  // It was written in place.
  void written() { version_.fetch_add(1, std::memory_order_relaxed); }

  // From keep() to let_go() somebody counts on the contents; keep() gives the version that they have.
  uint64_t keep();
  void let_go();
  bool has_version(uint64_t version);

  // A pointer to elements is given out.
  void lend() {
    if (keepers_.load(std::memory_order_relaxed) > 0 && !lent_.load(std::memory_order_acquire)) lend_kept();
  }

 private:
  void lend_kept();
  void notice_writes();
  uint64_t hash() const;

  std::shared_ptr<void> owner_;
  const void *begin_;
  size_t bytes_;
  bool outline_ = false;
  std::atomic<uint64_t> version_{0};
  std::atomic<int> keepers_{0};
  std::atomic<bool> lent_{false};
  uint64_t hash_when_lent_ = 0;
};

}  // namespace saltern
