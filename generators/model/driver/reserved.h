#pragma once
/* What a kernel's allocation takes in a piece of memory (memory.h): a head and the block, both aligned. The model
   compiler (C++) adds it up, the driver (C) gives it out. */

#include <stdint.h>

enum { alignment = 64 }; /* of everything that kernels see */

static inline int64_t reserved_bytes(int64_t bytes) {
  return alignment + (bytes + alignment - 1) / alignment * alignment;
}
