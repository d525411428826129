#pragma once
// Memory of tensors: aligned to 64 bytes, its contents undefined. Freed blocks of 64 KiB and more are kept for reuse,
// because the page faults of fresh memory cost as much as the kernels that fill it (a training step asks for the same
// sizes again and again). What is kept never exceeds the most that was in use at one time.

#include <cstddef>
#include <memory>

namespace saltern {

std::shared_ptr<void> allocate(size_t bytes);

struct MemoryUse {
  size_t in_use, most_in_use, kept;
};
// Of the blocks of 64 KiB and more.
MemoryUse memory_use();

// Gives kept blocks back to the system.
void release_kept_memory();

}  // namespace saltern
