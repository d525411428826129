#pragma once
// An imported model on its way to a net that trains (runtime/graph/graph_net.h): lowered, with its weights under the names
// that they have in the file, and with the nodes that training treats otherwise.
//
//   const TrainableModel model = trainable(load_onnx("resnet.onnx"), {}, 64);
//   GraphNet net(model.graph, model.parameters, model.on_tape);
//   Adam optimizer(net);
//   Graph step = training_step(net, images, labels, nn::cross_entropy, optimizer);
//
// Parameters are initializers of f32 that have dimensions and more than one element, unless operators take them for options
// (the scales of a Resize, the limits of a Clip) or statistics. BatchNormalization is evaluated by the batch, and Dropout draws.

#include <map>
#include <string>
#include <vector>

#include "runtime/onnx/model.h"

namespace saltern {

struct TrainableModel {
  Graph graph;
  // The same with recurrent layers whole, for which a tape has kernels; without nodes where there are none.
  Graph on_tape;
  std::vector<std::string> parameters;
  std::vector<std::string> outputs;  // those of the file
  // How the first output is made: by this operator ("Softmax", along this axis) of that value, which is an output, too. Empty
  // where it is another one than Softmax, LogSoftmax and Sigmoid.
  std::string last_operator, before_last;
  int64_t last_axis = 0;
};

// `batch` is the first extent of every input, whatever the file says; other extents that are open come from `shapes`. Errors
// name the node that cannot be so.
TrainableModel trainable(Model model, std::map<std::string, Shape> shapes, int64_t batch);
// The same of a net that was traced and saved, for the shapes that it has.
TrainableModel trainable(const Graph &net);

}  // namespace saltern
