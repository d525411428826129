#pragma once
// Gradients that are one computation together.
//
//   slice   a value of which many steps read a part each, as turns of a recurrence do of the products of all inputs: their
//           gradients in a row are its gradient. Each by itself would be as large as the value, zeros but for its part.
//   dense   weights that many steps of few rows share, as turns of a recurrence do: one product over the rows of all. Those
//           of 32 rows each went at 75 GF/s where one of 2048 goes at 95, and each had to be added (1024 x 256, AMD Zen 4).
//
// Such steps are counted before a walk; the last one that it comes by gives the gradient of all.

#include <map>
#include <memory>
#include <vector>

#include "runtime/autograd/variable.h"

namespace saltern {

// A gradient, and what it is of.
struct GradientOf {
  Variable value, gradient;
};

class JoinedGradients {
 public:
  explicit JoinedGradients(const std::vector<std::shared_ptr<Step>> &steps);

  // Which inputs of a step have gradients that are joined with others', of those that are `needed`: these are no longer. To
  // be called for every step; dy is undefined where it has none. Gives what is complete by then.
  std::vector<GradientOf> take(const Step &step, const Variable &dy, std::vector<bool> &needed);

  // Those of one gradient.
  struct Group {
    size_t left = 0;               // steps that are yet to come
    std::vector<bool> needed;      // inputs
    std::vector<Variable> inputs;  // of one of them
    std::vector<Variable> x, dy;   // of those that had a gradient, the last step first
    std::vector<Attributes> attributes;
  };

 private:
  std::map<const Step *, std::shared_ptr<Group>> groups_;
};

}  // namespace saltern
