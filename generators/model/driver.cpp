#include "generators/model/driver.h"

#include <algorithm>
#include <sstream>

namespace saltern::generators {

namespace {

constexpr int abi_version = 1;

// The header; @ stands for the model's name.
constexpr const char *header_template =
    R"(/* A neural network compiled by Saltern: call @_create, then @_run, then @_destroy.
   One model handle serves one thread at a time; make a handle for each thread that runs. */
#ifndef @_MODEL_H
#define @_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define @_ABI_VERSION $ABI
#define @_INPUTS $INPUTS
#define @_OUTPUTS $OUTPUTS

typedef struct @_model @_model;

typedef struct @_tensor {
  const char *name;
  const char *type; /* f32, i32, ... */
  int rank;
  const int64_t *shape; /* N, C, H, W for images; elements are row-major, the last dimension innermost */
  size_t elements, bytes;
} @_tensor;

/* All members may be zero. */
typedef struct @_options {
  void *(*allocate)(void *context, size_t bytes, size_t alignment);
  void (*release)(void *context, void *memory);
  /* Calls task(closure, i) once for every i in [0, count), on any threads, and returns when all are done: zero, or
     what a failing task returned. */
  int (*parallel_for)(void *context, int (*task)(void *closure, int i), void *closure, int count);
  void *context;
  int threads; /* 0 and 1: the caller's thread only. More: Halide's own pool, shared by the whole program. */
} @_options;

/* The version that the library was built with; compare with @_ABI_VERSION. */
int @_abi_version(void);
/* Inputs and outputs in the order that @_run takes them; a null pointer where there is no such number. */
const @_tensor *@_input(int number);
const @_tensor *@_output(int number);
size_t @_workspace_bytes(void);
size_t @_weights_bytes(void);

/* A null pointer where memory is short. `options` may be null. */
@_model *@_create(const @_options *options);
/* Zero, or an error whose text @_error gives. */
int @_run(@_model *model, const void *const *inputs, void *const *outputs);
/* What the last @_run failed with; an empty text if it did not. */
const char *@_error(const @_model *model);
void @_destroy(@_model *model);

#ifdef __cplusplus
}
#endif
#endif
)";

constexpr const char *driver_head = R"(#define _POSIX_C_SOURCE 200112L
#include "@.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
halide_par_for halide_set_custom_do_par_for(halide_par_for);
halide_handler halide_set_error_handler(halide_handler);
int halide_default_do_par_for(void *, halide_task, int, int, uint8_t *);
int halide_set_num_threads(int);

struct use { int region; int64_t offset; uint8_t code, bits; int rank; int32_t extents[8]; };
struct step { int (*kernel)(void **); const char *origin; int first_use, uses; };
struct edge { int64_t offset; int outer, channels, pixels, element; };

extern const uint8_t @_weights[];
)";

constexpr const char *driver_body = R"(
enum { workspace_bytes = $WORKSPACE, weights_bytes = $WEIGHTS, step_count = $STEPS, most_uses = $USES, alignment = 64 };

struct @_model {
  @_options options;
  uint8_t *workspace;
  char error[600];
};

/* The model that runs on this thread: parallel loops and errors of its kernels find it here. */
static __thread @_model *current;
static halide_par_for other_par_for;
static halide_handler other_handler;

struct loop { @_model *model; halide_task task; void *user_context; uint8_t *closure; int first; };

static int run_task(void *closure, int i) {
  const struct loop *l = (const struct loop *)closure;
  @_model *outer = current;
  current = l->model;
  const int result = l->task(l->user_context, l->first + i, l->closure);
  current = outer;
  return result;
}

static int halide_run_task(void *user_context, int i, uint8_t *closure) {
  (void)user_context;
  return run_task(closure, i);
}

static int par_for(void *user_context, halide_task task, int first, int count, uint8_t *closure) {
  struct loop l = {current, task, user_context, closure, first};
  if (!current) return (other_par_for ? other_par_for : halide_default_do_par_for)(user_context, task, first, count, closure);
  if (current->options.parallel_for) return current->options.parallel_for(current->options.context, run_task, &l, count);
  if (current->options.threads > 1) return halide_default_do_par_for(user_context, halide_run_task, 0, count, (uint8_t *)&l);
  for (int i = 0; i < count; ++i) {
    const int result = task(user_context, first + i, closure);
    if (result) return result;
  }
  return 0;
}

static void remember(void *user_context, const char *message) {
  if (current) snprintf(current->error, sizeof current->error, "%s", message);
  else if (other_handler) other_handler(user_context, message);
}

static void install(void) {
  static int installed;
  if (__atomic_exchange_n(&installed, 1, __ATOMIC_ACQ_REL)) return;
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
static void transpose(uint8_t *to, const uint8_t *from, int outer, int rows, int columns, size_t element) {
  if (rows == 1 || columns == 1) {
    memcpy(to, from, (size_t)outer * rows * columns * element);
    return;
  }
  for (int o = 0; o < outer; ++o)
    for (int c = 0; c < columns; ++c)
      for (int r = 0; r < rows; ++r, to += element)
        memcpy(to, from + (((size_t)o * rows + r) * columns + c) * element, element);
}

int @_abi_version(void) { return @_ABI_VERSION; }
const @_tensor *@_input(int number) { return number >= 0 && number < @_INPUTS ? &input_facts[number] : NULL; }
const @_tensor *@_output(int number) { return number >= 0 && number < @_OUTPUTS ? &output_facts[number] : NULL; }
size_t @_workspace_bytes(void) { return workspace_bytes; }
size_t @_weights_bytes(void) { return weights_bytes; }
const char *@_error(const @_model *model) { return model ? model->error : "there is no model"; }

@_model *@_create(const @_options *options) {
  @_options o = {0};
  if (options) o = *options;
  if (!o.allocate || !o.release) {
    o.allocate = default_allocate;
    o.release = default_release;
  }
  /* The handle stands before the workspace, in one piece of memory. */
  const size_t head = (sizeof(@_model) + alignment - 1) / alignment * alignment;
  uint8_t *memory = (uint8_t *)o.allocate(o.context, head + workspace_bytes, alignment);
  if (!memory) return NULL;
  @_model *model = (@_model *)memory;
  memset(model, 0, sizeof *model);
  model->options = o;
  model->workspace = memory + head;
  install();
  if (o.threads > 1 && !o.parallel_for) halide_set_num_threads(o.threads);
  return model;
}

void @_destroy(@_model *model) {
  if (model) model->options.release(model->options.context, model);
}

static int run_step(@_model *model, const struct step *s) {
  buffer buffers[most_uses];
  dimension dimensions[most_uses][8];
  void *arguments[most_uses];
  memset(buffers, 0, sizeof buffers);
  for (int i = 0; i < s->uses; ++i) {
    const struct use *u = &uses[s->first_use + i];
    int32_t stride = 1;
    for (int d = 0; d < u->rank; ++d) {
      const dimension dense = {0, u->extents[d], stride, 0};
      dimensions[i][d] = dense;
      stride *= u->extents[d];
    }
    /* Kernels only read the weights. */
    buffers[i].host = (u->region ? (uint8_t *)(uintptr_t)@_weights : model->workspace) + u->offset;
    buffers[i].type.code = u->code;
    buffers[i].type.bits = u->bits;
    buffers[i].type.lanes = 1;
    buffers[i].dimensions = u->rank;
    buffers[i].dim = dimensions[i];
    arguments[i] = &buffers[i];
  }
  return s->kernel(arguments);
}

int @_run(@_model *model, const void *const *inputs, void *const *outputs) {
  if (!model) return -1;
  model->error[0] = 0;
  for (int i = 0; i < @_INPUTS; ++i) {
    const struct edge *e = &input_edges[i];
    if (!inputs || !inputs[i]) {
      snprintf(model->error, sizeof model->error, "the input '%s' is a null pointer", input_facts[i].name);
      return -1;
    }
    transpose(model->workspace + e->offset, (const uint8_t *)inputs[i], e->outer, e->channels, e->pixels, (size_t)e->element);
  }
  @_model *outer = current;
  current = model;
  int result = 0;
  for (int i = 0; i < step_count && !result; ++i) {
    result = run_step(model, &steps[i]);
    if (result && !model->error[0])
      snprintf(model->error, sizeof model->error, "the node '%s' failed with code %d", steps[i].origin, result);
  }
  current = outer;
  if (result) return result;
  for (int i = 0; i < @_OUTPUTS; ++i) {
    const struct edge *e = &output_edges[i];
    if (!outputs || !outputs[i]) {
      snprintf(model->error, sizeof model->error, "the output '%s' is a null pointer", output_facts[i].name);
      return -1;
    }
    transpose((uint8_t *)outputs[i], model->workspace + e->offset, e->outer, e->pixels, e->channels, (size_t)e->element);
  }
  return 0;
}
)";

std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>> &places) {
  for (const auto &[place, content] : places)
    for (size_t at = 0; (at = text.find(place, at)) != std::string::npos; at += content.size())
      text.replace(at, place.size(), content);
  return text;
}

template <typename List>
std::string comma_separated(const List &list) {
  std::ostringstream s;
  for (auto it = list.begin(); it != list.end(); ++it) s << (it == list.begin() ? "" : ", ") << *it;
  return s.str();
}

// The two tables of the inputs or the outputs: what the user sees, and where they lie.
std::string edge_tables(const std::vector<Edge> &edges, const std::string &kind, const std::string &name) {
  std::ostringstream shapes, seen, placed;
  for (size_t i = 0; i < edges.size(); ++i) {
    const Edge &e = edges[i];
    const int rank = static_cast<int>(e.shape.size());
    const bool turned = e.layout == Layout::channels_last && rank >= 3;
    const int64_t outer = turned ? e.shape[0] : 1, channels = turned ? e.shape[1] : 1;
    shapes << "static const int64_t " << kind << "_shape_" << i << "[] = {"
           << comma_separated(e.shape.empty() ? Shape{1} : e.shape) << "};\n";
    seen << "  {\"" << e.name << "\", \"" << facts(e.type).name << "\", " << rank << ", " << kind << "_shape_" << i
         << ", " << elements(e.shape) << ", " << elements(e.shape) * facts(e.type).bytes() << "},\n";
    placed << "  {" << e.offset << ", " << outer << ", " << channels << ", " << elements(e.shape) / outer / channels
           << ", " << facts(e.type).bytes() << "},\n";
  }
  return shapes.str() + "static const " + name + "_tensor " + kind + "_facts[] = {\n" + seen.str() +
         "};\nstatic const struct edge " + kind + "_edges[] = {\n" + placed.str() + "};\n";
}

std::string step_tables(const Plan &plan, const std::string &name) {
  std::ostringstream kernels, uses, steps;
  for (int k = 0; k < plan.kernels; ++k) kernels << "int " << name << "_kernel_" << k << "_argv(void **);\n";
  int next = 0;
  for (const Step &s : plan.steps) {
    for (const BufferUse &u : s.buffers) {
      const halide_type_t type = facts(u.type).halide;
      uses << "  {" << (u.region == Region::weights) << ", " << u.offset << ", " << int(type.code) << ", "
           << int(type.bits) << ", " << u.extents.size() << ", {" << comma_separated(u.extents) << "}},\n";
    }
    steps << "  {" << name << "_kernel_" << s.kernel << "_argv, \"" << s.origin << "\", " << next << ", "
          << s.buffers.size() << "},\n";
    next += static_cast<int>(s.buffers.size());
  }
  return kernels.str() + "static const struct use uses[] = {\n" + uses.str() +
         "};\nstatic const struct step steps[] = {\n" + steps.str() + "};\n";
}

}  // namespace

void check_model_name(const std::string &name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const bool good = !name.empty() && name.size() <= 60 && letter(name[0]) && name[0] != '_' &&
                    std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
  if (!good)
    fail("'", name,
         "' cannot name a model: expected a C identifier of 60 characters at most that begins with a letter");
  if (name.rfind("halide", 0) == 0) fail("'", name, "' cannot name a model: the prefix halide is taken");
}

std::string header_text(const Plan &plan, const std::string &name) {
  return filled(header_template, {{"$ABI", std::to_string(abi_version)},
                                  {"$INPUTS", std::to_string(plan.inputs.size())},
                                  {"$OUTPUTS", std::to_string(plan.outputs.size())},
                                  {"@", name}});
}

std::string driver_text(const Plan &plan, const std::string &name) {
  size_t most_uses = 1;
  for (const Step &s : plan.steps) most_uses = std::max(most_uses, s.buffers.size());
  return filled(driver_head, {{"@", name}}) + step_tables(plan, name) + edge_tables(plan.inputs, "input", name) +
         edge_tables(plan.outputs, "output", name) +
         filled(driver_body, {{"$WORKSPACE", std::to_string(plan.workspace_bytes)},
                              {"$WEIGHTS", std::to_string(plan.weights.size())},
                              {"$STEPS", std::to_string(plan.steps.size())},
                              {"$USES", std::to_string(most_uses)},
                              {"@", name}});
}

std::string weights_text(const std::string &name, const std::string &weights_file) {
  const std::string symbol = name + "_weights";
  return ".section .rodata\n.balign 64\n.globl " + symbol + "\n.type " + symbol + ", @object\n" + symbol +
         ":\n.incbin \"" + weights_file + "\"\n.byte 0\n.size " + symbol + ", . - " + symbol +
         "\n.section .note.GNU-stack, \"\", @progbits\n";
}

}  // namespace saltern::generators
