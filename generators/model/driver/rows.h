#pragma once
/* What the tables of a model are made of (tables.h). */

#include <stddef.h>
#include <stdint.h>

enum { in_workspace, in_weights, in_state };

/* In a region, or (edge >= 0) in the memory of an input or output, which are numbered together. */
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
};
