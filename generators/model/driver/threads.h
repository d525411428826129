#pragma once
/* Tasks of a model's loops, on whatever thread: one of the process's (pool.h), or one of the application's. */

#include "memory.h"
#include "pool.h"

/* A thread that does not run this model yet takes a piece of its memory first. */
static int run_task(void *closure, int i) {
  const struct loop *l = (const struct loop *)closure;
  NAME_model *outer = current;
  struct piece *outer_piece = piece;
  const int outer_inside = inside_loop;
  if (outer != l->model) piece = claim_piece(l->model);
  current = l->model;
  inside_loop = 1;
  const int result = l->task(l->user_context, l->first + i, l->closure);
  inside_loop = outer_inside;
  if (outer != l->model) leave_piece(piece);
  piece = outer_piece;
  current = outer;
  return result;
}

static int run_on_threads(NAME_model *m, struct loop *l, int count) {
  const NAME_options *o = &m->options;
  if (o->parallel_for) return o->parallel_for(o->context, run_task, l, count);
  return saltern_pool_1_run(o->threads, run_task, l, count);
}
