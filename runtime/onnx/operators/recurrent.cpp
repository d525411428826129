// Recurrent layers: RNN, GRU and LSTM. The steps are unrolled: a model has sequences of a fixed length. An LSTM that a tape
// takes is an operation, which has kernels (runtime/layers/recurrent_kernels.h), unless it is a special one.
//
// For each direction, all inputs are multiplied by W at once, (time * batch, gates * hidden); a step then is one
// product of the hidden state with R and one or two formulas. Half precision is computed in f32.
//
// DynamicQuantizeLSTM has quantized weights, (directions, inputs, gates * hidden); what they are multiplied by is quantized, too,
// all inputs by one scale and each state by its own.

#include <algorithm>
#include <cctype>
#include <optional>

#include "algorithms/functions.h"
#include "algorithms/recurrent.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/choices.h"
#include "runtime/onnx/operators/microsoft.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using namespace formula;

// ---- The functions that gates may have, by ONNX's names in small letters.

struct Row {
  Value (*of)(const Value &x, double alpha, double beta);
  std::optional<double> alpha = {}, beta = {};  // unless given; those that it has not are nothing
};

const std::map<std::string, Row> &table() {
  using namespace algorithms;
  using V = Value;
  static const std::map<std::string, Row> rows = {
      {"relu", {[](const V &x, double, double) { return relu(x); }}},
      {"tanh", {[](const V &x, double, double) { return tanh(x); }}},
      {"sigmoid", {[](const V &x, double, double) { return sigmoid(x); }}},
      {"affine", {[](const V &x, double a, double b) { return x * a + b; }, 1, 0}},
      {"leakyrelu", {[](const V &x, double a, double) { return leaky_relu(x, a); }, 0.01}},
      {"thresholdedrelu", {[](const V &x, double a, double) { return where(x < a, 0, x); }, 1}},
      {"scaledtanh", {[](const V &x, double a, double b) { return tanh(x * b) * a; }, 1, 1}},
      {"hardsigmoid", {hard_sigmoid, 0.2, 0.5}},
      {"elu", {[](const V &x, double a, double) { return elu(x, a); }, 1}},
      {"softsign", {[](const V &x, double, double) { return softsign(x); }}},
      {"softplus", {[](const V &x, double, double) { return softplus(x); }}},
  };
  return rows;
}

// Those that the attributes name, or the defaults, for each direction, one after another. Values of activation_alpha and
// activation_beta go in order to the functions that have such a parameter; `clip` bounds what goes into each.
std::vector<algorithms::Activation> recurrent_activations(const Attributes &attributes,
                                                          const std::vector<std::string> &defaults,
                                                          int64_t directions) {
  const size_t count = defaults.size() * static_cast<size_t>(directions);
  std::vector<std::string> names = attributes.has("activations") ? attributes.words("activations") : defaults;
  // The defaults of RNN stand there twice even for one direction.
  if (names.size() < count && names.size() != defaults.size()) fail(names.size(), " activations; expected ", count);
  for (size_t i = names.size(); i < count; ++i) names.push_back(names[i - defaults.size()]);
  names.resize(count);
  const auto given = [&](const char *name) {
    return attributes.has(name) ? attributes.reals(name) : std::vector<double>();
  };
  const std::vector<double> alphas = given("activation_alpha"), betas = given("activation_beta");
  const auto next = [](const std::vector<double> &values, size_t &used, const std::optional<double> &otherwise) {
    return otherwise && used < values.size() ? values[used++] : otherwise.value_or(0);
  };
  const double clip = attributes.real("clip", 0);
  size_t alpha = 0, beta = 0;
  std::vector<algorithms::Activation> all;
  for (std::string &name : names) {
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    const Row &row = one_of(table(), "an activation", name);
    const double a = next(alphas, alpha, row.alpha), b = next(betas, beta, row.beta);
    all.emplace_back(
        [&row, a, b, clip](const Value &x) { return row.of(clip > 0 ? min(max(x, -clip), clip) : x, a, b); });
  }
  return all;
}

// ---- The layers.

constexpr int64_t most_steps = int64_t{1} << 16;

class Recurrent {
 public:
  struct State {
    Operand hidden, cell;  // (batch, hidden)
  };
  // What layers differ in.
  struct Kind {
    int64_t gates;
    std::vector<std::string> activations;
    State (Recurrent::*step)(const State &before, int64_t t);
    bool has_cell, quantized = false;
  };
  static const std::map<std::string, Kind> &kinds() {
    static const std::map<std::string, Kind> all = {
        {"RNN", {1, {"Tanh"}, &Recurrent::rnn_step, false}},
        {"GRU", {3, {"Sigmoid", "Tanh"}, &Recurrent::gru_step, false}},
        {"LSTM", {4, {"Sigmoid", "Tanh", "Tanh"}, &Recurrent::lstm_step, true}},
        {"DynamicQuantizeLSTM", {4, {"Sigmoid", "Tanh", "Tanh"}, &Recurrent::lstm_step, true, true}},
    };
    return all;
  }

  explicit Recurrent(Lowering &n)
      : n_(n), kind_(kinds().at(n.node().operation)), gates_(kind_.gates), type_(working_type(n.input(0).type)) {
    const Operand &x = n.input(0), &w = n.input(1), &r = n.input(2);
    batch_first_ = n.attributes().integer("layout", 0) != 0;
    product_first_ = kind_.step != &Recurrent::gru_step || n.attributes().integer("linear_before_reset", 0) != 0;
    const std::string direction =
        one_of({"forward", "reverse", "bidirectional"}, "direction", n.attributes().word("direction", "forward"));
    directions_ = direction == "bidirectional" ? 2 : 1;
    reverse_first_ = direction == "reverse";
    if (x.rank() != 3 || w.rank() != 3 || r.rank() != 3) fail("X, W and R are expected to be of rank 3");
    hidden_ = r.shape[kind_.quantized ? 1 : 2];
    length_ = x.shape[batch_first_ ? 1 : 0];
    batch_ = x.shape[batch_first_ ? 0 : 1];
    const auto of_gates = [&](int64_t inputs) {
      const int64_t outputs = gates_ * hidden_;
      return kind_.quantized ? Shape{directions_, inputs, outputs} : Shape{directions_, outputs, inputs};
    };
    if (w.shape != of_gates(x.shape[2]) || r.shape != of_gates(hidden_))
      fail("X ", to_string(x.shape), ", W ", to_string(w.shape), " and R ", to_string(r.shape), " do not fit ",
           directions_, " directions of ", gates_, " gates");
    if (n.attributes().integer("hidden_size", hidden_) != hidden_)
      fail("hidden_size is ", n.attributes().integer("hidden_size"), "; R has ", hidden_);
    expect_shape(n.optional(3), {directions_, 2 * gates_ * hidden_}, "B");
    expect_shape(n.optional(4), {batch_}, "sequence_lens");
    expect_shape(n.optional(7), {directions_, 3 * hidden_}, "P");
    if (n.has(4) && n.input(4).value.defined())
      for (int64_t l : n.input(4).value.integers())
        if (l < 0 || l > length_) fail("sequence_lens has ", l, " for sequences of ", length_);
    if (length_ > most_steps) unsupported(length_, " steps; they are unrolled, ", most_steps, " at most");
    activations_ = recurrent_activations(n.attributes(), kind_.activations, directions_);
    const Operand in_time = batch_first_ ? n.transposed(x, {1, 0, 2}) : x;
    x_ = n.reshaped(n.casted(in_time, type_), {length_ * batch_, x.shape[2]});
  }

  void lower() {
    std::vector<Operand> all, hidden, cells;
    for (direction_ = 0; direction_ < directions_; ++direction_) {
      const bool reverse = direction_ == 1 || reverse_first_;
      if (is_whole()) {
        const std::vector<Operand> states = whole_lstm(reverse);
        const int64_t last = reverse ? 0 : length_ - 1;
        all.push_back(n_.reshaped(states[0], {length_, 1, batch_, hidden_}));
        hidden.push_back(part(states[0], 0, last, 1));
        cells.push_back(part(states[1], 0, last, 1));
        continue;
      }
      begin_direction();
      std::vector<Operand> states(static_cast<size_t>(length_));
      State s = {initial(5), kind_.has_cell ? initial(6) : Operand()};
      for (int64_t i = 0; i < length_; ++i) {
        const int64_t t = reverse ? length_ - 1 - i : i;
        s = (this->*kind_.step)(s, t);
        states[static_cast<size_t>(t)] = n_.reshaped(inside(s.hidden, t), {1, 1, batch_, hidden_});
      }
      all.push_back(length_ == 0 ? filled(n_, type_, {0, 1, batch_, hidden_}, 0) : concatenated(n_, states, 0));
      hidden.push_back(n_.reshaped(s.hidden, {1, batch_, hidden_}));
      if (kind_.has_cell) cells.push_back(n_.reshaped(s.cell, {1, batch_, hidden_}));
    }
    const Operand y = concatenated(n_, all, 1);
    n_.give(0, n_.casted(batch_first_ ? n_.transposed(y, {2, 0, 1, 3}) : y, n_.input(0).type));
    give_last(1, hidden);
    if (kind_.has_cell) give_last(2, cells);
  }

 private:
  // ---- Of one direction: an input whose first dimension, or another, is the direction, cast to the working type.
  Operand of_direction(size_t input, int axis = 0) const {
    const Operand part = sliced(n_, n_.input(input), axis, direction_, 1);
    Shape shape = part.shape;
    shape.erase(shape.begin() + axis);
    return n_.casted(n_.reshaped(part, shape), type_);
  }
  // Some gates of the bias, (gates * hidden); absent where there is none.
  Operand bias(int64_t first, int64_t count) const {
    return n_.has(3) ? sliced(n_, of_direction(3), 0, first * hidden_, count * hidden_) : Operand();
  }
  Operand initial(size_t input) const {
    if (!n_.has(input)) return filled(n_, type_, {batch_, hidden_}, 0);
    const Shape shape = batch_first_ ? Shape{batch_, directions_, hidden_} : Shape{directions_, batch_, hidden_};
    expect_shape(n_.input(input), shape, "an initial state");
    return of_direction(input, batch_first_ ? 1 : 0);
  }
  // (outputs, inputs); of quantized ones, what they count from their zero points on.
  Operand weights(size_t input) const {
    const Operand w = of_direction(input);
    if (!kind_.quantized) return w;
    const size_t zero = input == 1 ? 9 : 11;
    const Value turned = permuted(w, {1, 0});
    if (!n_.has(zero)) return n_.computed(turned);
    const Operand z = of_direction(zero);
    return n_.computed(turned - Value(z.rank() == 0 ? z : n_.reshaped(z, {z.shape[0], 1})));
  }
  // x w' + bias, where x is quantized if weights are; `scale` is the input that has theirs.
  Operand product(const Operand &x, const Operand &w, const Operand &bias, size_t scale) const {
    if (!kind_.quantized) return dense(n_, x, w, bias);
    const std::vector<Operand> q = n_.by_operator("DynamicQuantizeLinear", {x}, {}, 3);
    const Value counted = cast(type_, q[0]) - cast(type_, q[2]);
    const Value y = Value(dense(n_, n_.computed(counted), w)) * (Value(q[1]) * Value(of_direction(scale)));
    return n_.computed(bias.present() ? y + Value(bias) : y);
  }
  // A GRU whose reset comes before the product has that of its last gate apart.
  void begin_direction() {
    w_products_ = product(x_, weights(1), bias(0, gates_), 8);
    const int64_t together = product_first_ ? gates_ : gates_ - 1;
    const Operand r = weights(2);
    r_ = sliced(n_, r, 0, 0, together * hidden_);
    r_bias_ = bias(gates_, together);
    if (!product_first_) last_r_ = sliced(n_, r, 0, together * hidden_, hidden_);
    if (!product_first_) last_bias_ = bias(gates_ + together, 1);
    if (n_.has(7)) peepholes_ = of_direction(7);
  }

  // ---- As one operation.
  bool is_whole() const {
    const Attributes &a = n_.attributes();
    const bool is_plain = !a.has("activations") && a.real("clip", 0) == 0 && a.integer("input_forget", 0) == 0;
    return trains(n_) && kind_.has_cell && !kind_.quantized && is_plain && !n_.has(4) && !n_.has(7) &&
           n_.input(0).type == Type::f32 && length_ * batch_ * hidden_ > 0;
  }
  // Gates i, o, f, c in the operation's order, along the first axis.
  Operand in_order_of_operation(const Operand &gates) const {
    std::vector<Operand> parts;
    const algorithms::LstmGates from = {};
    for (const int which : {from.input, from.forget, from.cell, from.output})
      parts.push_back(part(gates, 0, which * hidden_, hidden_));
    return concatenated(n_, parts, 0);
  }
  // The hidden state and the cell after each step, (time, batch, hidden).
  std::vector<Operand> whole_lstm(bool reverse) const {
    std::vector<Operand> in = {n_.reshaped(x_, {length_, batch_, x_.shape[1]}), initial(5), initial(6)};
    for (const size_t weights : {1, 2}) in.push_back(in_order_of_operation(of_direction(weights)));
    for (const int64_t first : {int64_t{0}, gates_})
      if (n_.has(3)) in.push_back(in_order_of_operation(bias(first, gates_)));
    return n_.operation("lstm", in, {{"backwards", int64_t{reverse}}, {"bias", int64_t{n_.has(3)}}},
                        {length_, batch_, hidden_}, type_, 2);
  }

  // An operation of its own, whose gradient is joined with those of other parts (runtime/autograd/joined_gradients.h).
  Operand part(const Operand &x, int64_t axis, int64_t begin, int64_t count) const {
    Shape shape = x.shape;
    shape[static_cast<size_t>(axis)] = count;
    return n_.operation("slice", {x}, {{"axis", axis}, {"begin", begin}, {"count", count}}, shape, type_);
  }

  // ---- Of one step: W x + its bias, a part of what was computed for all, so that all steps read alike; and R h + its bias.
  Operand input_products(int64_t t) const { return part(w_products_, 0, t * batch_, batch_); }
  Operand state_products(const State &before) const { return product(before.hidden, r_, r_bias_, 10); }
  const algorithms::Activation &activation(size_t i) const {
    return activations_[static_cast<size_t>(direction_) * kind_.activations.size() + i];
  }

  State rnn_step(const State &before, int64_t t) {
    const Value w = input_products(t), r = state_products(before);
    return {next(before.hidden, algorithms::rnn_cell(w, r, before.hidden, activation(0)), t), {}};
  }

  State gru_step(const State &before, int64_t t) {
    const Value w = input_products(t), r = state_products(before), h = before.hidden;
    const Value reset = algorithms::gru_reset(w, r, h, activation(0));
    const Value product =
        product_first_ ? reset * inlined(h.extents(), [&](const Axes &at) { return r(at[0], at[1] + 2 * hidden_); })
                       : dense(n_, n_.computed(reset * h), last_r_, last_bias_);
    return {next(before.hidden, algorithms::gru_cell(w, r, h, product, activation(0), activation(1)), t), {}};
  }

  // What goes into each gate is a value of its own, and so is its gradient: that of all gates together took each element
  // through all four of them, three times as long.
  State lstm_step(const State &before, int64_t t) {
    const bool coupled = n_.attributes().integer("input_forget", 0) != 0;
    const algorithms::LstmGates at = {};
    const algorithms::Activation &f = activation(0), &g = activation(1), &h = activation(2);
    const Operand into = n_.computed(Value(input_products(t)) + Value(state_products(before)));
    const auto into_gate = [&](int which) { return Value(part(into, 1, which * hidden_, hidden_)); };
    const auto gate = [&](int which, const Operand &cell) {
      return algorithms::lstm_gate(into_gate(which), cell, peepholes_, which, f);
    };
    const Value i = gate(at.input, before.cell), forget = coupled ? 1 - i : gate(at.forget, before.cell);
    const Operand cell = next(before.cell, algorithms::lstm_next(forget, before.cell, i, g(into_gate(at.cell))), t);
    return {next(before.hidden, gate(at.output, cell) * h(cell), t), cell};
  }

  // Of sequences (n, 1).
  Value is_inside(int64_t t) const {
    const Value lengths = n_.input(4);
    return inlined({batch_, 1}, [&](const Axes &at) { return Expression(t) < cast(Type::i64, lengths(at[0])); });
  }
  // The next state; where a sequence has ended, the state before remains.
  Operand next(const Operand &before, const Value &state, int64_t t) {
    return n_.computed(n_.has(4) ? where(is_inside(t), state, before) : state);
  }
  // 0 where the sequence has ended.
  Operand inside(const Operand &state, int64_t t) {
    return n_.has(4) ? n_.computed(where(is_inside(t), state, 0)) : state;
  }

  void give_last(size_t output, const std::vector<Operand> &states) {
    const Operand y = n_.casted(concatenated(n_, states, 0), n_.input(0).type);
    n_.give(output, batch_first_ ? n_.transposed(y, {1, 0, 2}) : y);
  }

  Lowering &n_;
  const Kind &kind_;
  int64_t gates_, directions_ = 1, direction_ = 0, length_ = 0, batch_ = 0, hidden_ = 0;
  Type type_;
  bool batch_first_ = false, reverse_first_ = false, product_first_ = true;
  std::vector<algorithms::Activation> activations_;
  Operand x_, w_products_, r_, r_bias_, last_r_, last_bias_;
  Value peepholes_;
};

void lowered(Lowering &n) { Recurrent(n).lower(); }

}  // namespace

const OperatorList recurrent_operators = {{"GRU", lowered},
                                          {"LSTM", lowered},
                                          {"LSTM", lowered, nullptr, training_domain},
                                          {"RNN", lowered},
                                          {"DynamicQuantizeLSTM", lowered, nullptr, microsoft}};

}  // namespace saltern
