#pragma once
// The memory that tensors share, and whether it was written since a tape kept it.
//
// A recorded step keeps its inputs and outputs, since gradient rules read them; what is written in place before
// backward() would make gradients wrong. Every write that the library does counts (one atomic number). A pointer to
// elements may be read or written through, which nobody sees: where contents are kept at the time, their hash is taken
// when such a pointer is first given out, and looked at again when they are needed. A pointer that was taken before is
// not noticed: whoever writes through one says so by written().
//
// Contents may be on a device, too (runtime/kernels/device.h), or there alone: whoever asks for their address here gets
// them here first. Devices do not see what is written through an address from before they read it, unless written()
// says so.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace saltern {

class Storage {
 public:
  // What a device holds of the contents.
  class OnDevice {
   public:
    virtual ~OnDevice() = default;
    virtual void copy_to_host() = 0;
  };
  enum class Newest : uint8_t { host, both, device };

  // `begin` and `bytes` say where the elements are; 0 bytes: they are not told apart by a hash.
  // `borrowed`: whoever owns it may write it at any time.
  Storage(std::shared_ptr<void> owner, const void *begin, size_t bytes, bool borrowed)
      : owner_(std::move(owner)), begin_(begin), bytes_(bytes), borrowed_(borrowed) {}
  // Of an outline (runtime/tensor/tensor.h): there are no elements.
  Storage() : begin_(nullptr), bytes_(0), outline_(true) {}

  bool is_outline() const { return outline_; }
  bool is_borrowed() const { return borrowed_; }
  const void *begin() const { return begin_; }
  size_t bytes() const { return bytes_; }

  // Whether nobody else owns the memory that this storage has.
  bool is_sole_owner() const { return owner_.use_count() == 1; }

  // It was written in place, or is about to be.
  void written() {
    leave_device();
    version_.fetch_add(1, std::memory_order_relaxed);
  }

  // From keep() to let_go() somebody counts on the contents; keep() gives the version that they have.
  uint64_t keep();
  void let_go();
  bool has_version(uint64_t version);

  // Elements are read here, whoever wrote them.
  void to_host() {
    if (newest_.load(std::memory_order_acquire) == Newest::device) copy_to_host();
  }

  // A pointer to elements is given out.
  void lend() {
    leave_device();
    if (keepers_.load(std::memory_order_relaxed) > 0 && !lent_.load(std::memory_order_acquire)) lend_kept();
  }

  // For what runs kernels on devices, which does so on one thread at a time: the contents there, if there are any, and
  // which are right.
  OnDevice *on_device() const { return on_device_.get(); }
  void set_on_device(std::unique_ptr<OnDevice> contents) { on_device_ = std::move(contents); }
  Newest newest() const { return newest_; }
  void set_newest(Newest where) { newest_.store(where, std::memory_order_release); }
  void written_on_device() {
    set_newest(Newest::device);
    version_.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  void leave_device() {
    if (newest_.load(std::memory_order_acquire) == Newest::host) return;
    to_host();
    set_newest(Newest::host);
  }
  void copy_to_host();
  void lend_kept();
  void notice_writes();
  std::string hash() const;

  std::shared_ptr<void> owner_;
  const void *begin_;
  size_t bytes_;
  bool outline_ = false, borrowed_ = false;
  std::unique_ptr<OnDevice> on_device_;
  std::atomic<Newest> newest_{Newest::host};
  std::atomic<uint64_t> version_{0};
  std::atomic<int> keepers_{0};
  std::atomic<bool> lent_{false};
  std::string hash_when_lent_;
};

}  // namespace saltern
