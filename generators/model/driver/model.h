#pragma once
/* A handle of a model, and what a thread knows of the one that it runs. */

#include <pthread.h>

#include "NAME.h"
#include "halide.h"
#include "reserved.h"
#include "rows.h"
#include "tables.h"

enum { most_threads = 256 };

struct NAME_model {
  NAME_options options;
  uint8_t *workspace, *state;
  const uint8_t *weights;
  uint8_t *edges[most_edges]; /* where state lies, and inputs and outputs in this run */
  void *mapped;               /* the weights' file, or null */
  size_t mapped_bytes;
  struct piece *pieces; /* of memory, for kernels */
  int piece_count;
  char error[600];
  int cpu_can;                                      /* run the kernels */
  void (*watch)(void *context, const char *origin); /* called after each step, if not null */
  void *watch_context;
};

/* The model that runs on this thread: parallel loops and errors of its kernels find it here. */
static __thread NAME_model *current;
static __thread int inside_loop; /* a loop within a parallel loop is serial */
static halide_par_for other_par_for;
static halide_can_use other_can_use;
static halide_handler other_handler;

struct loop {
  NAME_model *model;
  halide_task task;
  void *user_context;
  uint8_t *closure;
  int first;
};
