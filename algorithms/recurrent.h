#pragma once
// One step of recurrent layers, of w, the products of the input (n, gates k), and r, those of the hidden state h(n, k);
// gate i stands at i k.
//
//   rnn    h' = f(w + r)
//   gru    gates z, r, h:     h' = (1 - z) g(w_h + s) + z h;   s is r (R h)_h, or R_h (r h): the product of what is reset
//   lstm   gates i, o, f, c:  c' = f c + i g(w_c + r_c)        h' = o g'(c')
//
// The gates i, f and o of an LSTM may see the cell, c or c', through peepholes p(3 k), in the order i, o, f; and f may be
// 1 - i.

#include "dsl/value.h"

namespace saltern::algorithms {

using namespace formula;

using Activation = std::function<Value(const Value &)>;

// What goes into a gate.
inline Value gate(const Value &w, const Value &r, const Value &h, int which) {
  const Expression k = h.extent(-1);
  return inlined(h.extents(),
                 [&](const Axes &at) { return w(at[0], at[1] + which * k) + r(at[0], at[1] + which * k); });
}

inline Value rnn_cell(const Value &w, const Value &r, const Value &h, const Activation &f) {
  return f(gate(w, r, h, 0));
}

inline Value gru_reset(const Value &w, const Value &r, const Value &h, const Activation &f) {
  return f(gate(w, r, h, 1));
}

inline Value gru_cell(const Value &w, const Value &r, const Value &h, const Value &reset_product, const Activation &f,
                      const Activation &g) {
  const Value z = f(gate(w, r, h, 0));
  const Value into = inlined(h.extents(), [&](const Axes &at) { return w(at[0], at[1] + 2 * h.extent(-1)); });
  return (1 - z) * g(into + reset_product) + z * h;
}

// The gate `which`, which sees c; p may be undefined.
inline Value lstm_gate(const Value &w, const Value &r, const Value &c, const Value &p, int which, const Activation &f) {
  const Value into = gate(w, r, c, which);
  if (!p.defined()) return f(into);
  return f(into + inlined(c.extents(), [&](const Axes &at) { return p(at[1] + which * c.extent(-1)) * c.at(at); }));
}

inline Value lstm_cell(const Value &w, const Value &r, const Value &c, const Value &p, const Activation &f,
                       const Activation &g, bool coupled) {
  const Value i = lstm_gate(w, r, c, p, 0, f);
  return (coupled ? 1 - i : lstm_gate(w, r, c, p, 2, f)) * c + i * g(gate(w, r, c, 3));
}

inline Value lstm_hidden(const Value &w, const Value &r, const Value &c, const Value &p, const Activation &f,
                         const Activation &g) {
  return lstm_gate(w, r, c, p, 1, f) * g(c);
}

}  // namespace saltern::algorithms
