#pragma once
// The C text of a compiled model, as driver.cpp fills it in: @ stands for the model's name, $WORDS for numbers and
// tables of the plan.

namespace saltern::generators {

// NAME.h
inline constexpr const char *header_template =
    R"(/* A neural network compiled by Saltern: call @_create, then @_run, then @_destroy.
   One model handle serves one thread at a time; make a handle for each thread that runs. */
#ifndef @_MODEL_H
#define @_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define @_ABI_VERSION $ABI
#define @_INPUTS $INPUTS
#define @_OUTPUTS $OUTPUTS

typedef struct @_model @_model;

typedef struct @_tensor {
  const char *name;
  const char *type; /* f32, i32, ... */
  int rank;
  const int64_t *shape; /* N, C, H, W for images; elements are row-major, the last dimension innermost */
  size_t elements, bytes;
} @_tensor;

/* All members may be zero. */
typedef struct @_options {
  void *(*allocate)(void *context, size_t bytes, size_t alignment);
  void (*release)(void *context, void *memory);
  /* Calls task(closure, i) once for every i in [0, count), on any threads, and returns when all are done: zero, or
     what a failing task returned. */
  int (*parallel_for)(void *context, int (*task)(void *closure, int i), void *closure, int count);
  void *context;
  /* 0 and 1: the caller's thread only. More: so many, the caller's among them, the others the handle's own from
     @_create to @_destroy. Results are the same bits. Not used where there is a parallel_for. */
  int threads;
} @_options;

/* The version that the library was built with; compare with @_ABI_VERSION. */
int @_abi_version(void);
/* Inputs and outputs in the order that @_run takes them; a null pointer where there is no such number. */
const @_tensor *@_input(int number);
const @_tensor *@_output(int number);
size_t @_workspace_bytes(void);
size_t @_weights_bytes(void);

/* A null pointer where memory is short. `options` may be null. */
@_model *@_create(const @_options *options);
/* Zero, or an error whose text @_error gives: a null pointer among the inputs or outputs, memory that is short, or a
   CPU that lacks what the library was compiled for. */
int @_run(@_model *model, const void *const *inputs, void *const *outputs);
/* What the last @_run failed with; an empty text if it did not. */
const char *@_error(const @_model *model);
void @_destroy(@_model *model);

#ifdef __cplusplus
}
#endif
#endif
)";

inline constexpr const char *driver_head = R"(#define _POSIX_C_SOURCE 200112L
#include "@.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Halide's calling convention for kernels. */
typedef struct dimension { int32_t min, extent, stride; uint32_t flags; } dimension;
typedef struct buffer {
  uint64_t device;
  const void *device_interface;
  uint8_t *host;
  uint64_t flags;
  struct { uint8_t code, bits; uint16_t lanes; } type;
  int32_t dimensions;
  dimension *dim;
  void *padding;
} buffer;
typedef int (*halide_task)(void *user_context, int number, uint8_t *closure);
typedef int (*halide_par_for)(void *user_context, halide_task task, int first, int count, uint8_t *closure);
typedef void (*halide_handler)(void *user_context, const char *message);
halide_par_for halide_set_custom_do_par_for(halide_par_for);
halide_handler halide_set_error_handler(halide_handler);
int halide_default_do_par_for(void *, halide_task, int, int, uint8_t *);
int halide_can_use_target_features(int words, const uint64_t *features);

struct use { int region; int64_t offset; uint8_t code, bits; int rank; int32_t extents[8]; };
struct step { int (*kernel)(void **); const char *origin; int first_use, uses; };
struct edge { int64_t offset; int outer, channels, pixels, element; };

extern const uint8_t @_weights[];
)";

inline constexpr const char *driver_model = R"(
enum { workspace_bytes = $WORKSPACE, weights_bytes = $WEIGHTS, step_count = $STEPS, most_uses = $USES, alignment = 64,
       most_threads = 256, spin_nanoseconds = 2000000 };

/* The least CPU that the kernels were compiled for, as Halide numbers what a CPU can have. */
static const char least_cpu[] = "$CPU";
static const uint64_t cpu_features[] = {$FEATURES};

struct @_model {
  @_options options;
  uint8_t *workspace;
  char error[600];
  int cpu_can; /* run the kernels */
  /* Threads of its own: generation counts what they were handed, under the mutex. */
  pthread_mutex_t mutex;
  pthread_cond_t wake;
  struct loop *loop;
  int generation, sleeping, busy, quit, workers;
  pthread_t threads[most_threads];
};

/* The model that runs on this thread: parallel loops and errors of its kernels find it here. */
static __thread @_model *current;
static __thread int inside_loop; /* a loop within a parallel loop is serial */
static halide_par_for other_par_for;
static halide_handler other_handler;

struct loop {
  @_model *model;
  halide_task task;
  void *user_context;
  uint8_t *closure;
  int first, count, next, unfinished, result;
};

static int run_task(void *closure, int i) {
  const struct loop *l = (const struct loop *)closure;
  @_model *outer = current;
  current = l->model;
  const int result = l->task(l->user_context, l->first + i, l->closure);
  current = outer;
  return result;
}

)";

// After these come the threads: driver_threads.h.

inline constexpr const char *driver_body = R"(
static int par_for(void *user_context, halide_task task, int first, int count, uint8_t *closure) {
  struct loop l = {current, task, user_context, closure, first, count, 0, count, 0};
  if (!current) return (other_par_for ? other_par_for : halide_default_do_par_for)(user_context, task, first, count, closure);
  if (current->options.parallel_for) return current->options.parallel_for(current->options.context, run_task, &l, count);
  if (current->workers && count > 1 && !inside_loop) return run_on_threads(current, &l);
  for (int i = 0; i < count; ++i) {
    const int result = task(user_context, first + i, closure);
    if (result) return result;
  }
  return 0;
}

static void remember(void *user_context, const char *message) {
  if (current) snprintf(current->error, sizeof current->error, "%s", message);
  else if (other_handler) other_handler(user_context, message);
}

static void install(void) {
  static int installed;
  if (__atomic_exchange_n(&installed, 1, __ATOMIC_ACQ_REL)) return;
  other_par_for = halide_set_custom_do_par_for(par_for);
  other_handler = halide_set_error_handler(remember);
}

static void *default_allocate(void *context, size_t bytes, size_t align) {
  void *memory = NULL;
  (void)context;
  return posix_memalign(&memory, align, bytes) ? NULL : memory;
}

static void default_release(void *context, void *memory) {
  (void)context;
  free(memory);
}

/* to[o][c][r] = from[o][r][c] */
static void transpose(uint8_t *to, const uint8_t *from, int outer, int rows, int columns, size_t element) {
  if (rows == 1 || columns == 1) {
    memcpy(to, from, (size_t)outer * rows * columns * element);
    return;
  }
  for (int o = 0; o < outer; ++o)
    for (int c = 0; c < columns; ++c)
      for (int r = 0; r < rows; ++r, to += element)
        memcpy(to, from + (((size_t)o * rows + r) * columns + c) * element, element);
}

int @_abi_version(void) { return @_ABI_VERSION; }
const @_tensor *@_input(int number) { return number >= 0 && number < @_INPUTS ? &input_facts[number] : NULL; }
const @_tensor *@_output(int number) { return number >= 0 && number < @_OUTPUTS ? &output_facts[number] : NULL; }
size_t @_workspace_bytes(void) { return workspace_bytes; }
size_t @_weights_bytes(void) { return weights_bytes; }
const char *@_error(const @_model *model) { return model ? model->error : "there is no model"; }

@_model *@_create(const @_options *options) {
  @_options o = {0};
  if (options) o = *options;
  if (!o.allocate || !o.release) {
    o.allocate = default_allocate;
    o.release = default_release;
  }
  /* The handle stands before the workspace, in one piece of memory. */
  const size_t head = (sizeof(@_model) + alignment - 1) / alignment * alignment;
  uint8_t *memory = (uint8_t *)o.allocate(o.context, head + workspace_bytes, alignment);
  if (!memory) return NULL;
  @_model *model = (@_model *)memory;
  memset(model, 0, sizeof *model);
  model->options = o;
  model->workspace = memory + head;
  install();
  model->cpu_can = halide_can_use_target_features(sizeof cpu_features / sizeof cpu_features[0], cpu_features);
  if (o.threads > 1 && !o.parallel_for) start_threads(model);
  return model;
}

void @_destroy(@_model *model) {
  if (!model) return;
  if (model->options.threads > 1 && !model->options.parallel_for) end_threads(model);
  model->options.release(model->options.context, model);
}

static int run_step(@_model *model, const struct step *s) {
  buffer buffers[most_uses];
  dimension dimensions[most_uses][8];
  void *arguments[most_uses];
  memset(buffers, 0, sizeof buffers);
  for (int i = 0; i < s->uses; ++i) {
    const struct use *u = &uses[s->first_use + i];
    int32_t stride = 1;
    for (int d = 0; d < u->rank; ++d) {
      const dimension dense = {0, u->extents[d], stride, 0};
      dimensions[i][d] = dense;
      stride *= u->extents[d];
    }
    /* Kernels only read the weights. */
    buffers[i].host = (u->region ? (uint8_t *)(uintptr_t)@_weights : model->workspace) + u->offset;
    buffers[i].type.code = u->code;
    buffers[i].type.bits = u->bits;
    buffers[i].type.lanes = 1;
    buffers[i].dimensions = u->rank;
    buffers[i].dim = dimensions[i];
    arguments[i] = &buffers[i];
  }
  return s->kernel(arguments);
}

int @_run(@_model *model, const void *const *inputs, void *const *outputs) {
  if (!model) return -1;
  model->error[0] = 0;
  if (!model->cpu_can) {
    snprintf(model->error, sizeof model->error, "this CPU cannot run the model, which was compiled for %s or better", least_cpu);
    return -1;
  }
  for (int i = 0; i < @_INPUTS; ++i) {
    const struct edge *e = &input_edges[i];
    if (!inputs || !inputs[i]) {
      snprintf(model->error, sizeof model->error, "the input '%s' is a null pointer", input_facts[i].name);
      return -1;
    }
    transpose(model->workspace + e->offset, (const uint8_t *)inputs[i], e->outer, e->channels, e->pixels, (size_t)e->element);
  }
  @_model *outer = current;
  current = model;
  int result = 0;
  for (int i = 0; i < step_count && !result; ++i) {
    result = run_step(model, &steps[i]);
    if (result && !model->error[0])
      snprintf(model->error, sizeof model->error, "the node '%s' failed with code %d", steps[i].origin, result);
  }
  current = outer;
  if (result) return result;
  for (int i = 0; i < @_OUTPUTS; ++i) {
    const struct edge *e = &output_edges[i];
    if (!outputs || !outputs[i]) {
      snprintf(model->error, sizeof model->error, "the output '%s' is a null pointer", output_facts[i].name);
      return -1;
    }
    transpose((uint8_t *)outputs[i], model->workspace + e->offset, e->outer, e->pixels, e->channels, (size_t)e->element);
  }
  return 0;
}
)";

}  // namespace saltern::generators
