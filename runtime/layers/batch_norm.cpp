// y = scale(c) (x - mean(c)) / sqrt(variance(c) + epsilon) + shift(c), with c dimension 1 of x (N, C) or (N, C, H, W).
//   batch_norm           x, mean, variance, scale, shift -> y; statistics are given (evaluation)
//   batch_norm_training  x, scale, shift -> y, mean, variance (biased), both of this batch
// Attribute: epsilon.

#include "algorithms/normalisation.h"
#include "runtime/kernels/kernels.h"
#include "runtime/layers/unary.h"
#include "runtime/operations.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

// How images lie in memory, and what kernels see: channels innermost, (c, all others), or each channel of an image in a row,
// (pixels, c, n).
struct Images {
  bool in_rows;

  explicit Images(const Tensor &x)
      : in_rows(x.rank() > 2 && x.size() > 0 && x.has_layout(Layout::row_major) &&
                !x.has_layout(Layout::channels_last)) {
    if (x.rank() < 2 || x.extent(1) == 0) fail("batch_norm: ", to_string(x.shape()), " has no channels in dimension 1");
  }

  std::string kernel(const std::string &name) const { return in_rows ? name + "_rows" : name; }
  Tensor arranged(const Tensor &t) const { return in_rows ? row_major(t) : channels_last(t); }
  View of(const Tensor &t) const {
    const int64_t channels = t.extent(1), images = t.extent(0), others = t.size() / channels;
    if (!in_rows) return {t, {{channels, 1}, {others, channels}}};
    const int64_t pixels = others / images;
    return {t, {{pixels, 1}, {channels, pixels}, {images, channels * pixels}}};
  }
};

// One value a channel, dense.
View channel_vector(const Tensor &t, const Tensor &x, const char *name) {
  if (t.shape() != Shape{x.extent(1)})
    fail("batch_norm: ", name, " is ", to_string(t.shape()), " for x ", to_string(x.shape()));
  return flat(t);
}

// (x, mean, variance, scale, dy) -> dx, dscale, dshift
Operation::Compute batch_norm_backward(const std::string &kernel) {
  return [kernel](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
    const Images images(in.at(0));
    const Tensor x = images.arranged(in[0]), dy = images.arranged(in.at(4)), dx = Tensor::like(x);
    const Tensor mean = row_major(in[1]), variance = row_major(in[2]), scale = row_major(in[3]);
    const Tensor dscale = Tensor::like(scale), dshift = Tensor::like(scale);
    call(images.kernel(kernel), {images.of(x), channel_vector(mean, x, "mean"), channel_vector(variance, x, "variance"),
                                 channel_vector(scale, x, "scale"), images.of(dy),
                                 static_cast<float>(a.real("epsilon")), images.of(dx), flat(dscale), flat(dshift)});
    return {dx, dscale, dshift};
  };
}

// The same as a formula. In training the statistics are those of x, as which they are differentiated in their turn.
Values batch_norm_gradients(const Values &in, const Attributes &a, algorithms::StatisticsOf whose) {
  const Value &x = in.at(0), &dy = in.at(4);
  const bool training = whose == algorithms::StatisticsOf::x;
  const algorithms::Statistics of = training ? algorithms::statistics(x) : algorithms::Statistics{in[1], in[2]};
  const Value epsilon = formula::constant_value(x.type(), a.real("epsilon"));
  const algorithms::BatchNormGradient d = algorithms::batch_norm_gradient(x, of, in[3], dy, epsilon, whose);
  return {d.x, d.scale, d.shift};
}

Tensor normalised(const Tensor &x, const Tensor &mean, const Tensor &variance, const Tensor &scale, const Tensor &shift,
                  double epsilon) {
  const Images images(x);
  const Tensor y = Tensor::like(x);
  call(images.kernel("batch_norm"), {images.of(x), channel_vector(mean, x, "mean"),
                                     channel_vector(variance, x, "variance"), channel_vector(scale, x, "scale"),
                                     channel_vector(shift, x, "shift"), static_cast<float>(epsilon), images.of(y)});
  return y;
}

}  // namespace

namespace operations {

const Operation batch_norm_gradient("batch_norm_gradient", batch_norm_backward("batch_norm_gradient"),
                                    [](const Values &in, const Attributes &a) {
                                      return batch_norm_gradients(in, a, algorithms::StatisticsOf::x);
                                    });
const Operation batch_norm_inference_gradient("batch_norm_inference_gradient",
                                              batch_norm_backward("batch_norm_inference_gradient"),
                                              [](const Values &in, const Attributes &a) {
                                                return batch_norm_gradients(in, a, algorithms::StatisticsOf::others);
                                              });

const Operation batch_norm_training(
    "batch_norm_training",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      const Images images(in.at(0));
      const Tensor x = images.arranged(in[0]), mean = Tensor::empty({x.extent(1)}), variance = Tensor::like(mean);
      call(images.kernel("batch_norm_statistics"), {images.of(x), flat(mean), flat(variance)});
      return {normalised(x, mean, variance, row_major(in.at(1)), row_major(in.at(2)), a.real("epsilon")), mean,
              variance};
    },
    [](const Values &in, const Attributes &a) -> Values {
      const algorithms::Statistics of = algorithms::statistics(in.at(0));
      const Value epsilon = formula::constant_value(in[0].type(), a.real("epsilon"));
      return {algorithms::batch_norm(in[0], of, in.at(1), in.at(2), epsilon), of.mean, of.variance};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      if (dy[1].defined() || dy[2].defined()) fail("batch_norm_training: its statistics have no gradient rule");
      return apply(batch_norm_gradient, {t.input(0), t.output(1).detached(), t.output(2).detached(), t.input(1), dy[0]},
                   t.attributes());
    });

const Operation batch_norm(
    "batch_norm",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      return {normalised(Images(in.at(0)).arranged(in[0]), row_major(in.at(1)), row_major(in.at(2)),
                         row_major(in.at(3)), row_major(in.at(4)), a.real("epsilon"))};
    },
    [](const Values &in, const Attributes &a) -> Values {
      const Value epsilon = formula::constant_value(in.at(0).type(), a.real("epsilon"));
      return {algorithms::batch_norm(in[0], {in.at(1), in.at(2)}, in.at(3), in.at(4), epsilon)};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      const std::vector<Variable> d =
          apply(batch_norm_inference_gradient, {t.input(0), t.input(1), t.input(2), t.input(3), dy[0]}, t.attributes());
      const Variable &dscale = d[1], &dshift = d[2];
      const auto share = [&] { return reciprocal(t.input(2) + t.attributes().real("epsilon")); };
      return {d[0], t.needs(1) ? -(t.input(3) * sqrt(share()) * dshift) : Variable(),
              t.needs(2) ? -0.5 * (t.input(3) * share() * dscale) : Variable(), dscale, dshift};
    });

}  // namespace operations

}  // namespace saltern
