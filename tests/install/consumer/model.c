/* Runs the compiled net of layers.cpp on the same input and prints what it gives. */
#include <stdio.h>

#include "small.h"

int main(void) {
  const float x[3] = {1, 1, 2};
  float y[2];
  const void *inputs[] = {x};
  void *outputs[] = {y};
  small_model *model = small_create(NULL);
  if (!model) return 1;
  if (small_run(model, inputs, outputs)) {
    fprintf(stderr, "model: %s\n", small_error(model));
    return 1;
  }
  small_destroy(model);
  printf("%g %g\n", y[0], y[1]);
  return 0;
}
