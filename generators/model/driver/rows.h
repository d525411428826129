#pragma once
/* What the tables of a model are made of (tables.h). */

#include "NAME.h"

enum { in_workspace, in_weights, in_state };

/* In a region, or (edge >= 0) in the memory of a state, an input or an output, which are numbered together. */
struct use {
  int region, edge;
  int64_t offset;
  uint8_t code, bits;
  int rank;
  int32_t extents[8], strides[8];
};
struct step {
  int (*kernel)(void **);
  const char *origin;
  int first_use, uses, lanes, length;
};
struct edge {
  int region;
  int64_t offset;
  int outer, channels, pixels, element, direct;
};
/* To a state, when all is computed. */
struct copy {
  int region;
  int64_t from, to;
  size_t bytes;
};
struct variant {
  const struct step *steps;
  int step_count;
  const struct edge *inputs, *outputs;
  const NAME_tensor *input_facts, *output_facts; /* what callers know of them: of one sample where the batch is any */
  int input_count, output_count;
  const struct copy *copies; /* end with one of nothing */
};
