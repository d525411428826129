#include "runtime/layers/recurrent.h"

#include "algorithms/functions.h"
#include "algorithms/recurrent.h"
#include "runtime/layers/linear.h"
#include "runtime/layers/movement.h"
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
// Where PyTorch has gates: reset, update, new; input, forget, cell, output.
constexpr algorithms::GruGates gru_gates = {1, 0, 2};
constexpr algorithms::LstmGates lstm_gates = {0, 3, 1, 2};

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
  return {algorithms::gru(in[0], g.weights, g.states[0], sigmoid, tanh_of, is_backwards(a), gru_gates)};
});

const Operation lstm("lstm", [](const Values &in, const Attributes &a) -> Values {
  const Given g = given(in, a, 2);
  const algorithms::LstmStates s = algorithms::lstm(in[0], g.weights, g.states[0], g.states[1], sigmoid, tanh_of,
                                                    is_backwards(a), lstm_gates, g.projection);
  return {s.hidden, s.cell};
});

}  // namespace operations

RecurrentLayer::RecurrentLayer(Random &random, const char *operation, int64_t gates, int64_t inputs, int64_t hidden,
                               const RecurrentOptions &options)
    : operation_(operation), inputs_(inputs), hidden_(hidden), options_(options), dropout_(random, options.dropout) {
  if (inputs < 1 || hidden < 1 || options.layers < 1)
    fail(operation, "(", inputs, ", ", hidden, ") of ", options.layers, " layers: each is at least 1");
  if (options.projection != 0 && (!has_cell() || options.projection < 0 || options.projection >= hidden))
    fail(operation, ": a projection to ", options.projection, " of ", hidden, "; it is an LSTM's, and smaller");
  const int64_t given = options.projection > 0 ? options.projection : hidden, ways = options.bidirectional ? 2 : 1;
  const auto weight = [&](const Shape &shape) { return default_parameter(random, shape, hidden); };
  for (int64_t d = 0; d < options.layers * ways; ++d) {
    const int64_t into = d < ways ? inputs : given * ways;
    Direction each = {"_l" + std::to_string(d / ways) + (d % ways == 1 ? "_reverse" : ""), {}};
    each.weights.emplace_back("weight_ih", weight({gates * hidden, into}));
    each.weights.emplace_back("weight_hh", weight({gates * hidden, given}));
    if (options.bias) each.weights.emplace_back("bias_ih", weight({gates * hidden}));
    if (options.bias) each.weights.emplace_back("bias_hh", weight({gates * hidden}));
    if (options.projection > 0) each.weights.emplace_back("weight_hr", weight({given, hidden}));
    directions_.push_back(std::move(each));
  }
}

bool RecurrentLayer::has_cell() const { return operation_ == operations::lstm.name; }

void RecurrentLayer::visit(Visitor &v) {
  for (Direction &d : directions_)
    for (auto &[name, weight] : d.weights) v.parameter(name + d.suffix, weight);
  if (options_.dropout > 0) v.child("dropout", dropout_);
}

Sequences RecurrentLayer::one(const Direction &d, const Variable &x, const Variable &h0, const Variable &c0,
                              bool backwards) const {
  std::vector<Variable> in = {x, h0};
  if (has_cell()) in.push_back(c0);
  for (const auto &[name, weight] : d.weights) in.push_back(weight);
  Attributes a = {{"backwards", int64_t{backwards}}, {"bias", int64_t{options_.bias}}};
  if (operation_ == operations::rnn.name) a.set("nonlinearity", std::string(options_.relu ? "relu" : "tanh"));
  if (has_cell()) a.set("projected", int64_t{options_.projection > 0});
  const std::vector<Variable> states = apply(*find_operation(operation_), in, a);
  return {states[0], states[0], has_cell() ? states[1] : Variable()};
}

Sequences RecurrentLayer::run(const Variable &x, const Variable &hidden, const Variable &cell) {
  if (x.shape().size() != 3 || x.shape()[2] != inputs_ || x.shape()[0] == 0 || x.shape()[1] == 0)
    fail(class_name(*this), " takes sequences of ", inputs_, " inputs, (t, n, i) or (n, t, i); x is ",
         to_string(x.shape()));
  if (cell.defined() && !has_cell()) fail(class_name(*this), " has no cells");
  Variable in = options_.batch_first ? transpose(x, {1, 0, 2}) : x;
  const int64_t steps = in.shape()[0], batch = in.shape()[1],
                given = options_.projection > 0 ? options_.projection : hidden_;
  const auto count = static_cast<int64_t>(directions_.size());
  const auto before = [&](const Variable &states, int64_t which, int64_t elements, const char *what) {
    if (!states.defined()) return Variable(Tensor::zeros({batch, elements}, x.value().type()));
    if (states.shape() != Shape{count, batch, elements})
      fail(class_name(*this), ": ", what, " is ", to_string(states.shape()), "; expected ",
           to_string({count, batch, elements}));
    return reshape(slice(states, 0, which, 1), {batch, elements});
  };
  std::vector<Variable> last_hidden, last_cells;
  for (int64_t d = 0; d < count;) {
    std::vector<Variable> both;
    if (d > 0 && options_.dropout > 0) in = dropout_(in);
    for (const bool backwards : {false, true}) {
      if (backwards && !options_.bidirectional) break;
      const Sequences s = one(directions_[static_cast<size_t>(d)], in, before(hidden, d, given, "the hidden state"),
                              has_cell() ? before(cell, d, hidden_, "the cell") : Variable(), backwards);
      both.push_back(s.y);
      const int64_t end = backwards ? 0 : steps - 1;
      last_hidden.push_back(slice(s.hidden, 0, end, 1));
      if (has_cell()) last_cells.push_back(slice(s.cell, 0, end, 1));
      ++d;
    }
    in = both.size() == 1 ? both[0] : concat(both, 2);
  }
  return {options_.batch_first ? transpose(in, {1, 0, 2}) : in, concat(last_hidden, 0),
          has_cell() ? concat(last_cells, 0) : Variable()};
}

}  // namespace saltern
