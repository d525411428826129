#pragma once
/* State, which lies in the handle from run to run. Most of it is computed in its place; the rest is copied there. */

#include "model.h"

const NAME_tensor *NAME_state(int number) { return number >= 0 && number < NAME_STATES ? &state_facts[number] : NULL; }
int NAME_state_number(const char *name) { return named(state_facts, NAME_STATES, name); }

int NAME_get_state(const NAME_model *model, int number, void *to) {
  if (!model || !to || !NAME_state(number)) return -1;
  const struct edge *e = &state_edges[number];
  if (!model->edges[number]) return -1;
  transpose((uint8_t *)to, model->edges[number], e->outer, e->pixels, e->channels, (size_t)e->element);
  return 0;
}

int NAME_set_state(NAME_model *model, int number, const void *from) {
  if (!model || !from || !NAME_state(number)) return -1;
  const struct edge *e = &state_edges[number];
  if (!model->edges[number]) return -1;
  transpose(model->edges[number], (const uint8_t *)from, e->outer, e->channels, e->pixels, (size_t)e->element);
  return 0;
}

/* For tools that train in memory of their own, aligned to 64 bytes; they find them by their names. */
void NAME_lend_state(NAME_model *model, int number, void *memory) { model->edges[number] = (uint8_t *)memory; }
int NAME_state_has_channels_last(int number) { return state_edges[number].channels > 1; }

static void keep_state(NAME_model *model, const struct copy *copies) {
  for (const struct copy *c = copies; c->bytes; ++c)
    memcpy(place(model, in_state, c->to), place(model, c->region, c->from), c->bytes);
}
