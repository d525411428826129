#pragma once
// Gradients, by walking the recorded steps back from a result.

#include <vector>

#include "runtime/autograd/variable.h"

namespace saltern {

// Whether the walked steps are kept for another walk; freeing them as they are passed gives their memory back early.
enum class Tape { free, keep };

// Adds d loss / d leaf to gradient() of every leaf that requires one. The loss has one element.
void backward(const Variable &loss, Tape tape = Tape::free);
// Likewise from a result of any shape, given its gradient.
void backward(const Variable &y, const Variable &dy, Tape tape = Tape::free);

struct GradientOptions {
  bool create_graph = false;  // record the gradients themselves, so that they can be differentiated; keeps the tape
  Tape tape = Tape::keep;
  Variable dy = Variable();  // the gradient of y; may be left out where y has one element
};

// d y / d x for each x, leaf or intermediate; undefined where y does not depend on x. gradient() stays as it is.
std::vector<Variable> gradients(const Variable &y, const std::vector<Variable> &xs,
                                const GradientOptions &options = {});
// Likewise of several results at once, each by its gradient; no gradients: each has one element. options.dy is not asked.
std::vector<Variable> gradients(const std::vector<Variable> &ys, const std::vector<Variable> &xs,
                                const std::vector<Variable> &dys, const GradientOptions &options = {});

}  // namespace saltern
