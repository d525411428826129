// Fourier transforms with the names and arguments of torch.fft. Complex numbers are pairs (complex_numbers.h), which
// dimensions do not count. A transform is linear, and its adjoint is the other one: gradients of any order.

#include <cmath>

#include "algorithms/ranking.h"
#include "runtime/layers/binary.h"
#include "runtime/nn/axes.h"
#include "runtime/nn/complex_numbers.h"
#include "runtime/nn/families.h"
#include "runtime/nn/fourier_routine.h"
#include "runtime/nn/types.h"

namespace saltern::nn {

namespace {

using namespace formula;
using Tensors = std::vector<Tensor>;

Variable transformed(const Variable &x, const std::vector<int64_t> &dimensions, bool inverse, double scale);

const Operation transform(
    "fft.transform",
    [](const Tensors &in, const Attributes &a) -> Tensors {
      return {fourier_transform(in.at(0), a.integers("dimensions"), a.integer("inverse") != 0, a.real("scale"))};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      const Attributes &a = t.attributes();
      return {transformed(dy[0], a.integers("dimensions"), a.integer("inverse") == 0, a.real("scale"))};
    });

Variable transformed(const Variable &x, const std::vector<int64_t> &dimensions, bool inverse, double scale) {
  return apply_one(transform, {x}, {{"dimensions", dimensions}, {"inverse", int64_t{inverse}}, {"scale", scale}});
}

// The first so many along a dimension, and zeros where there are none.
const Operation resized("fft.resized", [](const Values &in, const Attributes &a) -> Values {
  std::vector<Expression> extents = in.at(0).extents();
  extents[static_cast<size_t>(a.integer("dimension"))] = a.integer("extent");
  return {inlined(extents, [&](const Axes &at) { return in[0].or_else(0, at); })};
});

// All of n, where the second half is the first, mirrored and conjugated: x(k) or conj(x(n - k)).
const Operation mirrored("fft.mirrored", [](const Values &in, const Attributes &a) -> Values {
  const Value &x = in.at(0);
  const auto d = static_cast<size_t>(a.integer("dimension"));
  const int64_t n = a.integer("extent"), half = n / 2 + 1;
  std::vector<Expression> extents = x.extents();
  extents[d] = n;
  return {inlined(extents, [&](const Axes &at) {
    const Expression is_first = at[d] < half, k = select(is_first, at[d], n - at[d]);
    const Expression e = x.at(algorithms::with_index(at, static_cast<int>(d), k));
    return select(is_first, e, select(at.back() == 0, e, -e));
  })};
});

struct Plan {
  std::vector<int64_t> dimensions, sizes;  // those of the result, where that is real

  int64_t last() const { return dimensions.back(); }
  double scale(const Arguments &a, bool inverse) const {
    double count = 1;
    for (int64_t n : sizes) count *= static_cast<double>(n);
    const std::string norm = a.has("norm") ? a.word("norm", {"backward", "ortho", "forward"}) : "backward";
    if (norm == "ortho") return 1 / std::sqrt(count);
    return inverse == (norm == "backward") ? 1 / count : 1;
  }
};

// Dimensions of x, without that of pairs, and their sizes; `half`: the last one is given by its first half.
Plan planned(const Arguments &a, const Shape &x, bool half) {
  const bool one = a.signature().has("n");
  const char *size = one ? "n" : "s";
  Plan p;
  const int rank = static_cast<int>(x.size());
  if (a.has("dim"))
    for (int64_t d : a.integers("dim")) p.dimensions.push_back(dimension(d, rank, a.owner()));
  else
    for (int d = a.has(size) ? rank - static_cast<int>(a.integers(size).size()) : 0; d < rank; ++d)
      p.dimensions.push_back(d);
  if (p.dimensions.empty() || p.dimensions.front() < 0) a.refuse(one ? "dim" : size, "dimensions that the input has");
  for (size_t i = 0; i < p.dimensions.size(); ++i) {
    for (size_t j = 0; j < i; ++j)
      if (p.dimensions[i] == p.dimensions[j]) a.refuse("dim", "each dimension once");
    const int64_t extent = x[static_cast<size_t>(p.dimensions[i])];
    p.sizes.push_back(half && i + 1 == p.dimensions.size() ? 2 * (extent - 1) : extent);
  }
  if (a.has(size)) {
    const std::vector<int64_t> given = a.integers(size);
    if (given.size() != p.sizes.size()) a.refuse(size, "a size for each dimension");
    for (size_t i = 0; i < given.size(); ++i)
      if (given[i] != -1) p.sizes[i] = given[i];
  }
  for (int64_t n : p.sizes)
    if (n < 1) a.refuse(a.has(size) ? size : "input", "transforms of at least 1 element");
  return p;
}

Variable of_extent(const Variable &x, int64_t d, int64_t extent) {
  if (x.shape()[static_cast<size_t>(d)] == extent) return x;
  return apply_one(resized, {x}, {{"dimension", d}, {"extent", extent}});
}

Variable of_sizes(Variable x, const Plan &p) {
  for (size_t i = 0; i < p.sizes.size(); ++i) x = of_extent(x, p.dimensions[i], p.sizes[i]);
  return x;
}

Variable complex_in(const Arguments &a) {
  const Variable x = a.variable("input");
  if (x.shape().empty() || x.shape().back() != 2) a.refuse("input", "complex numbers as pairs, (..., 2)");
  return x;
}
Variable real_in(const Arguments &a) {
  const Variable x = a.variable("input");
  return is_real(x.type()) ? x : to_type(x, Type::f32);
}
Shape without_pairs(const Variable &x) { return {x.shape().begin(), x.shape().end() - 1}; }

Variable complex_to_complex(const Arguments &a, bool inverse) {
  const Variable x = complex_in(a);
  const Plan p = planned(a, without_pairs(x), false);
  return transformed(of_sizes(x, p), p.dimensions, inverse, p.scale(a, inverse));
}

// The first half of the spectrum, which says the second.
Variable real_to_complex(const Arguments &a, bool inverse) {
  const Variable x = real_in(a);
  const Plan p = planned(a, x.shape(), false);
  const Variable real = of_sizes(x, p);
  const Variable y = transformed(complex::pairs(real, real * 0.0), p.dimensions, inverse, p.scale(a, inverse));
  return slice(y, p.last(), 0, p.sizes.back() / 2 + 1);
}

Variable complex_to_real(const Arguments &a, bool inverse) {
  Variable x = complex_in(a);
  const Plan p = planned(a, without_pairs(x), true);
  Plan halved = p;
  halved.sizes.back() = p.sizes.back() / 2 + 1;
  x = of_sizes(x, halved);
  const std::vector<int64_t> others(p.dimensions.begin(), p.dimensions.end() - 1);
  if (!others.empty()) x = transformed(x, others, inverse, 1);
  x = apply_one(mirrored, {x}, {{"dimension", p.last()}, {"extent", p.sizes.back()}});
  return complex::real(transformed(x, {p.last()}, inverse, p.scale(a, inverse)));
}

using Kind = Variable (*)(const Arguments &, bool inverse);

// A transform of one dimension, of two and of any.
struct Transforms {
  Transforms(const std::string &name, Kind kind, bool inverse)
      : one("fft." + name, "input, n=None, dim=-1, norm=None", body(kind, inverse)),
        two("fft." + name + "2", "input, s=None, dim=(-2,-1), norm=None", body(kind, inverse)),
        any("fft." + name + "n", "input, s=None, dim=None, norm=None", body(kind, inverse)) {}
  static Function::Body body(Kind kind, bool inverse) {
    return [=](const Arguments &a) { return kind(a, inverse); };
  }
  nn::Function one, two, any;
};

const Transforms all[] = {{"fft", complex_to_complex, false}, {"ifft", complex_to_complex, true},
                          {"rfft", real_to_complex, false},   {"irfft", complex_to_real, true},
                          {"hfft", complex_to_real, false},   {"ihfft", real_to_complex, true}};

// ---- Frequencies, and zero in the middle.

Tensor counted(const Arguments &a, int64_t count, int64_t first_negative) {
  const int64_t n = a.integer("n");
  if (n < 1) a.refuse("n", "at least 1");
  std::vector<float> values;
  for (int64_t k = 0; k < count; ++k)
    values.push_back(static_cast<float>(static_cast<double>(k < first_negative ? k : k - n) /
                                        (static_cast<double>(n) * a.real("d"))));
  return Tensor::of<float>({count}, values);
}
const nn::Function fftfreq("fft.fftfreq", "n, d=1.0", [](const Arguments &a) -> Argument {
  return counted(a, a.integer("n"), (a.integer("n") + 1) / 2);
});
const nn::Function rfftfreq("fft.rfftfreq", "n, d=1.0", [](const Arguments &a) -> Argument {
  const int64_t count = a.integer("n") / 2 + 1;
  return counted(a, count, count);
});

Function::Body shifted(bool back) {
  return [back](const Arguments &a) {
    const Variable x = a.variable("input");
    std::vector<int64_t> axes = axes_of(a, x.rank()), by;
    for (int64_t d : axes) {
      const int64_t n = x.shape()[static_cast<size_t>(d)];
      by.push_back(back ? -(n / 2) : n / 2);
    }
    return variable_of(call("roll", {x, by, axes}));
  };
}
const nn::Function fftshift("fft.fftshift", "input, dim=None", shifted(false));
const nn::Function ifftshift("fft.ifftshift", "input, dim=None", shifted(true));

}  // namespace

const void *fourier() { return &all; }

}  // namespace saltern::nn
