#include "runtime/tensor/memory.h"

#include <HalideRuntime.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <list>
#include <map>
#include <mutex>
#include <vector>

namespace saltern {

namespace {

constexpr size_t alignment = 128;  // what Halide wants of its scratch memory; vectors want 64
constexpr size_t smallest_kept = size_t{64} << 10;
constexpr size_t huge_page = size_t{2} << 20;

#if defined(__has_feature)  // clang's way to say it
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
constexpr bool keep_blocks = false;  // reuse would hide a use after free
#else
constexpr bool keep_blocks = true;
#endif

size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

// Sizes in steps of an eighth, so that a batch slightly smaller finds the block of a slightly larger one.
size_t block_size(size_t bytes) {
  size_t power = smallest_kept;
  while (power * 2 <= bytes) power *= 2;
  return round_up(bytes, power / 8);
}

// The machine's memory, or what the control group of this process may use of it.
size_t available_memory() {
  const auto machine = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t most = machine;
  for (const char *path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream in(path);
    if (size_t limit; in >> limit) most = std::min(most, limit);  // "max" is no number
  }
  return most;
}

std::atomic<size_t> chosen_limit{0};
constexpr size_t no_budget = std::numeric_limits<size_t>::max();
thread_local size_t budget = no_budget;

[[noreturn]] void refuse(size_t bytes, size_t in_use) {
  std::ostringstream text;
  text << "out of memory: a tensor of " << bytes << " bytes, beside " << in_use << " in use of " << memory_limit();
  throw OutOfMemory(text.str());
}

// Large blocks ask for huge pages, which Linux gives by itself only where it is set to: walks along any but the innermost
// dimension go from page to page. Where there are none, nothing is lost.
void *aligned(size_t bytes) {
  const bool large = bytes >= huge_page;
  const size_t size = large ? round_up(bytes, huge_page) : bytes;
  void *p = std::aligned_alloc(large ? huge_page : alignment, size);
  if (!p) refuse(bytes, 0);
  if (large) madvise(p, size, MADV_HUGEPAGE);
  return p;
}

class Blocks {
 public:
  void *take(size_t size) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (size > memory_limit() || use_.in_use > memory_limit() - size) refuse(size, use_.in_use);
      use_.in_use += size;
      use_.most_in_use = std::max(use_.most_in_use, use_.in_use);
      auto it = by_size_.find(size);
      if (it != by_size_.end()) {
        // The one freed last: it may still be in a cache.
        auto block = it->second.back();
        void *p = block->address;
        it->second.pop_back();
        if (it->second.empty()) by_size_.erase(it);
        oldest_first_.erase(block);
        use_.kept -= size;
        return p;
      }
    }
    try {
      return aligned(size);
    } catch (...) {
      std::lock_guard<std::mutex> lock(mutex_);
      use_.in_use -= size;
      throw;
    }
  }

  void give_back(void *p, size_t size) {
    std::lock_guard<std::mutex> lock(mutex_);
    use_.in_use -= size;
    oldest_first_.push_back({p, size});
    by_size_[size].push_back(std::prev(oldest_first_.end()));
    use_.kept += size;
    shrink_to(keep_blocks ? 2 * use_.most_in_use - use_.in_use : 0);
  }

  void release() {
    std::lock_guard<std::mutex> lock(mutex_);
    shrink_to(0);
  }

  MemoryUse use() {
    std::lock_guard<std::mutex> lock(mutex_);
    return use_;
  }

 private:
  struct Block {
    void *address;
    size_t size;
  };

  void shrink_to(size_t most) {
    while (use_.kept > most) {
      const Block block = oldest_first_.front();
      auto &same_size = by_size_[block.size];
      same_size.erase(std::find(same_size.begin(), same_size.end(), oldest_first_.begin()));
      if (same_size.empty()) by_size_.erase(block.size);
      oldest_first_.pop_front();
      use_.kept -= block.size;
      std::free(block.address);
    }
  }

  std::mutex mutex_;
  std::list<Block> oldest_first_;
  std::map<size_t, std::vector<std::list<Block>::iterator>> by_size_;
  MemoryUse use_ = {0, 0, 0};
};

// Never destroyed: tensors of static lifetime give back their memory at any time.
Blocks &blocks() {
  static auto *b = new Blocks;
  return *b;
}

// Scratch memory has its size, which freeing needs, in front of it.
void *take_scratch(void *, size_t bytes) {
  const size_t wanted = round_up(bytes + alignment, alignment);
  const bool large = wanted >= smallest_kept;
  const size_t size = large ? block_size(wanted) : wanted;
  try {
    void *p = large ? blocks().take(size) : aligned(size);
    *static_cast<size_t *>(p) = size;
    return static_cast<char *>(p) + alignment;
  } catch (const Error &) {
    return nullptr;  // the kernel reports it
  }
}

void give_back_scratch(void *, void *scratch) {
  if (!scratch) return;
  void *p = static_cast<char *>(scratch) - alignment;
  const size_t size = *static_cast<size_t *>(p);
  if (size >= smallest_kept)
    blocks().give_back(p, size);
  else
    std::free(p);
}

}  // namespace

void install_scratch_memory() {
  halide_set_custom_malloc(take_scratch);
  halide_set_custom_free(give_back_scratch);
}

size_t memory_limit() {
  static const size_t available = available_memory();
  const size_t chosen = chosen_limit;
  return chosen > 0 ? chosen : available;
}

void set_memory_limit(size_t bytes) { chosen_limit = bytes; }

AllocationBudget::AllocationBudget(size_t bytes) : Temporarily(budget, bytes) {}

std::shared_ptr<void> allocate(size_t bytes) {
  if (bytes > budget) fail("a tensor of ", bytes, " bytes is more than the ", budget, " that are left for this");
  if (budget != no_budget) budget -= bytes;
  if (bytes < smallest_kept) return {aligned(round_up(std::max<size_t>(bytes, 1), alignment)), std::free};
  const size_t size = block_size(bytes);
  return {blocks().take(size), [size](void *p) { blocks().give_back(p, size); }};
}

MemoryUse memory_use() { return blocks().use(); }
void release_kept_memory() { blocks().release(); }

}  // namespace saltern
