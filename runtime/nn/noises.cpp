// What training disturbs: whole samples or blocks left out, with torchvision's names, and normal noise, with Keras'.

#include <cmath>

#include "runtime/layers/binary.h"
#include "runtime/layers/random_stream.h"
#include "runtime/nn/families.h"
#include "runtime/nn/layer.h"
#include "runtime/nn/noise.h"

namespace saltern::nn {

namespace {

using namespace formula;

// ---- The whole of a batch, or of a sample.

const Function stochastic_depth("stochastic_depth", "input, p, mode, training=True", [](const Arguments &a) {
  const Variable x = a.variable("input");
  const double p = probability(a);
  const bool by_row = a.word("mode", {"batch", "row"}) == "row";
  if (!a.flag("training") || p == 0) return x;
  Shape shape(x.shape().size(), 1);
  if (by_row && !shape.empty()) shape[0] = x.shape()[0];
  return x * dropped(a, Tensor::full(shape, 1, x.type()), p);
});
const LayerRow stochastic_depth_layer("StochasticDepth", "p, mode", calls("stochastic_depth"),
                                      [](Layer &self) { probability(self.made_with()); });

// ---- Blocks that begin anywhere, with probability gamma; what is left is made larger, so that the mean of ones stays.

const Operation without_blocks("without_blocks", [](const Values &in, const Attributes &a) -> Values {
  const Value &x = in.at(0);
  const int64_t block = a.integer("block");
  const Value begins = named("begins", cast(x.type(), uniform_beside(x, in.at(1)) < a.real("gamma")));
  const std::vector<Expression> window(static_cast<size_t>(x.rank() - 2), Expression(block));
  const Value covered = compute("covered", x.extents(), [&](const Axes &at) {
    return reduce_open(formula::Function::greatest, window, [&](const Axes &k) {
      Axes from = at;
      Expression fits = truth(true);
      for (size_t d = 0; d < k.size(); ++d) {
        from[d + 2] = at[d + 2] - k[d];
        fits = fits && 0 <= from[d + 2] && from[d + 2] < x.extent(static_cast<int>(d) + 2) - block + 1;
      }
      return select(fits, begins.at(from), constant(x.type(), 0));
    });
  });
  Expression count = 1;
  for (const Expression &e : x.extents()) count = count * e;
  const Value all = inlined({}, [&](const Axes &) { return cast(x.type(), count); });
  return {x * (1 - covered) * (all / (sum_all(1 - covered) + a.real("eps")))};
});

Function::Body dropped_blocks(size_t axes) {
  return [axes](const Arguments &a) {
    const Variable x = a.variable("input");
    const double p = probability(a);
    if (x.shape().size() != axes + 2)
      a.refuse("input", "(N, C, ...) with " + std::to_string(axes) + " further dimensions");
    if (!a.flag("training") || p == 0 || x.size() == 0) return x;
    const Shape extents(x.shape().begin() + 2, x.shape().end());
    int64_t block = a.integer("block_size");
    for (int64_t e : extents) block = std::min(block, e);
    if (block < 1 || block % 2 == 0) a.refuse("block_size", "an odd number that is no longer than the image is");
    double gamma = p;  // such that blocks cover the share p, if none lay over others
    for (int64_t e : extents) gamma *= static_cast<double>(e) / static_cast<double>(block * (e - block + 1));
    return apply_one(without_blocks, {x, drawn_beside(x, a.owner())},
                     {{"block", block}, {"gamma", gamma}, {"eps", a.real("eps")}});
  };
}

struct DropBlock {
  DropBlock(const std::string &axes, size_t count)
      : function("drop_block" + axes, "input, p, block_size, inplace=False, eps=1e-06, training=True",
                 dropped_blocks(count)),
        row("DropBlock" + axes, "p, block_size, inplace=False, eps=1e-06", calls("drop_block" + axes)) {}
  Function function;
  LayerRow row;
};
const DropBlock drop_block2d("2d", 2), drop_block3d("3d", 3);

// ---- Normal noise, added, or as a factor of mean 1 with the variance of dropout.

const Operation noise_added("noise_added", [](const Values &in, const Attributes &a) -> Values {
  return {in.at(0) + normal_beside(in[0], in.at(1)) * a.real("deviation")};
});
const Operation noise_multiplied("noise_multiplied", [](const Values &in, const Attributes &a) -> Values {
  return {in.at(0) * (normal_beside(in[0], in.at(1)) * a.real("deviation") + 1)};
});
const Function gaussian_noise("gaussian_noise", "input, stddev, training=True", [](const Arguments &a) {
  const Variable x = a.variable("input");
  const double deviation = a.real("stddev");
  if (!(deviation >= 0)) a.refuse("stddev", "at least 0");
  if (!a.flag("training") || deviation == 0) return x;
  return apply_one(noise_added, {x, drawn_beside(x, a.owner(), 2)}, {{"deviation", deviation}});
});
const Function gaussian_dropout("gaussian_dropout", "input, p=0.5, training=True", [](const Arguments &a) {
  const Variable x = a.variable("input");
  const double p = probability(a);
  if (p == 1) a.refuse("p", "less than 1");
  if (!a.flag("training") || p == 0) return x;
  return apply_one(noise_multiplied, {x, drawn_beside(x, a.owner(), 2)}, {{"deviation", std::sqrt(p / (1 - p))}});
});
const LayerRow gaussian_noise_layer("GaussianNoise", "stddev", calls("gaussian_noise"));
const LayerRow gaussian_dropout_layer("GaussianDropout", "p=0.5", calls("gaussian_dropout"));

}  // namespace

const void *noises() { return &stochastic_depth; }

}  // namespace saltern::nn
