#pragma once
/* The threads of a process: parallel loops of Saltern's library and of all compiled models in it run on one pool, so that
   they do not stand in each other's way. Each brings this file along; its symbols are weak, and the linker keeps one of
   each. The number in their names is that of what they agree on here.

   Threads wait for work spinning, and then sleep: the loops of a small model take 10 to 700 microseconds, and waking a
   sleeping thread takes as long. Tasks are claimed by an atomic counter, so who runs a task varies, never what it computes.
   Several loops may run at the same time; a thread that has nothing to do helps any of them that wants more. Whoever began
   a loop works on it, too, and waits for nobody but those who took a task of it. */

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { saltern_pool_most_threads = 256, saltern_pool_spin_nanoseconds = 1000000 };

/* One that runs, on the stack of whoever began it. */
struct saltern_pool_loop {
  int (*task)(void *closure, int i);
  void *closure;
  int count, next, result;
  int helpers, most_helpers;
  struct saltern_pool_loop *below;
};

struct saltern_pool {
  pthread_mutex_t changing; /* held while threads are made and ended */
  pthread_mutex_t mutex;
  pthread_cond_t wake;
  struct saltern_pool_loop *loops; /* those that run */
  int generation;                  /* counts the loops that were begun */
  int users, workers, sleeping, quit;
  pthread_t threads[saltern_pool_most_threads];
};

#define saltern_pool_shared __attribute__((weak, visibility("default")))

saltern_pool_shared struct saltern_pool saltern_pool_1 = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0, 0, 0, 0, 0, {0}};
/* Whether this thread runs a task: a loop within a loop is serial. */
saltern_pool_shared __thread int saltern_pool_1_inside = 0;

static inline void saltern_pool_relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

static inline int64_t saltern_pool_nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int saltern_pool_get(const int *number) { return __atomic_load_n(number, __ATOMIC_ACQUIRE); }

static inline void saltern_pool_work(struct saltern_pool_loop *l) {
  for (int i; (i = __atomic_fetch_add(&l->next, 1, __ATOMIC_ACQ_REL)) < l->count;) {
    const int result = l->task(l->closure, i);
    if (result) __atomic_store_n(&l->result, result, __ATOMIC_RELEASE);
  }
}

/* One that has tasks left and wants help, or null; under the mutex. */
static inline struct saltern_pool_loop *saltern_pool_open_loop(const struct saltern_pool *p) {
  struct saltern_pool_loop *l = p->loops;
  while (l && (saltern_pool_get(&l->next) >= l->count || saltern_pool_get(&l->helpers) >= l->most_helpers))
    l = l->below;
  return l;
}

/* What a thread does. */
saltern_pool_shared void *saltern_pool_1_serve(void *pool) {
  struct saltern_pool *p = (struct saltern_pool *)pool;
  saltern_pool_1_inside = 1;
  pthread_mutex_lock(&p->mutex);
  while (!p->quit) {
    struct saltern_pool_loop *l = saltern_pool_open_loop(p);
    if (l) __atomic_fetch_add(&l->helpers, 1, __ATOMIC_ACQ_REL);
    const int seen = p->generation;
    pthread_mutex_unlock(&p->mutex);
    if (l) {
      saltern_pool_work(l);
      __atomic_fetch_sub(&l->helpers, 1, __ATOMIC_ACQ_REL); /* from here on it may be gone */
    } else {
      const int64_t until = saltern_pool_nanoseconds() + saltern_pool_spin_nanoseconds;
      while (saltern_pool_get(&p->generation) == seen && saltern_pool_nanoseconds() < until) saltern_pool_relax();
    }
    pthread_mutex_lock(&p->mutex);
    if (l) continue;
    ++p->sleeping;
    while (p->generation == seen && !p->quit) pthread_cond_wait(&p->wake, &p->mutex);
    --p->sleeping;
  }
  pthread_mutex_unlock(&p->mutex);
  return NULL;
}

/* At least so many threads, the caller's among them, until it is released. */
saltern_pool_shared void saltern_pool_1_reserve(int threads) {
  struct saltern_pool *p = &saltern_pool_1;
  pthread_mutex_lock(&p->changing);
  ++p->users;
  while (p->workers < threads - 1 && p->workers < saltern_pool_most_threads &&
         !pthread_create(&p->threads[p->workers], NULL, saltern_pool_1_serve, p))
    __atomic_fetch_add(&p->workers, 1, __ATOMIC_ACQ_REL);
  pthread_mutex_unlock(&p->changing);
}

/* Whoever is the last to do so ends the threads. */
saltern_pool_shared void saltern_pool_1_release(void) {
  struct saltern_pool *p = &saltern_pool_1;
  pthread_mutex_lock(&p->changing);
  if (--p->users == 0) {
    pthread_mutex_lock(&p->mutex);
    p->quit = 1;
    __atomic_fetch_add(&p->generation, 1, __ATOMIC_ACQ_REL);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->mutex);
    for (int i = 0; i < p->workers; ++i) pthread_join(p->threads[i], NULL);
    __atomic_store_n(&p->workers, 0, __ATOMIC_RELEASE);
    p->quit = 0;
  }
  pthread_mutex_unlock(&p->changing);
}

/* Calls task(closure, i) for every i in [0, count), on so many threads at most, the caller's among them. Zero, or what a
   task returned that failed. */
saltern_pool_shared int saltern_pool_1_run(int threads, int (*task)(void *closure, int i), void *closure, int count) {
  struct saltern_pool *p = &saltern_pool_1;
  struct saltern_pool_loop l = {task, closure, count, 0, 0, 0, threads - 1, NULL}, **at = &p->loops;
  if (threads < 2 || count < 2 || saltern_pool_1_inside || !saltern_pool_get(&p->workers)) {
    for (int i = 0; i < count && !l.result; ++i) l.result = task(closure, i);
    return l.result;
  }
  pthread_mutex_lock(&p->mutex);
  l.below = p->loops;
  p->loops = &l;
  __atomic_fetch_add(&p->generation, 1, __ATOMIC_ACQ_REL);
  if (p->sleeping) pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->mutex);
  saltern_pool_1_inside = 1;
  saltern_pool_work(&l);
  saltern_pool_1_inside = 0;
  /* All tasks are taken. From here on nobody comes, and who is still there is waited for. */
  pthread_mutex_lock(&p->mutex);
  while (*at != &l) at = &(*at)->below;
  *at = l.below;
  pthread_mutex_unlock(&p->mutex);
  while (saltern_pool_get(&l.helpers)) saltern_pool_relax();
  return saltern_pool_get(&l.result);
}

#ifdef __cplusplus
}
#endif
