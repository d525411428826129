#pragma once
// Estimates of extents, which Halide's autoschedulers plan for: given for the inputs, they follow for the outputs.
//
//   Estimates estimates;
//   estimates.input(x, {64, 1024});
//   estimates.output(out, y);       y is the tensor that `out` holds

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "schedules/forms/tensor.h"

namespace saltern::forms {

class Estimates {
 public:
  void input(Halide::ImageParam p, const std::vector<int> &extents) {
    if (static_cast<int>(extents.size()) != p.dimensions())
      throw std::invalid_argument("input '" + p.name() + "' has rank " + std::to_string(p.dimensions()) + ", " +
                                  std::to_string(extents.size()) + " extents are estimated");
    for (int d = 0; d < p.dimensions(); ++d) {
      p.dim(d).set_estimate(0, extents[d]);
      known_[name_of(p.dim(d).extent())] = extents[d];
    }
  }

  // A scalar that extents depend on, such as a stride.
  void scalar(Halide::Param<int> p, int value) {
    p.set_estimate(value);
    known_[p.name()] = value;
  }

  void output(Halide::Func out, const Tensor &y) const {
    for (int d = 0; d < y.rank(); ++d) {
      const auto extent =
          Halide::Internal::as_const_int(Halide::Internal::simplify(Halide::Internal::substitute(known_, y.extent(d))));
      if (!extent)
        throw std::invalid_argument("extent " + std::to_string(d) + " of output '" + out.name() +
                                    "' does not follow from the estimates of the inputs");
      out.set_estimate(out.args()[d], 0, static_cast<int>(*extent));
    }
  }

 private:
  static std::string name_of(const Halide::Expr &extent) {
    const auto *variable = extent.as<Halide::Internal::Variable>();
    return variable ? variable->name : std::string();  // a constant extent needs no name
  }

  std::map<std::string, Halide::Expr> known_;
};

}  // namespace saltern::forms
