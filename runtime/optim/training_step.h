#pragma once
// A training step as a graph: a batch goes in, its loss comes out, and all that training changes is the graph's state.
//
//   SGD optimizer(net, {0.02, 0.9});
//   const Graph step = training_step(net, images, labels, mean_squared_error, optimizer);
//   std::map<std::string, Tensor> state;                                      // begins as net and optimizer are
//   const Tensor loss = run(step, {{"x", images}, {"labels", labels}}, state).at("loss");
//
// State has the names that net and optimizer have for it ("0.weight", "momentum.0.weight", "steps.0.weight",
// "1.running_mean"), "rate" ("rate.1" of the second group of parameters and so on), which runs leave as it is, and "random"
// where numbers are drawn. So a step may go on in the net's own memory, with what net.state(), optimizer.state() and
// random_stream() give, and a tape may take over from there: both compute the same.

#include <functional>

#include "runtime/graph/graph.h"
#include "runtime/optim/optimizer.h"

namespace saltern {

// The loss of what a net says, given what it should have said.
using Loss = std::function<Variable(const Variable &y, const Variable &labels)>;

// The same of whatever a step is given.
using LossOfInputs = std::function<Variable(const std::vector<Variable> &inputs)>;
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// The step of a net, each of its parts in the mode that it is in, for batches of these shapes and types: the elements of x
// and labels mean nothing. Parameters that require no gradient, or that the loss does not depend on, stay as they are.
Graph training_step(Module &net, const Tensor &x, const Tensor &labels, const Loss &loss, const Optimizer &optimizer);
// The same of inputs by these names, for a net that has several.
Graph training_step(Module &net, const NamedTensors &inputs, const LossOfInputs &loss, const Optimizer &optimizer);

// Half a step, for gradients of several batches: it leaves parameters as they are and adds their gradients to state called
// "gradient." and the parameter's name, which begins as zeros.
Graph gradient_step(Module &net, const NamedTensors &inputs, const LossOfInputs &loss);

// The step of a graph that has a loss, of one element, and these parameters, which are constants of it. State that it has
// stays; what updates keep begins as zeros.
Graph training_step(const Graph &graph, const std::string &loss, const std::vector<std::string> &parameters,
                    const Update &update);
// Likewise, each parameter by an update of its own.
Graph training_step(const Graph &graph, const std::string &loss, const std::vector<std::string> &parameters,
                    const std::function<Update(const std::string &parameter)> &update_of);

}  // namespace saltern
