// Recurrent layers: RNN, GRU and LSTM. The steps are unrolled: a model has sequences of a fixed length.
//
// For each direction, all inputs are multiplied by W at once, (time * batch, gates * hidden); a step then is one
// product of the hidden state with R and one or two formulas. Half precision is computed in f32.

#include <algorithm>
#include <cctype>

#include "algorithms/functions.h"
#include "algorithms/recurrent.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using namespace formula;

// ---- The functions that gates may have, by ONNX's names.

struct Row {
  std::string name;
  bool has_alpha, has_beta;
  double alpha, beta;  // unless given
  Value (*of)(const Value &x, double alpha, double beta);
};

const std::vector<Row> &table() {
  using namespace algorithms;
  using V = Value;
  static const std::vector<Row> rows = {
      {"relu", false, false, 0, 0, [](const V &x, double, double) { return relu(x); }},
      {"tanh", false, false, 0, 0, [](const V &x, double, double) { return tanh(x); }},
      {"sigmoid", false, false, 0, 0, [](const V &x, double, double) { return sigmoid(x); }},
      {"affine", true, true, 1, 0, [](const V &x, double a, double b) { return x * a + b; }},
      {"leakyrelu", true, false, 0.01, 0, [](const V &x, double a, double) { return leaky_relu(x, a); }},
      {"thresholdedrelu", true, false, 1, 0, [](const V &x, double a, double) { return where(x < a, 0, x); }},
      {"scaledtanh", true, true, 1, 1, [](const V &x, double a, double b) { return tanh(x * b) * a; }},
      {"hardsigmoid", true, true, 0.2, 0.5, hard_sigmoid},
      {"elu", true, false, 1, 0, [](const V &x, double a, double) { return elu(x, a); }},
      {"softsign", false, false, 0, 0, [](const V &x, double, double) { return softsign(x); }},
      {"softplus", false, false, 0, 0, [](const V &x, double, double) { return softplus(x); }},
  };
  return rows;
}

const Row &find(const std::string &name) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const Row &r : table())
    if (r.name == lower) return r;
  fail("there is no activation '", name, "'");
}

// The next value of a list, if there is one left.
double next(const std::vector<double> &values, size_t &used, bool wanted, double otherwise) {
  return wanted && used < values.size() ? values[used++] : otherwise;
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
  const auto reals = [&](const char *name) {
    return attributes.has(name) ? attributes.reals(name) : std::vector<double>();
  };
  const std::vector<double> alphas = reals("activation_alpha"), betas = reals("activation_beta");
  const double clip = attributes.real("clip", 0);
  size_t alpha = 0, beta = 0;
  std::vector<algorithms::Activation> all;
  for (const std::string &name : names) {
    const Row &row = find(name);
    const double a = next(alphas, alpha, row.has_alpha, row.alpha), b = next(betas, beta, row.has_beta, row.beta);
    all.emplace_back(
        [&row, a, b, clip](const Value &x) { return row.of(clip > 0 ? min(max(x, -clip), clip) : x, a, b); });
  }
  return all;
}

// ---- The layers.

constexpr int64_t most_steps = int64_t{1} << 16;

class Recurrent {
 public:
  Recurrent(Lowering &n, int64_t gates, const std::vector<std::string> &activations)
      : n_(n), gates_(gates), type_(working_type(n.input(0).type)) {
    const Operand &x = n.input(0), &w = n.input(1), &r = n.input(2);
    batch_first_ = n.attributes().integer("layout", 0) != 0;
    const std::string direction = n.attributes().word("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
      fail("direction is '", direction, "'; expected forward, reverse or bidirectional");
    directions_ = direction == "bidirectional" ? 2 : 1;
    reverse_first_ = direction == "reverse";
    if (x.rank() != 3 || w.rank() != 3 || r.rank() != 3) fail("X, W and R are expected to be of rank 3");
    hidden_ = r.shape[2];
    length_ = x.shape[batch_first_ ? 1 : 0];
    batch_ = x.shape[batch_first_ ? 0 : 1];
    if (w.shape != Shape{directions_, gates * hidden_, x.shape[2]} ||
        r.shape != Shape{directions_, gates * hidden_, hidden_})
      fail("X ", to_string(x.shape), ", W ", to_string(w.shape), " and R ", to_string(r.shape), " do not fit ",
           directions_, " directions of ", gates, " gates");
    if (n.attributes().integer("hidden_size", hidden_) != hidden_)
      fail("hidden_size is ", n.attributes().integer("hidden_size"), "; R has ", hidden_);
    if (n.has(3)) expect(n.input(3), {directions_, 2 * gates * hidden_}, "B");
    if (n.has(4)) expect(n.input(4), {batch_}, "sequence_lens");
    if (n.has(4) && n.input(4).value.defined())
      for (int64_t l : n.input(4).value.integers())
        if (l < 0 || l > length_) fail("sequence_lens has ", l, " for sequences of ", length_);
    if (length_ > most_steps) unsupported(length_, " steps; they are unrolled, ", most_steps, " at most");
    activations_ = recurrent_activations(n.attributes(), activations, directions_);
    per_direction_ = activations.size();
    const Operand in_time = batch_first_ ? n.transposed(x, {1, 0, 2}) : x;
    x_ = n.reshaped(n.casted(in_time, type_), {length_ * batch_, x.shape[2]});
  }
  virtual ~Recurrent() = default;

  void lower() {
    std::vector<Operand> all, hidden, cells;
    for (direction_ = 0; direction_ < directions_; ++direction_) {
      begin_direction();
      const bool reverse = direction_ == 1 || reverse_first_;
      std::vector<Operand> states(static_cast<size_t>(length_));
      State s = {initial(5), has_cell() ? initial(6) : Operand()};
      for (int64_t i = 0; i < length_; ++i) {
        const int64_t t = reverse ? length_ - 1 - i : i;
        s = step(s, t);
        states[static_cast<size_t>(t)] = n_.reshaped(inside(s.hidden, t), {1, 1, batch_, hidden_});
      }
      all.push_back(length_ == 0 ? filled(n_, type_, {0, 1, batch_, hidden_}, 0) : concatenated(n_, states, 0));
      hidden.push_back(n_.reshaped(s.hidden, {1, batch_, hidden_}));
      if (has_cell()) cells.push_back(n_.reshaped(s.cell, {1, batch_, hidden_}));
    }
    const Operand y = concatenated(n_, all, 1);
    n_.give(0, n_.casted(batch_first_ ? n_.transposed(y, {2, 0, 1, 3}) : y, n_.input(0).type));
    give_last(1, hidden);
    if (has_cell()) give_last(2, cells);
  }

 protected:
  struct State {
    Operand hidden, cell;  // (batch, hidden)
  };

  virtual State step(const State &before, int64_t t) = 0;
  virtual bool has_cell() const { return false; }
  // Once before the steps of a direction.
  virtual void begin_direction() {
    w_products_ = dense(n_, x_, weights(1), bias(0, gates_));
    r_ = weights(2);
    r_bias_ = bias(gates_, gates_);
  }

  // W x + its bias, at a step: a part of what was computed for all, so that all steps read alike.
  Operand input_products(int64_t t) const { return sliced(n_, w_products_, 0, t * batch_, batch_); }
  const algorithms::Activation &activation(size_t i) const {
    return activations_[static_cast<size_t>(direction_) * per_direction_ + i];
  }

  // The next state; where a sequence has ended, the state before remains.
  Operand next(const Operand &before, const Value &state, int64_t t) {
    return n_.computed(n_.has(4) ? where(is_inside(t), state, before) : state);
  }

  // This direction's part of an input whose first dimension is the direction, cast to the working type.
  Operand of_direction(const Operand &x, int axis = 0) const {
    const Operand part = sliced(n_, x, axis, direction_, 1);
    Shape shape = part.shape;
    shape.erase(shape.begin() + axis);
    return n_.casted(n_.reshaped(part, shape), type_);
  }
  static void expect(const Operand &x, const Shape &shape, const char *what) {
    if (x.shape != shape) fail(what, " is ", to_string(x.shape), "; expected ", to_string(shape));
  }

  Lowering &n_;
  int64_t gates_, directions_ = 1, direction_ = 0, length_ = 0, batch_ = 0, hidden_ = 0;
  Type type_;
  Operand w_products_, r_, r_bias_;

  // Some gates of the bias, (gates * hidden); absent where there is none.
  Operand bias(int64_t first, int64_t count) const {
    if (!n_.has(3)) return {};
    return sliced(n_, of_direction(n_.input(3)), 0, first * hidden_, count * hidden_);
  }

 private:
  Operand weights(size_t input) const { return of_direction(n_.input(input)); }

  Operand initial(size_t input) const {
    if (!n_.has(input)) return filled(n_, type_, {batch_, hidden_}, 0);
    const Shape shape = batch_first_ ? Shape{batch_, directions_, hidden_} : Shape{directions_, batch_, hidden_};
    expect(n_.input(input), shape, "an initial state");
    return of_direction(n_.input(input), batch_first_ ? 1 : 0);
  }

  // Of sequences (n, 1).
  Value is_inside(int64_t t) const {
    const Value lengths = n_.input(4);
    return inlined({batch_, 1}, [&](const Axes &at) { return Expression(t) < cast(Type::i64, lengths(at[0])); });
  }
  // 0 where the sequence has ended.
  Operand inside(const Operand &state, int64_t t) {
    return n_.has(4) ? n_.computed(where(is_inside(t), state, 0)) : state;
  }

  void give_last(size_t output, const std::vector<Operand> &states) {
    const Operand y = n_.casted(concatenated(n_, states, 0), n_.input(0).type);
    n_.give(output, batch_first_ ? n_.transposed(y, {1, 0, 2}) : y);
  }

  bool batch_first_ = false, reverse_first_ = false;
  std::vector<algorithms::Activation> activations_;
  size_t per_direction_ = 0;
  Operand x_;
};

class Rnn : public Recurrent {
 public:
  explicit Rnn(Lowering &n) : Recurrent(n, 1, {"Tanh"}) {}

 protected:
  State step(const State &before, int64_t t) override {
    const Operand product = dense(n_, before.hidden, r_, r_bias_);
    const Value state = algorithms::rnn_cell(input_products(t), product, before.hidden, activation(0));
    return {next(before.hidden, state, t), {}};
  }
};

class Gru : public Recurrent {
 public:
  explicit Gru(Lowering &n)
      : Recurrent(n, 3, {"Sigmoid", "Tanh"}), product_first_(n.attributes().integer("linear_before_reset", 0) != 0) {}

 protected:
  void begin_direction() override {
    Recurrent::begin_direction();
    if (product_first_) return;
    hidden_weights_ = sliced(n_, r_, 0, 2 * hidden_, hidden_);
    hidden_bias_ = bias(gates_ + 2, 1);
    r_ = sliced(n_, r_, 0, 0, 2 * hidden_);
    r_bias_ = bias(gates_, 2);
  }

  State step(const State &before, int64_t t) override {
    const Value w = input_products(t), r = dense(n_, before.hidden, r_, r_bias_), h = before.hidden;
    const Value reset = algorithms::gru_reset(w, r, h, activation(0));
    const Value product =
        product_first_ ? reset * inlined(h.extents(), [&](const Axes &at) { return r(at[0], at[1] + 2 * hidden_); })
                       : dense(n_, n_.computed(reset * h), hidden_weights_, hidden_bias_);
    return {next(before.hidden, algorithms::gru_cell(w, r, h, product, activation(0), activation(1)), t), {}};
  }

 private:
  bool product_first_;
  Operand hidden_weights_, hidden_bias_;
};

class Lstm : public Recurrent {
 public:
  explicit Lstm(Lowering &n)
      : Recurrent(n, 4, {"Sigmoid", "Tanh", "Tanh"}), coupled_(n.attributes().integer("input_forget", 0) != 0) {
    if (n.has(7)) expect(n.input(7), {directions_, 3 * hidden_}, "P");
  }

 protected:
  bool has_cell() const override { return true; }
  void begin_direction() override {
    Recurrent::begin_direction();
    if (n_.has(7)) peepholes_ = of_direction(n_.input(7));
  }

  State step(const State &before, int64_t t) override {
    const Value w = input_products(t), r = dense(n_, before.hidden, r_, r_bias_);
    const Operand cell = next(
        before.cell, algorithms::lstm_cell(w, r, before.cell, peepholes_, activation(0), activation(1), coupled_), t);
    const Value hidden = algorithms::lstm_hidden(w, r, cell, peepholes_, activation(0), activation(2));
    return {next(before.hidden, hidden, t), cell};
  }

 private:
  bool coupled_;
  Value peepholes_;
};

template <typename Layer>
void recurrent(Lowering &n) {
  Layer(n).lower();
}

}  // namespace

const OperatorList recurrent_operators = {{"GRU", recurrent<Gru>}, {"LSTM", recurrent<Lstm>}, {"RNN", recurrent<Rnn>}};

}  // namespace saltern
