#pragma once
/* The memory that kernels take while they run: a piece for each thread, reserved with the handle.

   A piece is a stack. A kernel's allocations nest, but may be given back a little early: such a block waits until it is
   the uppermost. So a thread never needs more than the allocations around the innermost one, with their heads
   (reserved.h), which the model compiler adds up. */

#include "model.h"

struct block {
  struct block *below;
  int given_back;
};
struct piece {
  uint8_t *first, *next, *end;
  struct block *top;
  int taken;
};

/* The piece of this thread while it runs kernels of the current model; null where there are more threads than pieces. */
static __thread struct piece *piece;
static halide_allocate other_allocate;
static halide_release other_release;

/* The first piece is the caller's, who needs most. */
static struct piece *claim_piece(NAME_model *m) {
  for (int i = 1; i < m->piece_count; ++i)
    if (!__atomic_exchange_n(&m->pieces[i].taken, 1, __ATOMIC_ACQ_REL)) return &m->pieces[i];
  return NULL;
}

static void leave_piece(struct piece *p) {
  if (p) __atomic_store_n(&p->taken, 0, __ATOMIC_RELEASE);
}

static void *take_memory(void *user_context, size_t bytes) {
  if (!current) return (other_allocate ? other_allocate : halide_default_malloc)(user_context, bytes);
  const size_t whole = (size_t)reserved_bytes((int64_t)bytes);
  if (!piece || whole > (size_t)(piece->end - piece->next)) return halide_default_malloc(user_context, bytes);
  struct block *b = (struct block *)(void *)piece->next;
  b->below = piece->top;
  b->given_back = 0;
  piece->top = b;
  piece->next += whole;
  return (uint8_t *)b + alignment;
}

static void give_memory_back(void *user_context, void *memory) {
  if (!current) {
    (other_release ? other_release : halide_default_free)(user_context, memory);
    return;
  }
  if (!piece || (uint8_t *)memory < piece->first || (uint8_t *)memory >= piece->end) {
    halide_default_free(user_context, memory);
    return;
  }
  ((struct block *)(void *)((uint8_t *)memory - alignment))->given_back = 1;
  for (; piece->top && piece->top->given_back; piece->top = piece->top->below) piece->next = (uint8_t *)piece->top;
}

/* Cuts `memory` into pieces. */
static void cut_pieces(NAME_model *m, uint8_t *memory) {
  for (int i = 0; i < m->piece_count; ++i) {
    struct piece *p = &m->pieces[i];
    p->first = p->next = memory;
    p->end = memory += i ? task_bytes : caller_bytes;
  }
}
