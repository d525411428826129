#include "runtime/nn/named.h"

namespace saltern::nn {

Layer NamedLayer::operator()(const Given &a, const Given &b, const Given &c, const Given &d, const Given &e,
                             const Given &f, const Given &g, const Given &h, const Given &i, const Given &j,
                             const Given &k, const Given &l, const Given &m) const {
  const Call all({&a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k, &l, &m});
  return make(name, all.positional, all.named);
}

namespace {

template <typename Result>
Result result_as(const char *name, const Argument &result) {
  if constexpr (std::is_same_v<Result, Variable>) {
    return variable_of(result);
  } else {
    List all = variables_of(result);
    if constexpr (std::is_same_v<Result, Pair>) {
      if (all.size() != 2) fail(name, " gave ", all.size(), " tensors; expected two");
      return {all[0], all[1]};
    } else {
      return all;
    }
  }
}

}  // namespace

template <typename Result>
Result NamedFunction<Result>::operator()(const Given &a, const Given &b, const Given &c, const Given &d, const Given &e,
                                         const Given &f, const Given &g, const Given &h, const Given &i,
                                         const Given &j) const {
  const Call all({&a, &b, &c, &d, &e, &f, &g, &h, &i, &j});
  return result_as<Result>(name, call(name, all.positional, all.named));
}

template struct NamedFunction<Variable>;
template struct NamedFunction<Pair>;
template struct NamedFunction<List>;

}  // namespace saltern::nn
