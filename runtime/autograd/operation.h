#pragma once
// An operation: how its outputs come from its inputs, and how gradients of its inputs come from gradients of its
// outputs. A gradient rule is written with other operations, applied to Variables: so it can be recorded in its turn
// (second order), traced into a graph, or just computed.
//
//   const Operation doubled("doubled",
//       [](const std::vector<Tensor> &in, const Attributes &) -> std::vector<Tensor> { ... },
//       [](const Taped &, const std::vector<Variable> &dy) -> std::vector<Variable> { return {dy[0] + dy[0]}; });
//
// Or by a formula (dsl/value.h), which says everything: how it is computed and compiled, its shapes, and its gradients of
// any order, which are derived. A layer of one's own is such a row in one's own file:
//
//   const Operation scaled_tanh("scaled_tanh", [](Value x, Value scale) { return scale * tanh(x); });
//   Variable y = scaled_tanh(x, scale);
//
// The object is the operation's row in the table that the graph executor and the importer look names up in; those of
// Saltern itself are in runtime/layers/*.cpp, and there whenever the library is linked.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/value.h"
#include "runtime/autograd/attributes.h"
#include "runtime/tensor/tensor.h"

namespace saltern {

class Variable;
class Taped;

using formula::Value;
using formula::Values;

// How many Values a function takes, if it takes nothing else and gives one; else 0.
template <typename F, size_t... I>
constexpr bool takes_values(std::index_sequence<I...>) {
  return std::is_invocable_r_v<Value, F, decltype(static_cast<void>(I), std::declval<const Value &>())...>;
}
template <typename F, size_t N = 1>
constexpr size_t value_count() {
  constexpr size_t most = 6;
  if constexpr (N > most)
    return 0;
  else
    return takes_values<F>(std::make_index_sequence<N>()) ? N : value_count<F, N + 1>();
}

struct Operation {
  using Compute = std::function<std::vector<Tensor>(const std::vector<Tensor> &inputs, const Attributes &)>;
  // One gradient for each input, undefined where there is none. dy[i] is undefined where output i has none.
  using Gradient = std::function<std::vector<Variable>(const Taped &, const std::vector<Variable> &dy)>;

  // The results, of inputs whose extents are numbers.
  using Algorithm = std::function<Values(const Values &inputs, const Attributes &)>;

  // Adds itself to the table; it must live as long as the program, at namespace scope.
  Operation(std::string name, Compute compute, Gradient gradient = nullptr);
  Operation(std::string name, Algorithm algorithm);
  // By kernels; the formula says the rest: gradients, unless there is a rule, and what the model compiler makes of it.
  Operation(std::string name, Compute compute, Algorithm algorithm, Gradient gradient = nullptr);
  template <typename F, size_t N = value_count<F>(), typename = std::enable_if_t<(N > 0)>>
  Operation(std::string name, const F &f)
      : Operation(std::move(name), algorithm_of(f, std::make_index_sequence<N>())) {}
  Operation(const Operation &) = delete;
  Operation &operator=(const Operation &) = delete;

  // The first result.
  template <typename... Inputs>
  auto operator()(const Inputs &...inputs) const {
    return apply_one(*this, {inputs...});
  }

  const std::string name;
  const Algorithm algorithm;  // null: no formula is known
  const Compute compute;
  const bool gradient_is_derived;  // from the formula; else it is a rule of its own, or there is none
  const Gradient gradient;         // null: has no gradient rule
  const bool has_kernels;          // else it is computed by its formula, and traced as formulas

 private:
  template <typename F, size_t... I>
  static Algorithm algorithm_of(const F &f, std::index_sequence<I...>) {
    return [f](const Values &in, const Attributes &a) -> Values {
      if (in.size() != sizeof...(I))
        fail("operation '", a.owner(), "' takes ", sizeof...(I), " inputs, not ", in.size());
      return {f(in[I]...)};
    };
  }
};

// Null where there is no such operation.
const Operation *find_operation(std::string_view name);
// All, in alphabetical order.
std::vector<const Operation *> all_operations();

}  // namespace saltern
