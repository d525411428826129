/* The driver of a compiled model: tables of buffers and steps, and one loop. Several models can be linked into one
   program: every symbol begins with the model's name, except those of Halide's run-time support and of the pool of threads,
   which are weak. */
#define _POSIX_C_SOURCE 200809L
#include "NAME.h"

#include "create.h"
#ifdef NAME_WEIGHTS_IN_FILE
#include "weights_file.h"
#else
extern const uint8_t NAME_weights[];

NAME_model *NAME_create(const NAME_options *options) { return create(options, NAME_weights); }
#endif

int NAME_abi_version(void) { return NAME_ABI_VERSION; }
const NAME_tensor *NAME_input(int number) { return number >= 0 && number < NAME_INPUTS ? &input_facts[number] : NULL; }
const NAME_tensor *NAME_output(int number) {
  return number >= 0 && number < NAME_OUTPUTS ? &output_facts[number] : NULL;
}
size_t NAME_workspace_bytes(void) { return workspace_bytes; }
size_t NAME_weights_bytes(void) { return weights_bytes; }
const char *NAME_error(const NAME_model *model) { return model ? model->error : "there is no model"; }

static int named(const NAME_tensor *all, int count, const char *name) {
  for (int i = 0; name && i < count; ++i)
    if (!strcmp(all[i].name, name)) return i;
  return -1;
}
int NAME_input_number(const char *name) { return named(input_facts, NAME_INPUTS, name); }
int NAME_output_number(const char *name) { return named(output_facts, NAME_OUTPUTS, name); }

/* to[o][c][r] = from[o][r][c] */
static inline void turn(uint8_t *to, const uint8_t *from, int outer, int rows, int columns, size_t element) {
  for (int o = 0; o < outer; ++o)
    for (int c = 0; c < columns; ++c)
      for (int r = 0; r < rows; ++r, to += element)
        memcpy(to, from + (((size_t)o * rows + r) * columns + c) * element, element);
}

static void transpose(uint8_t *to, const uint8_t *from, int outer, int rows, int columns, size_t element) {
  if (rows == 1 || columns == 1)
    memcpy(to, from, (size_t)outer * rows * columns * element);
  else if (element == 4)
    turn(to, from, outer, rows, columns, 4); /* a size that the compiler sees: no calls */
  else
    turn(to, from, outer, rows, columns, element);
}

/* Nothing is written through it where it is among the weights. */
static uint8_t *place(const NAME_model *model, int region, int64_t offset) {
#ifdef NAME_STATE
  if (region == in_state) { /* each may lie elsewhere */
    int s = states - 1;
    while (s > 0 && state_edges[s].offset > offset) --s;
    return model->edges[s] + (offset - state_edges[s].offset);
  }
#endif
  return (region == in_weights ? (uint8_t *)(uintptr_t)model->weights : model->workspace) + offset;
}
#ifdef NAME_STATE
#include "state.h"
#include "state_file.h"
#endif

static int run_step(NAME_model *model, const struct step *s) {
  buffer buffers[most_uses];
  dimension dimensions[most_uses][8];
  void *arguments[most_uses];
  memset(buffers, 0, sizeof buffers);
  for (int i = 0; i < s->uses; ++i) {
    const struct use *u = &uses[s->first_use + i];
    for (int d = 0; d < u->rank; ++d) {
      const dimension all = {0, u->extents[d], u->strides[d], 0};
      dimensions[i][d] = all;
    }
    buffers[i].host = u->edge < 0 ? place(model, u->region, u->offset) : model->edges[u->edge] + u->offset;
    buffers[i].type.code = u->code;
    buffers[i].type.bits = u->bits;
    buffers[i].type.lanes = 1;
    buffers[i].dimensions = u->rank;
    buffers[i].dim = dimensions[i];
    arguments[i] = &buffers[i];
  }
  const int result = s->kernel(arguments);
  if (result) {
    char message[sizeof model->error];
    snprintf(message, sizeof message, "the node '%s' failed with code %d", s->origin, result);
    note_error(model, message, 0);
  }
  return result;
}

/* Lanes are tasks of a loop, each on one thread: loops inside of them are serial. */
static int run_lane(void *model, int number, uint8_t *stage) {
  const struct step *s = (const struct step *)(void *)stage;
  int result = 0;
  for (; number > 0; --number) s += s->length;
  for (int i = 0, count = s->length; i < count && !result; ++i) result = run_step((NAME_model *)model, &s[i]);
  return result;
}

static int run_lanes(NAME_model *model, const struct step *s) {
  struct loop l = {model, run_lane, model, (uint8_t *)(uintptr_t)s, 0};
  return run_on_threads(model, &l, s->lanes);
}

/* How many steps a stage has. */
static int stage_steps(const struct step *s) {
  int count = 0;
  for (int lane = 0; lane < s->lanes; ++lane) count += s[count].length;
  return count;
}

/* A null pointer, or a CPU that cannot: nothing runs then. */
static int ready(NAME_model *model, const struct variant *v, const void *const *inputs, void *const *outputs) {
  if (!model) return 0;
  model->error[0] = 0;
  if (!model->cpu_can)
    snprintf(model->error, sizeof model->error, "this CPU cannot run the model, which was compiled for %s or better",
             least_cpu);
  for (int i = 0; i < v->input_count; ++i)
    if (!inputs || !inputs[i])
      snprintf(model->error, sizeof model->error, "the input '%s' is a null pointer", v->input_facts[i].name);
  for (int i = 0; i < v->output_count; ++i)
    if (!outputs || !outputs[i])
      snprintf(model->error, sizeof model->error, "the output '%s' is a null pointer", v->output_facts[i].name);
#ifdef NAME_STATE
  for (int i = 0; i < states; ++i)
    if (!model->edges[i] && state_facts[i].bytes)
      snprintf(model->error, sizeof model->error, "the state '%s' has no memory", state_facts[i].name);
#endif
  return !model->error[0];
}

static size_t edge_bytes(const struct edge *e) { return (size_t)e->outer * e->channels * e->pixels * e->element; }

static int overlap(uintptr_t a, size_t a_bytes, uintptr_t b, size_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

/* Whether kernels can write an output where the caller wants it: all of them have to be elsewhere. */
static int is_apart(const struct variant *v, size_t first, int number, const void *const *inputs,
                    void *const *outputs) {
  const size_t bytes = edge_bytes(&v->outputs[number]);
  const uintptr_t to = (uintptr_t)outputs[number] + first * v->output_facts[number].bytes;
  for (int i = 0; i < v->input_count; ++i)
    if (overlap(to, bytes, (uintptr_t)inputs[i] + first * v->input_facts[i].bytes, edge_bytes(&v->inputs[i]))) return 0;
  for (int i = 0; i < v->output_count; ++i)
    if (i != number &&
        overlap(to, bytes, (uintptr_t)outputs[i] + first * v->output_facts[i].bytes, edge_bytes(&v->outputs[i])))
      return 0;
  return 1;
}

/* `first` is the sample that inputs and outputs begin with. */
static int run_variant(NAME_model *model, const struct variant *v, size_t first, const void *const *inputs,
                       void *const *outputs) {
  uint8_t **at_inputs = model->edges + states, **at_outputs = at_inputs + v->input_count;
  for (int i = 0; i < v->input_count; ++i) {
    const struct edge *e = &v->inputs[i];
    const uint8_t *from = (const uint8_t *)inputs[i] + first * v->input_facts[i].bytes;
    const int direct = e->direct && (uintptr_t)from % alignment == 0; /* kernels only read it then */
    at_inputs[i] = direct ? (uint8_t *)(uintptr_t)from : model->workspace + e->offset;
    if (!direct) transpose(at_inputs[i], from, e->outer, e->channels, e->pixels, (size_t)e->element);
  }
  for (int i = 0; i < v->output_count; ++i) {
    const struct edge *e = &v->outputs[i];
    uint8_t *to = (uint8_t *)outputs[i] + first * v->output_facts[i].bytes;
    const int direct = e->direct && (uintptr_t)to % alignment == 0 && is_apart(v, first, i, inputs, outputs);
    at_outputs[i] = direct ? to : place(model, e->region, e->offset);
  }
  NAME_model *outer = current;
  struct piece *outer_piece = piece;
  current = model;
  piece = &model->pieces[0];
  int result = 0;
  for (int i = 0, count; i < v->step_count && !result; i += count) {
    const struct step *s = &v->steps[i];
    const int in_lanes = s->lanes > 1 && model->options.threads > 1 && !model->watch;
    count = in_lanes ? stage_steps(s) : 1;
    result = in_lanes ? run_lanes(model, s) : run_step(model, s);
    if (model->watch) model->watch(model->watch_context, s->origin);
  }
  current = outer;
  piece = outer_piece;
  if (result) return result;
  for (int i = 0; i < v->output_count; ++i) {
    const struct edge *e = &v->outputs[i];
    uint8_t *to = (uint8_t *)outputs[i] + first * v->output_facts[i].bytes;
    const uint8_t *made = at_outputs[i];
    if (made != to) transpose(to, made, e->outer, e->pixels, e->channels, (size_t)e->element);
  }
#ifdef NAME_STATE
  keep_state(model, v->copies);
#endif
  return 0;
}

int NAME_run(NAME_model *model, const void *const *inputs, void *const *outputs) {
  const struct variant *v = &variants[sizeof variants / sizeof variants[0] - 1];
  return ready(model, v, inputs, outputs) ? run_variant(model, v, 0, inputs, outputs) : -1;
}
#ifdef NAME_ANY_BATCH

int NAME_run_batch(NAME_model *model, size_t count, const void *const *inputs, void *const *outputs) {
  size_t done = 0;
  int result = 0;
  if (!ready(model, &variants[0], inputs, outputs)) return -1;
  for (; !result && count - done >= NAME_SAMPLES; done += NAME_SAMPLES)
    result = run_variant(model, &variants[0], done, inputs, outputs);
  for (; !result && done < count; ++done) result = run_variant(model, &variants[1], done, inputs, outputs);
  return result;
}
#endif
#ifdef NAME_TRAINING

const NAME_tensor *NAME_labels(void) { return &train_input_facts[NAME_INPUTS]; }

int NAME_set_rate(NAME_model *model, float rate) { return NAME_set_state(model, NAME_state_number("rate"), &rate); }

int NAME_train_step(NAME_model *model, const void *const *inputs, const void *labels, float *loss) {
  const void *all[NAME_INPUTS + 1] = {0};
  void *outputs[] = {loss};
  for (int i = 0; inputs && i < NAME_INPUTS; ++i) all[i] = inputs[i];
  all[NAME_INPUTS] = labels;
  return ready(model, &variants[0], all, outputs) ? run_variant(model, &variants[0], 0, all, outputs) : -1;
}
#endif
