#pragma once
/* What Halide's run-time support calls while kernels run: parallel loops, errors, memory. Several models, and others who
   use Halide, may be in one program: who is no model's goes to whoever was there before. */

#include <stdio.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "threads.h"

static int par_for(void *user_context, halide_task task, int first, int count, uint8_t *closure) {
  struct loop l = {current, task, user_context, closure, first};
  if (!current)
    return (other_par_for ? other_par_for : halide_default_do_par_for)(user_context, task, first, count, closure);
  if (count > 1 && !inside_loop) return run_on_threads(current, &l, count);
  for (int i = 0; i < count; ++i) {
    const int result = task(user_context, first + i, closure);
    if (result) return result;
  }
  return 0;
}

/* Steps may run side by side. What is there already stays, unless it is replaced. */
static void note_error(NAME_model *model, const char *message, int replace) {
  static pthread_mutex_t noting = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&noting);
  if (replace || !model->error[0]) snprintf(model->error, sizeof model->error, "%s", message);
  pthread_mutex_unlock(&noting);
}

static void remember(void *user_context, const char *message) {
  if (current)
    note_error(current, message, 1);
  else if (other_handler)
    other_handler(user_context, message);
}

/* Halide takes a CPU feature that it does not look for as there. Kernels that multiply bytes were compiled for all that
   Zen 4 has: what of it they may use is asked for here. */
static int can_use(int words, const uint64_t *features) {
#if defined(__x86_64__)
  if (bytes_feature / 64 < words && (features[bytes_feature / 64] >> (bytes_feature % 64) & 1)) {
    enum { vbmi = 1 << 1, vbmi2 = 1 << 6, gfni = 1 << 8, vnni = 1 << 11, bitalg = 1 << 12, popcount = 1 << 14 };
    enum { ifma = 1 << 21, bf16 = 1 << 5, sse4a = 1 << 6 };
    const unsigned wanted = vbmi | vbmi2 | gfni | vnni | bitalg | popcount;
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & ifma) || (c & wanted) != wanted) return 0;
    if (!__get_cpuid_count(7, 1, &a, &b, &c, &d) || !(a & bf16)) return 0;
    if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !(c & sse4a)) return 0;
  }
#endif
  return (other_can_use ? other_can_use : halide_default_can_use_target_features)(words, features);
}

static void install(void) {
  other_can_use = halide_set_custom_can_use_target_features(can_use);
  other_allocate = halide_set_custom_malloc(take_memory);
  other_release = halide_set_custom_free(give_memory_back);
  other_par_for = halide_set_custom_do_par_for(par_for);
  other_handler = halide_set_error_handler(remember);
}
