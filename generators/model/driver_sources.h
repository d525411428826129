#pragma once
// The C text of a compiled model's driver, as driver.cpp fills it in: @ stands for the model's name, $WORDS for numbers
// and tables of the plan. Its order is: head, tables, model, memory (driver_memory.h), threads (driver_threads.h), body,
// creation (driver_weights.h).

namespace saltern::generators {

inline constexpr const char *driver_head = R"(#define _POSIX_C_SOURCE 200809L
#include "@.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Halide's calling convention for kernels. */
typedef struct dimension { int32_t min, extent, stride; uint32_t flags; } dimension;
typedef struct buffer {
  uint64_t device;
  const void *device_interface;
  uint8_t *host;
  uint64_t flags;
  struct { uint8_t code, bits; uint16_t lanes; } type;
  int32_t dimensions;
  dimension *dim;
  void *padding;
} buffer;
typedef int (*halide_task)(void *user_context, int number, uint8_t *closure);
typedef int (*halide_par_for)(void *user_context, halide_task task, int first, int count, uint8_t *closure);
typedef void (*halide_handler)(void *user_context, const char *message);
typedef void *(*halide_allocate)(void *user_context, size_t bytes);
typedef void (*halide_release)(void *user_context, void *memory);
halide_par_for halide_set_custom_do_par_for(halide_par_for);
halide_handler halide_set_error_handler(halide_handler);
halide_allocate halide_set_custom_malloc(halide_allocate);
halide_release halide_set_custom_free(halide_release);
void *halide_default_malloc(void *user_context, size_t bytes);
void halide_default_free(void *user_context, void *memory);
int halide_default_do_par_for(void *, halide_task, int, int, uint8_t *);
int halide_can_use_target_features(int words, const uint64_t *features);

/* In a region, or (edge >= 0) in the memory of an input or output, which are numbered together. */
struct use { int region, edge; int64_t offset; uint8_t code, bits; int rank; int32_t extents[8], strides[8]; };
struct step { int (*kernel)(void **); const char *origin; int first_use, uses, lanes, length; };
struct edge { int region; int64_t offset; int outer, channels, pixels, element, direct; };
struct variant { const struct step *steps; int step_count; const struct edge *inputs, *outputs; };
)";

inline constexpr const char *driver_model = R"(
enum { most_uses = $USES, alignment = 64, most_threads = 256, spin_nanoseconds = 2000000 };
static const size_t workspace_bytes = $WORKSPACE, weights_bytes = $WEIGHTS;
/* What kernels take while they run: on the thread that calls them, and on one that runs tasks of their loops. */
static const size_t caller_bytes = $CALLER, task_bytes = $TASK;

/* The least CPU that the kernels were compiled for, as Halide numbers what a CPU can have. */
static const char least_cpu[] = "$CPU";
static const uint64_t cpu_features[] = {$FEATURES};

struct @_model {
  @_options options;
  uint8_t *workspace;
  const uint8_t *weights;
  uint8_t *edges[@_INPUTS + @_OUTPUTS]; /* where inputs and outputs lie in this run */
  void *mapped; /* the weights' file, or null */
  size_t mapped_bytes;
  struct piece *pieces; /* of memory, for kernels */
  int piece_count;
  char error[600];
  int cpu_can; /* run the kernels */
  void (*watch)(void *context, const char *origin); /* called after each step, if not null */
  void *watch_context;
  /* Threads of its own: generation counts what they were handed, under the mutex. */
  pthread_mutex_t mutex;
  pthread_cond_t wake;
  struct loop *loop;
  int generation, sleeping, busy, quit, workers;
  pthread_t threads[most_threads];
};

/* The model that runs on this thread: parallel loops and errors of its kernels find it here. */
static __thread @_model *current;
static __thread int inside_loop; /* a loop within a parallel loop is serial */
static halide_par_for other_par_for;
static halide_handler other_handler;

struct loop {
  @_model *model;
  halide_task task;
  void *user_context;
  uint8_t *closure;
  int first, count, next, unfinished, result;
};

)";

inline constexpr const char *driver_body = R"(
static int par_for(void *user_context, halide_task task, int first, int count, uint8_t *closure) {
  struct loop l = {current, task, user_context, closure, first, count, 0, count, 0};
  if (!current) return (other_par_for ? other_par_for : halide_default_do_par_for)(user_context, task, first, count, closure);
  if (current->options.parallel_for) return current->options.parallel_for(current->options.context, run_task, &l, count);
  if (current->workers && count > 1 && !inside_loop) return run_on_threads(current, &l);
  for (int i = 0; i < count; ++i) {
    const int result = task(user_context, first + i, closure);
    if (result) return result;
  }
  return 0;
}

/* Steps may run side by side. What is there already stays, unless it is replaced. */
static void note_error(@_model *model, const char *message, int replace) {
  if (model->workers) pthread_mutex_lock(&model->mutex);
  if (replace || !model->error[0]) snprintf(model->error, sizeof model->error, "%s", message);
  if (model->workers) pthread_mutex_unlock(&model->mutex);
}

static void remember(void *user_context, const char *message) {
  if (current) note_error(current, message, 1);
  else if (other_handler) other_handler(user_context, message);
}

static void install(void) {
  other_allocate = halide_set_custom_malloc(take_memory);
  other_release = halide_set_custom_free(give_memory_back);
  other_par_for = halide_set_custom_do_par_for(par_for);
  other_handler = halide_set_error_handler(remember);
}

static void *default_allocate(void *context, size_t bytes, size_t align) {
  void *memory = NULL;
  (void)context;
  return posix_memalign(&memory, align, bytes) ? NULL : memory;
}

static void default_release(void *context, void *memory) {
  (void)context;
  free(memory);
}

/* to[o][c][r] = from[o][r][c] */
static inline void turn(uint8_t *to, const uint8_t *from, int outer, int rows, int columns, size_t element) {
  for (int o = 0; o < outer; ++o)
    for (int c = 0; c < columns; ++c)
      for (int r = 0; r < rows; ++r, to += element)
        memcpy(to, from + (((size_t)o * rows + r) * columns + c) * element, element);
}

static void transpose(uint8_t *to, const uint8_t *from, int outer, int rows, int columns, size_t element) {
  if (rows == 1 || columns == 1) memcpy(to, from, (size_t)outer * rows * columns * element);
  else if (element == 4) turn(to, from, outer, rows, columns, 4); /* a size that the compiler sees: no calls */
  else turn(to, from, outer, rows, columns, element);
}

int @_abi_version(void) { return @_ABI_VERSION; }
const @_tensor *@_input(int number) { return number >= 0 && number < @_INPUTS ? &input_facts[number] : NULL; }
const @_tensor *@_output(int number) { return number >= 0 && number < @_OUTPUTS ? &output_facts[number] : NULL; }
size_t @_workspace_bytes(void) { return workspace_bytes; }
size_t @_weights_bytes(void) { return weights_bytes; }
const char *@_error(const @_model *model) { return model ? model->error : "there is no model"; }

static int named(const @_tensor *all, int count, const char *name) {
  for (int i = 0; name && i < count; ++i)
    if (!strcmp(all[i].name, name)) return i;
  return -1;
}
int @_input_number(const char *name) { return named(input_facts, @_INPUTS, name); }
int @_output_number(const char *name) { return named(output_facts, @_OUTPUTS, name); }

static size_t aligned(size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/* A handle is one piece of memory: the model, its pieces' heads, the workspace, the pieces. */
static int piece_count(const @_options *o) {
  return o->threads < 1 ? 1 : o->threads < most_threads ? o->threads : most_threads;
}
static size_t head_bytes(int pieces) { return aligned(sizeof(@_model)) + aligned((size_t)pieces * sizeof(struct piece)); }
size_t @_memory_bytes(const @_options *options) {
  const int pieces = options ? piece_count(options) : 1;
  return head_bytes(pieces) + workspace_bytes + caller_bytes + (size_t)(pieces - 1) * task_bytes;
}

static @_model *create(const @_options *options, const uint8_t *weights) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  @_options o = {0};
  if (options) o = *options;
  if (!o.allocate || !o.release) {
    o.allocate = default_allocate;
    o.release = default_release;
  }
  const int pieces = piece_count(&o);
  uint8_t *memory = (uint8_t *)o.allocate(o.context, @_memory_bytes(&o), alignment);
  if (!memory) return NULL;
  memset(memory, 0, head_bytes(pieces));
  @_model *model = (@_model *)(void *)memory;
  model->options = o;
  model->weights = weights;
  model->pieces = (struct piece *)(void *)(memory + aligned(sizeof *model));
  model->piece_count = pieces;
  model->workspace = memory + head_bytes(pieces);
  cut_pieces(model, model->workspace + workspace_bytes);
  pthread_once(&once, install);
  model->cpu_can = halide_can_use_target_features(sizeof cpu_features / sizeof cpu_features[0], cpu_features);
  if (o.threads > 1 && !o.parallel_for) start_threads(model);
  return model;
}

/* For tools that time steps; they find it by its name. */
void @_watch(@_model *model, void (*watch)(void *context, const char *origin), void *context) {
  model->watch = watch;
  model->watch_context = context;
}

void @_destroy(@_model *model) {
  if (!model) return;
  if (model->options.threads > 1 && !model->options.parallel_for) end_threads(model);
  if (model->mapped) munmap(model->mapped, model->mapped_bytes);
  model->options.release(model->options.context, model);
}

/* Nothing is written through it where it is among the weights. */
static uint8_t *place(const @_model *model, int region, int64_t offset) {
  return (region ? (uint8_t *)(uintptr_t)model->weights : model->workspace) + offset;
}

static int run_step(@_model *model, const struct step *s) {
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
  for (int i = 0, count = s->length; i < count && !result; ++i) result = run_step((@_model *)model, &s[i]);
  return result;
}

static int run_lanes(@_model *model, const struct step *s) {
  struct loop l = {model, run_lane, model, (uint8_t *)(uintptr_t)s, 0, s->lanes, 0, s->lanes, 0};
  return run_on_threads(model, &l);
}

/* How many steps a stage has. */
static int stage_steps(const struct step *s) {
  int count = 0;
  for (int lane = 0; lane < s->lanes; ++lane) count += s[count].length;
  return count;
}

/* A null pointer, or a CPU that cannot: nothing runs then. */
static int ready(@_model *model, const void *const *inputs, void *const *outputs) {
  if (!model) return 0;
  model->error[0] = 0;
  if (!model->cpu_can)
    snprintf(model->error, sizeof model->error, "this CPU cannot run the model, which was compiled for %s or better", least_cpu);
  for (int i = 0; i < @_INPUTS; ++i)
    if (!inputs || !inputs[i])
      snprintf(model->error, sizeof model->error, "the input '%s' is a null pointer", input_facts[i].name);
  for (int i = 0; i < @_OUTPUTS; ++i)
    if (!outputs || !outputs[i])
      snprintf(model->error, sizeof model->error, "the output '%s' is a null pointer", output_facts[i].name);
  return !model->error[0];
}

static size_t edge_bytes(const struct edge *e) { return (size_t)e->outer * e->channels * e->pixels * e->element; }

static int overlap(uintptr_t a, size_t a_bytes, uintptr_t b, size_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

/* Whether kernels can write an output where the caller wants it: all of them have to be elsewhere. */
static int is_apart(const struct variant *v, size_t first, int number, const void *const *inputs, void *const *outputs) {
  const size_t bytes = edge_bytes(&v->outputs[number]);
  const uintptr_t to = (uintptr_t)outputs[number] + first * output_facts[number].bytes;
  for (int i = 0; i < @_INPUTS; ++i)
    if (overlap(to, bytes, (uintptr_t)inputs[i] + first * input_facts[i].bytes, edge_bytes(&v->inputs[i]))) return 0;
  for (int i = 0; i < @_OUTPUTS; ++i)
    if (i != number &&
        overlap(to, bytes, (uintptr_t)outputs[i] + first * output_facts[i].bytes, edge_bytes(&v->outputs[i])))
      return 0;
  return 1;
}

/* `first` is the sample that inputs and outputs begin with. */
static int run_variant(@_model *model, const struct variant *v, size_t first, const void *const *inputs,
                       void *const *outputs) {
  for (int i = 0; i < @_INPUTS; ++i) {
    const struct edge *e = &v->inputs[i];
    const uint8_t *from = (const uint8_t *)inputs[i] + first * input_facts[i].bytes;
    const int direct = e->direct && (uintptr_t)from % alignment == 0; /* kernels only read it then */
    model->edges[i] = direct ? (uint8_t *)(uintptr_t)from : model->workspace + e->offset;
    if (!direct) transpose(model->edges[i], from, e->outer, e->channels, e->pixels, (size_t)e->element);
  }
  for (int i = 0; i < @_OUTPUTS; ++i) {
    const struct edge *e = &v->outputs[i];
    uint8_t *to = (uint8_t *)outputs[i] + first * output_facts[i].bytes;
    const int direct = e->direct && (uintptr_t)to % alignment == 0 && is_apart(v, first, i, inputs, outputs);
    model->edges[@_INPUTS + i] = direct ? to : place(model, e->region, e->offset);
  }
  @_model *outer = current;
  struct piece *outer_piece = piece;
  current = model;
  piece = &model->pieces[0];
  int result = 0;
  for (int i = 0, count; i < v->step_count && !result; i += count) {
    const struct step *s = &v->steps[i];
    const int in_lanes = s->lanes > 1 && model->workers && !model->watch;
    count = in_lanes ? stage_steps(s) : 1;
    result = in_lanes ? run_lanes(model, s) : run_step(model, s);
    if (model->watch) model->watch(model->watch_context, s->origin);
  }
  current = outer;
  piece = outer_piece;
  if (result) return result;
  for (int i = 0; i < @_OUTPUTS; ++i) {
    const struct edge *e = &v->outputs[i];
    uint8_t *to = (uint8_t *)outputs[i] + first * output_facts[i].bytes;
    const uint8_t *made = model->edges[@_INPUTS + i];
    if (made != to) transpose(to, made, e->outer, e->pixels, e->channels, (size_t)e->element);
  }
  return 0;
}

int @_run(@_model *model, const void *const *inputs, void *const *outputs) {
  if (!ready(model, inputs, outputs)) return -1;
  return run_variant(model, &variants[sizeof variants / sizeof variants[0] - 1], 0, inputs, outputs);
}
)";

inline constexpr const char *driver_run_batch = R"(
int @_run_batch(@_model *model, size_t count, const void *const *inputs, void *const *outputs) {
  size_t done = 0;
  int result = 0;
  if (!ready(model, inputs, outputs)) return -1;
  for (; !result && count - done >= $SAMPLES; done += $SAMPLES) result = run_variant(model, &variants[0], done, inputs, outputs);
  for (; !result && done < count; ++done) result = run_variant(model, &variants[1], done, inputs, outputs);
  return result;
}
)";

}  // namespace saltern::generators
