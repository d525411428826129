#pragma once
/* State, which lies in the handle from run to run. Most of it is computed in its place; the rest is copied there. */

#include "model.h"

const NAME_tensor *NAME_state(int number) { return number >= 0 && number < NAME_STATES ? &state_facts[number] : NULL; }
int NAME_state_number(const char *name) { return named(state_facts, NAME_STATES, name); }

int NAME_get_state(const NAME_model *model, int number, void *to) {
  if (!model || !to || !NAME_state(number)) return -1;
  const struct edge *e = &state_edges[number];
  transpose((uint8_t *)to, model->state + e->offset, e->outer, e->pixels, e->channels, (size_t)e->element);
  return 0;
}

int NAME_set_state(NAME_model *model, int number, const void *from) {
  if (!model || !from || !NAME_state(number)) return -1;
  const struct edge *e = &state_edges[number];
  transpose(model->state + e->offset, (const uint8_t *)from, e->outer, e->channels, e->pixels, (size_t)e->element);
  return 0;
}

static void keep_state(NAME_model *model) {
  for (const struct copy *c = state_copies; c->bytes; ++c)
    memcpy(model->state + c->to, place(model, c->region, c->from), c->bytes);
}
