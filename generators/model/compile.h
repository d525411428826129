#pragma once
// The model compiler: a graph becomes a static library and a C99 header,
//
//   cc main.c FOLDER/libNAME.a -lm -lpthread
//
// with nothing of Saltern, Halide or LLVM beside them. The same graph and options give the same bytes. Nothing here
// needs the Halide compiler's headers; all errors are saltern::Error.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "generators/model/plan.h"
#include "runtime/graph/graph.h"

namespace saltern::generators {

struct CompileOptions {
  std::string name;                  // a C identifier; all symbols and the files begin with it
  std::string folder;                // made if need be
  std::vector<std::string> targets;  // names of CPU targets, or none for all; the CPU is asked at run time
  std::string cache;                 // a folder that keeps compiled kernels; empty: none is kept
  bool shared = false;               // libNAME.so beside the static library
  bool weights_file = false;         // the weights in NAME.weights instead of in the library
  bool state_outside = false;        // state has no beginning here, and lies where callers say: compile_step.h
  // No convolution by Winograd's minimal filtering, which rounds otherwise and spreads what is no number over a tile.
  bool exact_convolutions = false;
  bool main = false;  // NAME_main.c, a program that runs the model on files
  // Of a training step: the bytes that it may take, with state, inputs, and what kernels take of so many threads
  // (memory_budget.h). 0: as many as it likes.
  int64_t memory = 0;
  int memory_threads = 1;
  int jobs = 0;  // processes that compile at the same time; 0: as many as there are cores
  std::function<void(int done, int all)> progress;
};

struct CompiledModel {
  // Paths; the last three are empty unless asked for.
  std::string header, driver, library, shared_library, weights_file, main;
  std::vector<std::string> targets;
  int64_t code_bytes = 0, weights_bytes = 0, workspace_bytes = 0;
  // What a handle of one thread, the inputs and what lies outside of handles take together: of a step, or of a run.
  int64_t peak_bytes = 0;
  KernelMemory kernel_memory;
  int steps = 0, kernels = 0;
};

// Throws unless the name can name a model and all targets are known: what compile_model asks first.
void check(const CompileOptions &options);

// Where tools keep compiled kernels and models unless told otherwise: SALTERN_CACHE, else in the user's cache folder;
// empty where there is neither: a folder that everybody knows would hold what anybody has put there.
std::string default_cache_folder();
// The shared library that a graph compiles to, in options.cache: made there unless it is there already, for the same
// graph, weights, options and build of this program. options.folder means nothing here.
std::string cached_library(const Graph &graph, const CompileOptions &options);
// The name of the best CPU target that this machine runs.
std::string best_target_here();

CompiledModel compile_model(const Graph &graph, const CompileOptions &options);
// A model whose batch is known at run time: the same model for many samples at once, and for one. Throws an Unsupported
// that names the node where samples cannot be shown to be independent (samples.h).
CompiledModel compile_batched_model(const Graph &many, const Graph &one, const CompileOptions &options);
// A training step (runtime/optim/training_step.h), whose last input is labels and whose output is the loss, and the model that
// it trains, whose inputs are the others. What both have by one name is one: constants of the model that are state of the
// step are that state.
CompiledModel compile_training(const Graph &step, const Graph &model, const CompileOptions &options);

}  // namespace saltern::generators
