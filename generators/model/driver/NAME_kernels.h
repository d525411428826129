/* Kernels of Saltern, each a function of Halide's buffers: what it reads, numbers, what it writes. 0 is good.

   A buffer's dimensions are innermost first. Where host memory was written, flags is to have buffer_host_dirty; a kernel
   that ran on a GPU leaves its results there, for other kernels to read: halide_copy_to_host() brings them back, and
   halide_device_free() gives the GPU's memory back. */
#ifndef NAME_KERNELS_H
#define NAME_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As HalideRuntime.h has it, which may be included before. */
#ifndef HALIDE_HALIDERUNTIME_H
struct halide_device_interface_t;
typedef struct halide_dimension_t {
  int32_t min, extent, stride;
  uint32_t flags;
} halide_dimension_t;
typedef struct halide_type_t {
  uint8_t code, bits; /* codes: 0 signed, 1 unsigned, 2 floating-point */
  uint16_t lanes;     /* 1 */
} halide_type_t;
typedef struct halide_buffer_t {
  uint64_t device;
  const struct halide_device_interface_t *device_interface;
  uint8_t *host;
  uint64_t flags;
  halide_type_t type;
  int32_t dimensions;
  halide_dimension_t *dim;
  void *padding;
} halide_buffer_t;
int halide_copy_to_host(void *user_context, halide_buffer_t *buffer);
int halide_device_free(void *user_context, halide_buffer_t *buffer);
#endif
enum { NAME_buffer_host_dirty = 1, NAME_buffer_device_dirty = 2 };

#include "tables.h"

#ifdef __cplusplus
}
#endif

#endif
