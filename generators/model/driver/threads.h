#pragma once
/* A model's threads: as many as a handle asks for, its own, ended with it.

   They wait for work spinning, for 2 ms at most, and then sleep, as those of Saltern's library do: Halide's pool, which
   sleeps at once, made loops of up to 700 microseconds no faster on two cores. Tasks are claimed by an atomic counter,
   so who runs a task varies, never what it computes. */

#include <time.h>

#include "memory.h"

enum { spin_nanoseconds = 2000000 };

/* A thread that does not run this model yet takes a piece of its memory first. */
static int run_task(void *closure, int i) {
  const struct loop *l = (const struct loop *)closure;
  NAME_model *outer = current;
  struct piece *outer_piece = piece;
  if (outer != l->model) piece = claim_piece(l->model);
  current = l->model;
  const int result = l->task(l->user_context, l->first + i, l->closure);
  if (outer != l->model) leave_piece(piece);
  piece = outer_piece;
  current = outer;
  return result;
}

static void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

static int64_t nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int get(const int *number) { return __atomic_load_n(number, __ATOMIC_ACQUIRE); }

static void work(struct loop *l) {
  for (int i; (i = __atomic_fetch_add(&l->next, 1, __ATOMIC_ACQ_REL)) < l->count;) {
    const int result = run_task(l, i);
    if (result) __atomic_store_n(&l->result, result, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&l->unfinished, 1, __ATOMIC_ACQ_REL);
  }
}

static void *serve(void *argument) {
  NAME_model *m = (NAME_model *)argument;
  int seen = 0;
  inside_loop = 1;
  current = m;
  piece = claim_piece(m);
  for (;;) {
    const int64_t until = nanoseconds() + spin_nanoseconds;
    while (get(&m->generation) == seen && nanoseconds() < until) relax();
    pthread_mutex_lock(&m->mutex);
    ++m->sleeping;
    while (get(&m->generation) == seen) pthread_cond_wait(&m->wake, &m->mutex);
    --m->sleeping;
    const int quit = m->quit;
    struct loop *l = m->loop;
    seen = get(&m->generation);
    if (l) __atomic_fetch_add(&m->busy, 1, __ATOMIC_ACQ_REL);
    pthread_mutex_unlock(&m->mutex);
    if (quit) return NULL;
    if (!l) continue;
    work(l);
    __atomic_fetch_sub(&m->busy, 1, __ATOMIC_ACQ_REL);
  }
}

/* Hands a loop, or the end, to all threads. */
static void announce(NAME_model *m, struct loop *l, int quit) {
  pthread_mutex_lock(&m->mutex);
  m->loop = l;
  m->quit = quit;
  __atomic_fetch_add(&m->generation, 1, __ATOMIC_ACQ_REL);
  if (m->sleeping) pthread_cond_broadcast(&m->wake);
  pthread_mutex_unlock(&m->mutex);
}

static int run_on_threads(NAME_model *m, struct loop *l) {
  announce(m, l, 0);
  inside_loop = 1;
  work(l);
  inside_loop = 0;
  while (get(&l->unfinished)) relax();
  /* The loop lives on this stack: it is taken back, and whoever still looks at it waited for. */
  pthread_mutex_lock(&m->mutex);
  m->loop = NULL;
  pthread_mutex_unlock(&m->mutex);
  while (get(&m->busy)) relax();
  return l->result;
}

static void start_threads(NAME_model *m) {
  const int wanted = m->options.threads < most_threads ? m->options.threads : most_threads;
  pthread_mutex_init(&m->mutex, NULL);
  pthread_cond_init(&m->wake, NULL);
  while (m->workers < wanted - 1 && !pthread_create(&m->threads[m->workers], NULL, serve, m)) ++m->workers;
}

static void end_threads(NAME_model *m) {
  announce(m, NULL, 1);
  for (int i = 0; i < m->workers; ++i) pthread_join(m->threads[i], NULL);
  pthread_cond_destroy(&m->wake);
  pthread_mutex_destroy(&m->mutex);
}
