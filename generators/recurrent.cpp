// A turn of a recurrent layer: all but its products, w of the input and r of the state, which b is added to. Gates stand as
// PyTorch has them and are a dimension of their own. And its gradient, where those of the next state come from two sides.

#include "algorithms/recurrent.h"

#include "algorithms/functions.h"
#include "dsl/derivative.h"
#include "generators/kernel.h"

namespace saltern::generators {
namespace {

using formula::Axes;
using formula::Expression;
using formula::Value;
using formula::Values;

const algorithms::Activation sigmoid = algorithms::sigmoid, tanh_of = [](const Value &x) { return tanh(x); };

Value state(Build &k, const std::string &name) { return k.input(name, {"n", "k"}); }
Value gates(Build &k, const std::string &name, int count) { return k.input(name, {"n", std::to_string(count), "k"}); }

// What goes into gate `which`, as something of which there are gradients: of the input, of the state, or of both.
struct Products {
  Value w, r, b;

  Products(Build &k, int count)
      : w(gates(k, "w", count)), r(gates(k, "r", count)), b(k.input("b", {std::to_string(count), "k"})) {}

  Value into(const char *name, const std::function<Expression(Expression n, Expression k)> &f) const {
    return named(name, formula::inlined({w.extent(0), w.extent(2)}, [&](const Axes &at) { return f(at[0], at[1]); }));
  }
  Value of_input(const char *name, int which) const {
    return into(name, [&](const Expression &n, const Expression &k) { return w(n, which, k); });
  }
  Value of_state(const char *name, int which) const {
    return into(name, [&](const Expression &n, const Expression &k) { return r(n, which, k) + b(which, k); });
  }
  Value of_both(const char *name, int which) const {
    return into(name, [&](const Expression &n, const Expression &k) {
      return w(n, which, k) + (r(n, which, k) + b(which, k));
    });
  }
};

struct Lstm {
  Value c;
  algorithms::LstmInto into;
  algorithms::LstmTurn next;

  explicit Lstm(Build &k) {
    const Products p(k, 4);
    c = state(k, "c");
    const algorithms::LstmGates at = algorithms::pytorch_lstm_gates;
    into = {p.of_both("input", at.input), p.of_both("output", at.output), p.of_both("forget", at.forget),
            p.of_both("cell", at.cell)};
    next = algorithms::lstm_turn(into, c, sigmoid, tanh_of);
  }
};

struct Gru {
  Value h;
  algorithms::GruInto into;
  Value next;

  explicit Gru(Build &k) {
    const Products p(k, 3);
    h = state(k, "h");
    const algorithms::GruGates at = algorithms::pytorch_gru_gates;
    into = {p.of_both("update", at.update), p.of_both("reset", at.reset), p.of_input("hidden", at.hidden),
            p.of_state("of_state", at.hidden)};
    next = algorithms::gru_turn(into, h, sigmoid, tanh_of);
  }
};

// (k, gates, n) twice, (k, gates), and so many states.
Call call_of(int k, int n, int gates, size_t states) {
  Call all = {{k, gates, n}, {k, gates, n}, {k, gates}};
  for (size_t i = 0; i < states; ++i) all.emplace_back(std::vector<int>{k, n});
  return all;
}
std::vector<Call> checks(int gates, size_t states) {
  std::vector<Call> all;
  for (const auto &[k, n] : std::vector<std::pair<int, int>>{{1, 1}, {7, 3}, {16, 9}, {33, 2}, {257, 5}})
    all.push_back(call_of(k, n, gates, states));
  return all;
}
std::vector<Timing> timing(int gates, size_t states) {
  return {{"256, batch 32", call_of(256, 32, gates, states), 10.0 * gates * 256 * 32}};
}

const Kernel lstm_turn(
    "lstm_turn",
    [](Build &k) {
      const Lstm turn(k);
      k.outputs({"next_h", "next_c"}, {turn.next.hidden, turn.next.cell});
    },
    checks(4, 1), timing(4, 1));

const Kernel lstm_turn_gradient(
    "lstm_turn_gradient",
    [](Build &k) {
      const Lstm turn(k);
      const Value dh = state(k, "dh"), more_dh = state(k, "more_dh"), dc = state(k, "dc"),
                  more_dc = state(k, "more_dc");
      const Values d =
          formula::gradient_at({turn.next.hidden, turn.next.cell}, {dh + more_dh, dc + more_dc},
                               {turn.into.input, turn.into.forget, turn.into.cell, turn.into.output, turn.c});
      k.outputs({"d_input", "d_forget", "d_cell", "d_output", "d_c"}, d);
    },
    checks(4, 5), timing(4, 5));

const Kernel gru_turn(
    "gru_turn", [](Build &k) { k.output("next_h", Gru(k).next); }, checks(3, 1), timing(3, 1));

const Kernel gru_turn_gradient(
    "gru_turn_gradient",
    [](Build &k) {
      const Gru turn(k);
      const Value dh = state(k, "dh"), more_dh = state(k, "more_dh");
      const Values d =
          formula::gradient_at({turn.next}, {dh + more_dh},
                               {turn.into.reset, turn.into.update, turn.into.hidden, turn.into.of_state, turn.h});
      // As w has them, and as r has them.
      k.outputs({"dw_reset", "dw_update", "dw_hidden", "dr_reset", "dr_update", "dr_hidden", "d_h"},
                {d[0], d[1], d[2], d[0], d[1], d[3], d[4]});
    },
    checks(3, 3), timing(3, 3));

}  // namespace
}  // namespace saltern::generators
