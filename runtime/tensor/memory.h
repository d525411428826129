#pragma once
// Memory of tensors: aligned to 128 bytes, its contents undefined. Freed blocks of 64 KiB and more are kept for reuse,
// because a training step asks for the same sizes again and again (page faults over 60 steps of the demo's net: 17140
// instead of 250138; the time did not change measurably). What is in use and kept together never exceeds twice the most
// that was in use at one time (once that much was too little: blocks of one size do not serve another).

#include <cstddef>
#include <memory>

#include "runtime/error.h"
#include "runtime/temporarily.h"

namespace saltern {

// What does not fit into the memory there is. It is refused before it is tried: Linux promises more than it has, and
// ends the process when that is used.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

// Throws OutOfMemory where that, with what is in use, would be more than memory_limit().
std::shared_ptr<void> allocate(size_t bytes);

// The bytes that tensors may use: what the machine has, or its container. 0 as a new limit means that again.
size_t memory_limit();
void set_memory_limit(size_t bytes);

// As long as it lives, this thread gets no more than so many bytes in all, what it frees included; asking for more is
// an Error. For work that should be small whatever it is done for.
struct AllocationBudget : Temporarily<size_t> {
  explicit AllocationBudget(size_t bytes);
};

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
