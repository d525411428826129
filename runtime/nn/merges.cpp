// Layers of several tensors, with Keras' names: merged = nn::Add()({x, y, z}).

#include "runtime/layers/binary.h"
#include "runtime/layers/movement.h"
#include "runtime/nn/families.h"
#include "runtime/nn/layer.h"

namespace saltern::nn {

namespace {

std::vector<Variable> inputs_of(const Arguments &in, size_t least) {
  const std::vector<Variable> all = in.variables("inputs");
  if (all.size() < least) in.refuse("inputs", "a list of " + std::to_string(least) + " or more tensors");
  return all;
}

// One after another, by a function of two.
using OfTwo = Variable (*)(const Variable &, const Variable &);

Variable folded(const Arguments &in, OfTwo f) {
  const std::vector<Variable> all = inputs_of(in, 1);
  Variable y = all[0];
  for (size_t i = 1; i < all.size(); ++i) y = f(y, all[i]);
  return y;
}

struct Merge {
  Merge(const char *name, OfTwo f)
      : row(name, "", {"inputs", [f](Layer &, const Arguments &in) -> Argument { return folded(in, f); }}) {}
  LayerRow row;
};
const Merge merges_of_all[] = {{"Add", add}, {"Multiply", multiply}, {"Maximum", maximum}, {"Minimum", minimum}};

const LayerRow average("Average", "", {"inputs", [](Layer &, const Arguments &in) -> Argument {
                                         return folded(in, add) / static_cast<double>(in.variables("inputs").size());
                                       }});
const LayerRow subtract_row("Subtract", "", {"inputs", [](Layer &, const Arguments &in) -> Argument {
                                               const std::vector<Variable> all = inputs_of(in, 2);
                                               if (all.size() != 2) in.refuse("inputs", "two tensors");
                                               return all[0] - all[1];
                                             }});
const LayerRow concatenate("Concatenate", "dim=1", {"inputs", [](Layer &self, const Arguments &in) -> Argument {
                                                      return concat(inputs_of(in, 1), self.made_with().integer("dim"));
                                                    }});

// Of samples, along one dimension of each, or of both; of unit vectors if normalised: the cosine of their angle.
const LayerRow dot(
    "Dot", "axes, normalize=False",
    {"inputs", [](Layer &self, const Arguments &in) -> Argument {
       std::vector<Variable> both = inputs_of(in, 2);
       if (both.size() != 2) in.refuse("inputs", "two tensors");
       const std::vector<int64_t> axes = self.made_with().integers("axes", 2);
       std::string letters[2], result = "a";
       for (size_t i = 0; i < 2; ++i) {
         const int rank = both[i].rank(), axis = dimension(axes[i], rank, in.owner());
         if (axis == 0) self.made_with().refuse("axes", "dimensions behind the batch");
         if (self.made_with().flag("normalize")) both[i] = variable_of(call("normalize", {both[i]}, {{"dim", axis}}));
         for (int d = 0; d < rank; ++d)
           letters[i] += d == 0 ? 'a' : d == axis ? 'b' : static_cast<char>((i == 0 ? 'c' : 'n') + d);
         for (const char c : letters[i])
           if (c > 'b') result += c;
       }
       const Variable y = variable_of(call("einsum", {letters[0] + "," + letters[1] + "->" + result, both}));
       return y.shape().size() == 1 ? reshape(y, {y.shape()[0], 1}) : y;
     }});

}  // namespace

const void *merges() { return merges_of_all; }

}  // namespace saltern::nn
