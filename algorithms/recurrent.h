#pragma once
// Recurrent layers: one step, and whole sequences.
//
// A step, of w, the products of the input (.., gates k), and r, those of the hidden state h(.., k); gate i stands at i k.
//
//   rnn    h' = f(w + r)
//   gru    gates z, r, h:     h' = (1 - z) g(w_h + s) + z h;   s is r (R h)_h, or R_h (r h): the product of what is reset
//   lstm   gates i, o, f, c:  c' = f c + i g(w_c + r_c)        h' = o g'(c')
//
// The gates i, f and o of an LSTM may see the cell, c or c', through peepholes p(3 k), in the order i, o, f; and f may be
// 1 - i.
//
// A sequence, x(t, n, i), with weights w(gates k, i) and r(gates k, k), biases of both (gates k) or none, and the states
// before it, h0(n, k) and c0(n, k)  ->  h(t, n, k) after each step, of an LSTM c(t, n, k), too. A sequence that is read backwards
// has its last step first.

#include "dsl/recurrence.h"

namespace saltern::algorithms {

using namespace formula;

using Activation = std::function<Value(const Value &)>;

// Where gates stand: as ONNX has them, unless said otherwise.
struct GruGates {
  int update = 0, reset = 1, hidden = 2;
};
struct LstmGates {
  int input = 0, output = 1, forget = 2, cell = 3;
};

// Gate `which` of v(.., gates k), like h(.., k).
inline Value gate_of(const Value &v, const Value &h, int which) {
  return inlined(h.extents(), [&](Axes at) {
    at.back() = at.back() + which * h.extent(-1);
    return v.at(at);
  });
}
// What goes into a gate.
inline Value gate(const Value &w, const Value &r, const Value &h, int which) {
  return gate_of(w, h, which) + gate_of(r, h, which);
}

inline Value rnn_cell(const Value &w, const Value &r, const Value &h, const Activation &f) {
  return f(gate(w, r, h, 0));
}

// The next states, of how far gates are open, and of what comes in.
inline Value gru_next(const Value &update, const Value &hidden, const Value &h) {
  return (1 - update) * hidden + update * h;
}
inline Value lstm_next(const Value &forget, const Value &c, const Value &input, const Value &cell) {
  return forget * c + input * cell;
}

inline Value gru_reset(const Value &w, const Value &r, const Value &h, const Activation &f, const GruGates &at = {}) {
  return f(gate(w, r, h, at.reset));
}

inline Value gru_cell(const Value &w, const Value &r, const Value &h, const Value &reset_product, const Activation &f,
                      const Activation &g, const GruGates &at = {}) {
  return gru_next(f(gate(w, r, h, at.update)), g(gate_of(w, h, at.hidden) + reset_product), h);
}

// A gate that sees c, of what goes into it; p may be undefined. Where it is not, gates stand as ONNX has them: `which` is the
// place of peepholes, too.
inline Value lstm_gate(const Value &into, const Value &c, const Value &p, int which, const Activation &f) {
  if (!p.defined()) return f(into);
  return f(into + inlined(c.extents(), [&](const Axes &at) { return p(at.back() + which * c.extent(-1)) * c.at(at); }));
}
inline Value lstm_gate(const Value &w, const Value &r, const Value &c, const Value &p, int which, const Activation &f) {
  return lstm_gate(gate(w, r, c, which), c, p, which, f);
}

inline Value lstm_cell(const Value &w, const Value &r, const Value &c, const Value &p, const Activation &f,
                       const Activation &g, bool coupled, const LstmGates &at = {}) {
  const Value i = lstm_gate(w, r, c, p, at.input, f);
  return lstm_next(coupled ? 1 - i : lstm_gate(w, r, c, p, at.forget, f), c, i, g(gate(w, r, c, at.cell)));
}

inline Value lstm_hidden(const Value &w, const Value &r, const Value &c, const Value &p, const Activation &f,
                         const Activation &g, const LstmGates &at = {}) {
  return lstm_gate(w, r, c, p, at.output, f) * g(c);
}

// Where PyTorch has gates: reset, update, new; input, forget, cell, output.
constexpr GruGates pytorch_gru_gates = {1, 0, 2};
constexpr LstmGates pytorch_lstm_gates = {0, 3, 1, 2};

// ---- A turn, of what goes into each gate, (n, k).

struct LstmInto {
  Value input, output, forget, cell;
};
struct LstmTurn {
  Value hidden, cell;
};
inline LstmTurn lstm_turn(const LstmInto &into, const Value &c, const Activation &f, const Activation &g) {
  const Value next = lstm_next(f(into.forget), c, f(into.input), g(into.cell));
  return {f(into.output) * g(next), next};
}

// The hidden gate has the products of the input, and those of the state.
struct GruInto {
  Value update, reset, hidden, of_state;
};
inline Value gru_turn(const GruInto &into, const Value &h, const Activation &f, const Activation &g) {
  return gru_next(f(into.update), g(into.hidden + f(into.reset) * into.of_state), h);
}

// ---- Sequences.

struct RecurrentWeights {
  Value w, r, w_bias, r_bias;  // biases may be undefined
};

// x(.., i) of all steps times w(o, i), and a bias.
inline Value products_of(const std::string &name, const Value &x, const Value &w, const Value &bias) {
  std::vector<Expression> extents = x.extents();
  extents.back() = w.extent(0);
  const Value product = compute(name, extents, [&](const Axes &at) {
    return sum({x.extent(-1)}, [&](const Axes &i) {
      Axes from = at;
      from.back() = i[0];
      return w(at.back(), i[0]) * x.at(from);
    });
  });
  return bias.defined() ? product + bias : product;
}

inline Value rnn(const Value &x, const RecurrentWeights &by, const Value &h0, const Activation &f,
                 bool backwards = false) {
  const Value w = products_of("input_products", x, by.w, by.w_bias);
  const auto next = [&](const Values &before) -> Values {
    return {named("hidden", rnn_cell(w, products_of("state_products", before[0], by.r, by.r_bias), before[0], f))};
  };
  return recurrent("rnn", {h0}, x.extent(0), next, backwards)[0];
}

// The reset gate is for the product of the state.
inline Value gru(const Value &x, const RecurrentWeights &by, const Value &h0, const Activation &f, const Activation &g,
                 bool backwards = false, const GruGates &at = {}) {
  const Value w = products_of("input_products", x, by.w, by.w_bias);
  const auto next = [&](const Values &before) -> Values {
    const Value &h = before[0], r = products_of("state_products", h, by.r, by.r_bias);
    const Value reset = gru_reset(w, r, h, f, at) * gate_of(r, h, at.hidden);
    return {named("hidden", gru_cell(w, r, h, reset, f, g, at))};
  };
  return recurrent("gru", {h0}, x.extent(0), next, backwards)[0];
}

struct LstmStates {
  Value hidden, cell;
};
// A hidden state that is projected, by onto(h, k), has h elements and not k.
inline LstmStates lstm(const Value &x, const RecurrentWeights &by, const Value &h0, const Value &c0,
                       const Activation &f, const Activation &g, bool backwards = false, const LstmGates &at = {},
                       const Value &onto = {}) {
  const Value w = products_of("input_products", x, by.w, by.w_bias);
  const auto next = [&](const Values &before) -> Values {
    const Value r = products_of("state_products", before[0], by.r, by.r_bias);
    const Value c = named("cell", lstm_cell(w, r, before[1], {}, f, g, false, at));
    const Value h = named("hidden", lstm_hidden(w, r, c, {}, f, g, at));
    return {onto.defined() ? products_of("projected", h, onto, {}) : h, c};
  };
  const Values states = recurrent("lstm", {h0, c0}, x.extent(0), next, backwards);
  return {states[0], states[1]};
}

}  // namespace saltern::algorithms
