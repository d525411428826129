#pragma once
// A kernel's declaration called in tests: values for its inputs, what its plain algorithm makes of them, and the
// arguments of a compiled call.

#include <cstring>

#include "generators/kernel.h"
#include "tests/random_buffer.h"

namespace saltern {

using generators::Build;

struct Values {
  std::vector<Halide::Buffer<>> buffers;  // inputs that are buffers
  std::vector<halide_scalar_value_t> scalars;
};

inline Values draw(const Build &build, const generators::Call &call) {
  Values v;
  for (size_t i = 0; i < build.inputs().size(); ++i) {
    const generators::InputFacts &in = build.inputs()[i];
    if (in.rank > 0) {
      v.buffers.push_back(random_buffer(in.type, call[i].extents, in.range.low, in.range.high, 17 + i));
    } else {
      halide_scalar_value_t s = {};
      if (in.type == Halide::Float(32))
        s.u.f32 = static_cast<float>(call[i].value);
      else
        s.u.i32 = static_cast<int>(call[i].value);
      v.scalars.push_back(s);
    }
  }
  return v;
}

inline std::vector<Halide::Buffer<>> outputs_of(const Build &build) {
  std::vector<Halide::Buffer<>> outs;
  const auto extents = build.output_extents();
  const auto types = build.output_types();
  for (size_t i = 0; i < extents.size(); ++i) {
    outs.emplace_back(types[i], extents[i]);
    // Not a number in any floating type, and -1 in integers: what is not written shows.
    std::memset(outs.back().data(), 0xff, outs.back().size_in_bytes());
  }
  return outs;
}

inline std::vector<Halide::Buffer<>> run_plain(Build &build, const Values &values) {
  auto params = build.buffers();
  for (size_t i = 0; i < params.size(); ++i) params[i].set(values.buffers[i]);
  auto outs = outputs_of(build);
  build.pipeline().realize(Halide::Realization(outs));
  return outs;
}

// Inputs and scalars in the order of their declaration, then outputs.
inline std::vector<void *> arguments_of(const Build &build, Values &values, std::vector<Halide::Buffer<>> &outs) {
  std::vector<void *> arguments;
  size_t buffer = 0, scalar = 0;
  for (const generators::InputFacts &in : build.inputs())
    arguments.push_back(in.rank > 0 ? static_cast<void *>(values.buffers[buffer++].raw_buffer())
                                    : static_cast<void *>(&values.scalars[scalar++]));
  for (auto &o : outs) arguments.push_back(o.raw_buffer());
  return arguments;
}

}  // namespace saltern
