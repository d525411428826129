#include "runtime/optim/options.h"

#include <algorithm>
#include <cmath>

namespace saltern {

namespace {

template <typename T>
bool holds(const Attribute &a) {
  return std::holds_alternative<T>(a);
}

// As the kind that is expected.
Attribute converted(const Attribute &given, const Attribute &like) {
  if (holds<double>(like) && holds<int64_t>(given)) return static_cast<double>(std::get<int64_t>(given));
  if (holds<Reals>(like) && holds<std::vector<int64_t>>(given)) {
    const auto &whole = std::get<std::vector<int64_t>>(given);
    return Reals(whole.begin(), whole.end());
  }
  if (holds<Reals>(like) && holds<Reals>(given)) {
    Reals all = std::get<Reals>(given);
    for (size_t i = 0; i < std::min(all.size(), std::get<Reals>(like).size()); ++i)
      if (std::isnan(all[i])) all[i] = std::get<Reals>(like)[i];
    return all;
  }
  return given;
}

const char *kind_of(const Attribute &a) {
  return holds<double>(a)    ? "a number"
         : holds<Reals>(a)   ? "a list of numbers"
         : holds<int64_t>(a) ? "a flag"
                             : "a word";
}

void check(const std::string &owner, const Option &o, double number) {
  if (number >= o.least && number < o.below) return;
  if (o.below < infinite)
    fail(owner, ": '", o.name, "' is ", number, "; expected at least ", o.least, " and below ", o.below);
  fail(owner, ": '", o.name, "' is ", number, "; expected at least ", o.least);
}

}  // namespace

Attributes completed(const std::string &owner, const Options &options, const Attributes &given) {
  Attributes all;
  for (const Option &o : options) {
    // Numbers have no default where they have to be given.
    const Attribute like = o.otherwise.value_or(0.0);
    const auto found = std::find_if(given.begin(), given.end(), [&](const auto &g) { return g.first == o.name; });
    if (found == given.end() && !o.otherwise) fail(owner, ": '", o.name, "' is missing");
    const Attribute value = found == given.end() ? like : converted(found->second, like);
    if (value.index() != like.index() && (o.otherwise || !holds<Reals>(value)))
      fail(owner, ": '", o.name, "' is ", kind_of(value), "; expected ", kind_of(like));
    if (o.otherwise && holds<Reals>(like) && !std::get<Reals>(like).empty() &&
        std::get<Reals>(value).size() != std::get<Reals>(like).size())
      fail(owner, ": '", o.name, "' has ", std::get<Reals>(value).size(), " numbers; expected ",
           std::get<Reals>(like).size());
    if (holds<double>(value)) check(owner, o, std::get<double>(value));
    if (holds<Reals>(value))
      for (const double number : std::get<Reals>(value)) check(owner, o, number);
    all.set(o.name, value);
  }
  for (const auto &[name, value] : given)
    if (!all.has(name)) fail(owner, " has no option '", name, "'");
  all.set_owner(owner);
  return all;
}

}  // namespace saltern
