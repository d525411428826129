/* A neural network compiled by Saltern: make a handle, run it, destroy it.
   One model handle serves one thread at a time; make a handle for each thread that runs. */
#ifndef NAME_MODEL_H
#define NAME_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NAME_ABI_VERSION 2
#define NAME_INPUTS 1
#define NAME_OUTPUTS 1

typedef struct NAME_model NAME_model;

typedef struct NAME_tensor {
  const char *name;
  const char *type; /* f32, i32, ... */
  int rank;
  const int64_t *shape; /* N, C, H, W for images; elements are row-major, the last dimension innermost */
  size_t elements, bytes;
} NAME_tensor;

/* All members may be zero. */
typedef struct NAME_options {
  void *(*allocate)(void *context, size_t bytes, size_t alignment);
  void (*release)(void *context, void *memory);
  /* Calls task(closure, i) once for every i in [0, count), on any threads, and returns when all are done: zero, or
     what a failing task returned. */
  int (*parallel_for)(void *context, int (*task)(void *closure, int i), void *closure, int count);
  void *context;
  /* 0 and 1: the caller's thread only. More: so many, the caller's among them. The others are one pool of the process:
     handles of this model and of others share it, and Saltern's library does where it is linked, too; they end with the
     last handle that has any. Results are the same bits. Where there is a parallel_for: how many tasks it runs at the
     same time at most; memory is reserved for so many, and more would take theirs from the heap. */
  int threads;
} NAME_options;

/* The version that the library was built with; compare with NAME_ABI_VERSION. */
int NAME_abi_version(void);
/* Inputs and outputs in the order that NAME_run takes them; a null pointer where there is no such number. */
const NAME_tensor *NAME_input(int number);
const NAME_tensor *NAME_output(int number);
/* Their numbers by name; -1 where there is none of that name. */
int NAME_input_number(const char *name);
int NAME_output_number(const char *name);
size_t NAME_workspace_bytes(void);
size_t NAME_weights_bytes(void);
/* What a handle with these options allocates, in one piece, when it is created. Running allocates nothing. */
size_t NAME_memory_bytes(const NAME_options *options);

#ifdef NAME_WEIGHTS_IN_FILE
/* The weights are in the file NAME.weights, which is mapped, not copied. A null pointer where memory is short or the file
   cannot be read, is no such file, or is not the one that was written with this library; `error` (which may be null)
   gets a text that says which. `options` may be null. */
NAME_model *NAME_create_from_file(const NAME_options *options, const char *path, char *error, size_t error_bytes);
/* The same with the contents of that file in memory, aligned to 64 bytes, which must live as long as the handle. */
NAME_model *NAME_create_from_memory(const NAME_options *options, const void *file, size_t file_bytes, char *error,
                                    size_t error_bytes);
#else
/* A null pointer where memory is short. `options` may be null. */
NAME_model *NAME_create(const NAME_options *options);
#endif

#ifdef NAME_STATE
/* What a run finds as the run before left it, and leaves for the next one: a handle's own. It begins as the model was
   compiled with. `number` is from 0 to NAME_STATES - 1. */
#define NAME_STATES 1
const NAME_tensor *NAME_state(int number);
int NAME_state_number(const char *name);
/* Copies it out of the handle, or into it: `bytes` of NAME_state. Not zero: there is no such state, or a null pointer. */
int NAME_get_state(const NAME_model *model, int number, void *to);
int NAME_set_state(NAME_model *model, int number, const void *from);
/* All of it to a file, or from one. Not zero: NAME_error says what is wrong: the file cannot be written or read, is damaged,
   or is not of this model; the state is as it was then. A file that is written over stays whole until the new one is. */
int NAME_save(NAME_model *model, const char *path);
int NAME_load(NAME_model *model, const char *path);
#endif
#ifdef NAME_TRAINING
/* One training step on a batch: gives its loss as it is before the step, and moves the parameters, which are state, as is
   all that the optimizer keeps. `inputs` are those of NAME_run; errors are as there. */
int NAME_train_step(NAME_model *model, const void *const *inputs, const void *labels, float *loss);
/* What the labels look like. */
const NAME_tensor *NAME_labels(void);
/* The learning rate of steps from now on. Not zero: there is no model. */
int NAME_set_rate(NAME_model *model, float rate);
#endif

/* Zero, or an error whose text NAME_error gives: a null pointer among the inputs or outputs, or a CPU that lacks what the
   library was compiled for. Memory that is aligned to 64 bytes saves copies; outputs may lie over inputs. */
int NAME_run(NAME_model *model, const void *const *inputs, void *const *outputs);
#ifdef NAME_ANY_BATCH
/* `count` samples, one after the other in each input and each output; NAME_input and NAME_output tell of one sample.
   NAME_SAMPLES at a time go through kernels made for so many. */
#define NAME_SAMPLES 8
int NAME_run_batch(NAME_model *model, size_t count, const void *const *inputs, void *const *outputs);
#endif
/* What the last run failed with; an empty text if it did not. */
const char *NAME_error(const NAME_model *model);
void NAME_destroy(NAME_model *model);

#ifdef __cplusplus
}
#endif
#endif
