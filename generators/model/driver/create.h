#pragma once
/* A handle's beginning and end. It is one piece of memory: the model, its pieces' heads, the workspace, the
   state, the pieces. */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hooks.h"

static void *default_allocate(void *context, size_t bytes, size_t align) {
  void *memory = NULL;
  (void)context;
  return posix_memalign(&memory, align, bytes) ? NULL : memory;
}

static void default_release(void *context, void *memory) {
  (void)context;
  free(memory);
}

static size_t aligned(size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

static int piece_count(const NAME_options *o) {
  return o->threads < 1 ? 1 : o->threads < most_threads ? o->threads : most_threads;
}
static size_t head_bytes(int pieces) {
  return aligned(sizeof(NAME_model)) + aligned((size_t)pieces * sizeof(struct piece));
}
size_t NAME_memory_bytes(const NAME_options *options) {
  const int pieces = options ? piece_count(options) : 1;
  return head_bytes(pieces) + workspace_bytes + state_bytes + caller_bytes + (size_t)(pieces - 1) * task_bytes;
}

/* Those of the process, which are reserved with the handle. */
static int takes_threads(const NAME_model *model) { return model->options.threads > 1 && !model->options.parallel_for; }

static NAME_model *create(const NAME_options *options, const uint8_t *weights) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  NAME_options o = {0};
  if (options) o = *options;
  if (!o.allocate || !o.release) {
    o.allocate = default_allocate;
    o.release = default_release;
  }
  const int pieces = piece_count(&o);
  uint8_t *memory = (uint8_t *)o.allocate(o.context, NAME_memory_bytes(&o), alignment);
  if (!memory) return NULL;
  memset(memory, 0, head_bytes(pieces));
  NAME_model *model = (NAME_model *)(void *)memory;
  model->options = o;
  model->weights = weights;
  model->pieces = (struct piece *)(void *)(memory + aligned(sizeof *model));
  model->piece_count = pieces;
  model->workspace = memory + head_bytes(pieces);
  model->state = model->workspace + workspace_bytes;
  memcpy(model->state, weights + first_state, state_bytes);
#ifdef NAME_STATE
  for (int i = 0; i < states && state_bytes; ++i) model->edges[i] = model->state + state_edges[i].offset;
#endif
  cut_pieces(model, model->state + state_bytes);
  pthread_once(&once, install);
  model->cpu_can = halide_can_use_target_features(sizeof cpu_features / sizeof cpu_features[0], cpu_features);
  if (takes_threads(model)) saltern_pool_1_reserve(o.threads);
  return model;
}

/* For tools that time steps; they find it by its name. */
void NAME_watch(NAME_model *model, void (*watch)(void *context, const char *origin), void *context) {
  model->watch = watch;
  model->watch_context = context;
}

void NAME_destroy(NAME_model *model) {
  if (!model) return;
  if (takes_threads(model)) saltern_pool_1_release();
  if (model->mapped) munmap(model->mapped, model->mapped_bytes);
  model->options.release(model->options.context, model);
}
