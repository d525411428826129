#pragma once
/* What Halide's run-time support calls while kernels run: parallel loops, errors, memory. Several models, and others who
   use Halide, may be in one program: who is no model's goes to whoever was there before. */

#include <stdio.h>

#include "threads.h"

static int par_for(void *user_context, halide_task task, int first, int count, uint8_t *closure) {
  struct loop l = {current, task, user_context, closure, first, count, 0, count, 0};
  if (!current)
    return (other_par_for ? other_par_for : halide_default_do_par_for)(user_context, task, first, count, closure);
  if (current->options.parallel_for)
    return current->options.parallel_for(current->options.context, run_task, &l, count);
  if (current->workers && count > 1 && !inside_loop) return run_on_threads(current, &l);
  for (int i = 0; i < count; ++i) {
    const int result = task(user_context, first + i, closure);
    if (result) return result;
  }
  return 0;
}

/* Steps may run side by side. What is there already stays, unless it is replaced. */
static void note_error(NAME_model *model, const char *message, int replace) {
  if (model->workers) pthread_mutex_lock(&model->mutex);
  if (replace || !model->error[0]) snprintf(model->error, sizeof model->error, "%s", message);
  if (model->workers) pthread_mutex_unlock(&model->mutex);
}

static void remember(void *user_context, const char *message) {
  if (current)
    note_error(current, message, 1);
  else if (other_handler)
    other_handler(user_context, message);
}

static void install(void) {
  other_allocate = halide_set_custom_malloc(take_memory);
  other_release = halide_set_custom_free(give_memory_back);
  other_par_for = halide_set_custom_do_par_for(par_for);
  other_handler = halide_set_error_handler(remember);
}
