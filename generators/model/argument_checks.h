#pragma once
// What each kernel's code takes its arguments to be, held against what they are: an emitter that reads an image where
// the graph has rows, or a plan that puts a value where its kernel does not look, is an error that names node and value
// when the plan is made, instead of wrong results without a word.

#include "generators/model/emit.h"
#include "generators/model/homes.h"

namespace saltern::generators {

// Throws where a kernel was emitted for another type, number of elements or order of memory than its values and constants
// have. `who` is the node that it computes.
void check_arguments(const Graph &graph, const EmittedKernel &kernel, const std::string &who);

// The strides with which an argument's kernel sees the memory that it lies in; throws where they do not reach all of it
// and nothing else.
std::vector<int> checked_strides(const Graph &graph, const EmittedArgument &argument, const Homes::Home &home,
                                 const std::string &who);

// Throws where the code that was built does not take the arguments that the kernel says.
void check_build(const EmittedKernel &kernel, const Build &build);

}  // namespace saltern::generators
