#pragma once
// What optimizers and schedules are told: names in the order that Python has them, with defaults.
//
//   const Options adam = {{"betas", Reals{0.9, 0.999}, 0, 1}, {"eps", 1e-8}, {"amsgrad", no}};
//   const Attributes a = completed("Adam", adam, {{"eps", 1e-6}});      a.reals("betas"), a.real("eps"), a.integer("amsgrad")

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "runtime/autograd/attributes.h"

namespace saltern {

using Reals = std::vector<double>;
constexpr int64_t no = 0, yes = 1;  // integers among options are flags
constexpr double infinite = std::numeric_limits<double>::infinity();

struct Option {
  std::string name;
  std::optional<Attribute> otherwise;  // nothing: it has to be given
  double least = 0, below = infinite;  // of numbers, each of a list
  bool by_name_only = false;           // in Python
};
using Options = std::vector<Option>;

// All options. A whole number where a real one is expected is one, and a NaN in a list is the default; what is unknown, missing, of another kind or out of range
// is an Error that names it.
Attributes completed(const std::string &owner, const Options &options, const Attributes &given);

}  // namespace saltern
