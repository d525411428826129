// The operations rnn, gru and lstm are one layer in one direction, with PyTorch's gates: (x, h0, of an lstm c0, weight_ih,
// weight_hh, bias_ih and bias_hh if `bias`, of an lstm weight_hr if `projected`) -> h and c after each step; attributes
// backwards, bias, projected, of an rnn `nonlinearity`. They are recurrences (algorithms/recurrent.h): products of all steps
// are computed at once.

#include "algorithms/recurrent.h"
#include "algorithms/functions.h"
#include "runtime/operations.h"

namespace saltern {

namespace {

// The inputs of an operation, one after another.
struct Given {
  Values states;
  algorithms::RecurrentWeights weights;
  Value projection;
};

Given given(const Values &in, const Attributes &a, size_t states) {
  const bool bias = a.integer("bias") != 0, projected = a.integer("projected", 0) != 0;
  const size_t expected = 1 + states + 2 + (bias ? 2 : 0) + (projected ? 1 : 0);
  if (in.size() != expected) fail("takes ", expected, " inputs, not ", in.size());
  Given g;
  size_t next = 1;
  while (next <= states) g.states.push_back(in[next++]);
  g.weights.w = in[next++];
  g.weights.r = in[next++];
  if (bias) g.weights.w_bias = in[next++];
  if (bias) g.weights.r_bias = in[next++];
  if (projected) g.projection = in[next];
  return g;
}

bool is_backwards(const Attributes &a) { return a.integer("backwards") != 0; }

const algorithms::Activation sigmoid = algorithms::sigmoid, tanh_of = [](const Value &x) { return tanh(x); };

}  // namespace

namespace operations {

const Operation rnn("rnn", [](const Values &in, const Attributes &a) -> Values {
  const Given g = given(in, a, 1);
  const bool relu = a.word("nonlinearity") == "relu";
  return {algorithms::rnn(in[0], g.weights, g.states[0], relu ? algorithms::Activation(algorithms::relu) : tanh_of,
                          is_backwards(a))};
});

const Operation gru("gru", [](const Values &in, const Attributes &a) -> Values {
  const Given g = given(in, a, 1);
  return {
      algorithms::gru(in[0], g.weights, g.states[0], sigmoid, tanh_of, is_backwards(a), algorithms::pytorch_gru_gates)};
});

const Operation lstm("lstm", [](const Values &in, const Attributes &a) -> Values {
  const Given g = given(in, a, 2);
  const algorithms::LstmStates s = algorithms::lstm(in[0], g.weights, g.states[0], g.states[1], sigmoid, tanh_of,
                                                    is_backwards(a), algorithms::pytorch_lstm_gates, g.projection);
  return {s.hidden, s.cell};
});

}  // namespace operations

}  // namespace saltern
