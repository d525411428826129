#pragma once
// Memory of tensors: aligned to 128 bytes, its contents undefined. Freed blocks of 64 KiB and more are kept for reuse,
// because a training step asks for the same sizes again and again (page faults over 60 steps of the demo's net: 17140
// instead of 250138; the time did not change measurably). What is in use and kept together never exceeds twice the most
// that was in use at one time (once that much was too little: blocks of one size do not serve another).

#include <cstddef>
#include <memory>

namespace saltern {

std::shared_ptr<void> allocate(size_t bytes);

struct MemoryUse {
  size_t in_use, most_in_use, kept;
};
// Of the blocks of 64 KiB and more.
MemoryUse memory_use();

// Makes kernels take their scratch memory here too; the kernel registry calls it.
void install_scratch_memory();

// Gives kept blocks back to the system.
void release_kept_memory();

}  // namespace saltern
