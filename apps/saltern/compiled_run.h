#pragma once
// Running a model with kernels compiled for its exact shapes.

#include <CLI/CLI.hpp>

#include "generators/model/compiled_graph.h"

namespace saltern {

// What commands that compile models are told about convolutions.
struct ConvolutionOption {
  bool exact = false;

  CLI::Option *add_to(CLI::App &app);
};

// A terminal sees how far it is.
generators::CompiledGraph compiled_here(const Graph &graph, int threads, const ConvolutionOption &convolutions);

}  // namespace saltern
