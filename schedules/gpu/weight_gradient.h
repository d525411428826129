#pragma once
// Weight gradient of a convolution (patterns/weight_gradient.h) on a GPU: dw(ci, kx, ky, co, g).
//
//   block    (inputs * input_threads) x (outputs * output_threads) channels of one kx, ky, g and one part of the images
//   thread   inputs x outputs of dw, accumulated in registers over all pixels of that part
//
// A layer has few weights and many pixels, so the images are divided into `parts`, each with a sum of its own; a
// second kernel adds the parts up in order, without atomics: the same bits in every run.

#include "schedules/gpu/grid.h"
#include "schedules/knobs.h"
#include "schedules/patterns/weight_gradient.h"

namespace saltern::schedules::gpu {

struct WeightGradientKnobs {
  int inputs, outputs;                // channels of one thread
  int input_threads, output_threads;  // of one block
  int parts;                          // of the images

  static std::vector<KnobField<WeightGradientKnobs>> fields() {
    using K = WeightGradientKnobs;
    return {{"inputs", &K::inputs, {2, 4, 8}},
            {"outputs", &K::outputs, {2, 4, 8}},
            {"input_threads", &K::input_threads, {4, 8, 16}},
            {"output_threads", &K::output_threads, {4, 8, 16}},
            {"parts", &K::parts, {1, 4, 8, 16, 32}}};
  }

  static WeightGradientKnobs fitting() { return {4, 4, 8, 8, 8}; }
};

inline void weight_gradient(const WeightGradient &c, const WeightGradientKnobs &knobs) {
  Halide::Func dw = c.dw;
  const std::vector<Halide::RVar> r = dw.rvars(0);
  const Halide::Expr images = c.images;
  const Halide::RVar part("part"), image("image");
  dw.update().split(r[2], part, image, (images + knobs.parts - 1) / knobs.parts, Halide::TailStrategy::GuardWithIf);
  Halide::Func sums = dw.update().rfactor(part, Halide::Var("of_part"));
  Halide::Func parts = sums.in(dw);

  const std::vector<Axis> tile = {{0, knobs.inputs, knobs.input_threads}, {3, knobs.outputs, knobs.output_threads}};
  parts.compute_root();
  accumulate_in_registers(sums, Halide::LoopLevel(parts, launch(parts, tile)), tile, 1);

  const std::vector<Axis> single = {{0, 1, 16}, {3, 1, 4}};
  accumulate_in_registers(dw, Halide::LoopLevel(c.out, launch(c.out, single)), single, 1);
  for (const Halide::Func &operand : {c.padded, c.gradient}) apart(operand);
}

}  // namespace saltern::schedules::gpu
