#pragma once
/* What the model compiler writes of a model: sizes, kernels, and the tables by which they are called. Here for a model
   of one kernel that reads a picture and weights, so that the driver can be compiled as it stands; a model has its own in
   this place. */

#include "NAME.h"
#include "rows.h"

enum { most_uses = 3, states = 1, most_edges = 3 };
static const size_t workspace_bytes = 256, weights_bytes = 64, state_bytes = 64;
/* Where the state's beginning is among the weights. A state of no bytes lies where callers say (state.h). */
static const size_t first_state = 0;
/* What kernels take while they run: on the thread that calls them, and on one that runs tasks of their loops. */
static const size_t caller_bytes = 128, task_bytes = 64;
/* The least CPU that the kernels were compiled for, as Halide numbers what a CPU can have. */
static const char least_cpu[] = "sse41";
static const uint64_t cpu_features[] = {0, 0};
/* The number of the feature that kernels which multiply bytes ask for. */
enum { bytes_feature = 1 };
#define WEIGHTS_HASH "0123456789abcdef0123456789abcdef"

int NAME_kernel_0_argv(void **);
static const struct use uses[] = {
    {0, 0, 0, 2, 32, 3, {4, 3, 2}, {1, 4, 12}},
    {1, -1, 0, 2, 32, 1, {4}, {1}},
    {0, -1, 128, 2, 32, 3, {4, 3, 2}, {1, 4, 12}},
};
static const struct step steps_0[] = {
    {NAME_kernel_0_argv, "y", 0, 3, 1, 1},
};
static const struct edge input_edges_0[] = {{0, 0, 1, 4, 6, 4, 1}};
static const struct edge output_edges_0[] = {{0, 128, 1, 4, 6, 4, 0}};
static const int64_t input_shape_0[] = {1, 4, 2, 3}, output_shape_0[] = {1, 4, 2, 3};
static const NAME_tensor input_facts[] = {{"x", "f32", 4, input_shape_0, 24, 96}};
static const NAME_tensor output_facts[] = {{"y", "f32", 4, output_shape_0, 24, 96}};
static const struct copy copies_0[] = {{in_workspace, 128, 0, 16}, {0, 0, 0, 0}};
static const struct variant variants[] = {
    {steps_0, 1, input_edges_0, output_edges_0, input_facts, output_facts, 1, 1, copies_0},
    {steps_0, 1, input_edges_0, output_edges_0, input_facts, output_facts, 1, 1, copies_0},
};
#ifdef NAME_STATE
static const int64_t state_shape_0[] = {4};
static const NAME_tensor state_facts[] = {{"s", "f32", 1, state_shape_0, 4, 16}};
static const struct edge state_edges[] = {{in_state, 0, 1, 1, 4, 4, 0}};
/* Of all that is known of the state: what tells its files from others. */
#define STATE_HASH "0123456789abcdef0123456789abcdef"
#endif
#ifdef NAME_TRAINING
static const NAME_tensor train_input_facts[] = {{"x", "f32", 4, input_shape_0, 24, 96},
                                                {"labels", "f32", 4, output_shape_0, 24, 96}};
#endif
