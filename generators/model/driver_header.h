#pragma once
// The C text of a compiled model's header, NAME.h, as driver.cpp fills it in: @ stands for the model's name, $WORDS for
// numbers and for the parts that depend on where the weights are and on whether the batch is known at run time.

namespace saltern::generators {

inline constexpr const char *header_template =
    R"(/* A neural network compiled by Saltern: call $CREATE, then @_run, then @_destroy.
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
  /* 0 and 1: the caller's thread only. More: so many, the caller's among them, the others the handle's own from
     creation to @_destroy. Results are the same bits. Where there is a parallel_for: how many tasks it runs at the
     same time at most; memory is reserved for so many, and more would take theirs from the heap. */
  int threads;
} @_options;

/* The version that the library was built with; compare with @_ABI_VERSION. */
int @_abi_version(void);
/* Inputs and outputs in the order that @_run takes them; a null pointer where there is no such number. */
const @_tensor *@_input(int number);
const @_tensor *@_output(int number);
/* Their numbers by name; -1 where there is none of that name. */
int @_input_number(const char *name);
int @_output_number(const char *name);
size_t @_workspace_bytes(void);
size_t @_weights_bytes(void);
/* What a handle with these options allocates, in one piece, when it is created. Running allocates nothing. */
size_t @_memory_bytes(const @_options *options);

$CREATION
/* Zero, or an error whose text @_error gives: a null pointer among the inputs or outputs, or a CPU that lacks what the
   library was compiled for. Memory that is aligned to 64 bytes saves copies; outputs may lie over inputs. */
int @_run(@_model *model, const void *const *inputs, void *const *outputs);
$BATCH/* What the last run failed with; an empty text if it did not. */
const char *@_error(const @_model *model);
void @_destroy(@_model *model);

#ifdef __cplusplus
}
#endif
#endif
)";

inline constexpr const char *creation_with_weights_inside =
    R"(/* A null pointer where memory is short. `options` may be null. */
@_model *@_create(const @_options *options);
)";

inline constexpr const char *creation_from_weights_file =
    R"(/* The weights are in the file @.weights, which is mapped, not copied. A null pointer where memory is short or the file
   cannot be read, is no such file, or is not the one that was written with this library; `error` (which may be null)
   gets a text that says which. `options` may be null. */
@_model *@_create_from_file(const @_options *options, const char *path, char *error, size_t error_bytes);
/* The same with the contents of that file in memory, aligned to 64 bytes, which must live as long as the handle. */
@_model *@_create_from_memory(const @_options *options, const void *file, size_t file_bytes, char *error,
                              size_t error_bytes);
)";

inline constexpr const char *run_batch_declaration =
    R"(/* `count` samples, one after the other in each input and each output; @_input and @_output tell of one sample.
   $SAMPLES at a time go through kernels made for so many. */
int @_run_batch(@_model *model, size_t count, const void *const *inputs, void *const *outputs);
)";

}  // namespace saltern::generators
