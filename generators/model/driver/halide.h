#pragma once
/* Halide's calling convention for kernels, and what of its run-time support is used. */

#include <stddef.h>
#include <stdint.h>

typedef struct dimension {
  int32_t min, extent, stride;
  uint32_t flags;
} dimension;
typedef struct buffer {
  uint64_t device;
  const void *device_interface;
  uint8_t *host;
  uint64_t flags;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } type;
  int32_t dimensions;
  dimension *dim;
  void *padding;
} buffer;
typedef int (*halide_task)(void *user_context, int number, uint8_t *closure);
typedef int (*halide_par_for)(void *user_context, halide_task task, int first, int count, uint8_t *closure);
typedef void (*halide_handler)(void *user_context, const char *message);
typedef void *(*halide_allocate)(void *user_context, size_t bytes);
typedef void (*halide_release)(void *user_context, void *memory);
halide_par_for halide_set_custom_do_par_for(halide_par_for);
halide_handler halide_set_error_handler(halide_handler);
halide_allocate halide_set_custom_malloc(halide_allocate);
halide_release halide_set_custom_free(halide_release);
void *halide_default_malloc(void *user_context, size_t bytes);
void halide_default_free(void *user_context, void *memory);
int halide_default_do_par_for(void *, halide_task, int, int, uint8_t *);
typedef int (*halide_can_use)(int words, const uint64_t *features);
halide_can_use halide_set_custom_can_use_target_features(halide_can_use);
int halide_default_can_use_target_features(int words, const uint64_t *features);
int halide_can_use_target_features(int words, const uint64_t *features);
