#pragma once
// A contraction with packed weights (geometry.h) as one stage of a pipeline: what its kernel takes, the formula, and the
// facts that its schedule (schedules/patterns/packed_convolution.h) wants.

#include "generators/model/epilogue.h"
#include "generators/model/geometry.h"
#include "schedules/patterns/packed_convolution.h"

namespace saltern::generators {

// Its weights and its bias, as packed_sums takes them.
std::vector<EmittedArgument> packed_arguments(const Graph &graph, const Graph::Node &node, const Geometry &g);

// Sums of windows as a stage of a pipeline, and the image as they read it.
struct WindowSums {
  forms::Tensor biased;       // with the bias
  Halide::Func sums, padded;  // `padded` is undefined where nothing lies around the image
};

// Over (co, block, x, y, n), of an image (n, y, x, c); declares weights and bias as inputs of these names.
WindowSums packed_sums(Build &b, const formula::Value &image, const Geometry &g, const std::string &number = "");
// An input of these extents, the outermost first.
formula::Value declared(Build &b, const std::string &name, const std::vector<int> &extents);

// The epilogue of such sums, over (co, block, x, y, n) where channels fill all panels; else over (c, x, y, n), so that a
// guard can leave out what is past the last channel.
forms::Tensor packed_result(const forms::Tensor &sums, const Geometry &g, const Epilogue &epilogue,
                            const std::vector<forms::Tensor> &operands);
std::vector<int> packed_result_extents(const Geometry &g);

schedules::PackedConvolutionShape shape_of(const Geometry &g);

}  // namespace saltern::generators
