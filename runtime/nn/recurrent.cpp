// Recurrent layers over sequences, and their cells. One layer in one direction is an operation of
// runtime/layers/recurrent.cpp: a recurrence, whose products of all steps are computed at once.

#include <cmath>

#include "algorithms/functions.h"
#include "algorithms/recurrent.h"
#include "runtime/layers/movement.h"
#include "runtime/layers/recurrent_kernels.h"
#include "runtime/nn/families.h"
#include "runtime/nn/layer.h"
#include "runtime/nn/packed_sequences.h"
#include "runtime/operations.h"

namespace saltern::nn {

namespace {

using namespace formula;

// ---- What the three kinds differ in.

struct Kind {
  const char *name;
  const Operation *operation;
  int64_t gates;
  bool has_cell;
};
const Kind rnn = {"RNN", &operations::rnn, 1, false};
const Kind gru = {"GRU", &operations::gru, 3, false};
const Kind lstm = {"LSTM", &operations::lstm, 4, true};

int64_t ways(const Arguments &a) { return a.flag("bidirectional") ? 2 : 1; }
int64_t projection(const Arguments &a, const Kind &kind) { return kind.has_cell ? a.integer("proj_size") : 0; }

// Of layer l in one direction: "_l0", "_l0_reverse".
std::string suffix(int64_t l, bool reverse) { return "_l" + std::to_string(l) + (reverse ? "_reverse" : ""); }

void make_weights(Layer &self, const Kind &kind) {
  const Arguments &a = self.made_with();
  const int64_t inputs = a.integer("input_size"), hidden = a.integer("hidden_size"), onto = projection(a, kind);
  if (inputs < 1) a.refuse("input_size", "at least 1");
  if (hidden < 1) a.refuse("hidden_size", "at least 1");
  if (a.integer("num_layers") < 1) a.refuse("num_layers", "at least 1");
  if (kind.has_cell && (onto < 0 || onto >= hidden)) a.refuse("proj_size", "less than hidden_size");
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  const int64_t given = onto > 0 ? onto : hidden, rows = kind.gates * hidden;
  for (int64_t l = 0; l < a.integer("num_layers"); ++l)
    for (int64_t way = 0; way < ways(a); ++way) {
      const std::string end = suffix(l, way == 1);
      self.parameter("weight_ih" + end, uniform_parameter({rows, l == 0 ? inputs : given * ways(a)}, bound));
      self.parameter("weight_hh" + end, uniform_parameter({rows, given}, bound));
      if (a.flag("bias")) self.parameter("bias_ih" + end, uniform_parameter({rows}, bound));
      if (a.flag("bias")) self.parameter("bias_hh" + end, uniform_parameter({rows}, bound));
      if (onto > 0) self.parameter("weight_hr" + end, uniform_parameter({given, hidden}, bound));
    }
}

// ---- A call.

class Run {
 public:
  Run(Layer &self, const Kind &kind, const Arguments &in) : self_(self), kind_(kind), made_(self.made_with()), in_(in) {
    is_packed_ = in["input"].as<Argument::List>() != nullptr;
    if (is_packed_) packed_ = PackedSequences::of(in, "input");
    x_ = is_packed_ ? padded(packed_) : in.variable("input");
    lengths_ = packed_.lengths();
    const size_t rank = x_.shape().size();
    is_batched_ = rank == 3;
    const int64_t inputs = made_.integer("input_size");
    if ((rank != 2 && rank != 3) || x_.shape().back() != inputs || (is_packed_ && !is_batched_))
      in.refuse("input", "sequences of " + std::to_string(inputs) + " numbers, (t, n, i), (t, i) or packed");
    if (!is_batched_) x_ = reshape(x_, {x_.shape()[0], 1, inputs});
    if (is_batched_ && !is_packed_ && made_.flag("batch_first")) x_ = transpose(x_, {1, 0, 2});
    if (x_.shape()[0] == 0) in.refuse("input", "at least one step");
    const int64_t hidden = made_.integer("hidden_size"), onto = projection(made_, kind);
    given_ = onto > 0 ? onto : hidden;
    count_ = made_.integer("num_layers") * ways(made_);
    read_states(hidden);
  }

  Argument result() {
    std::vector<Variable> hidden, cells;
    Variable y = x_;
    for (int64_t l = 0; l < made_.integer("num_layers"); ++l) {
      if (l > 0 && self_.training() && made_.real("dropout") > 0)
        y = variable_of(call("dropout", {y, made_["dropout"], true}));
      std::vector<Variable> both;
      for (int64_t way = 0; way < ways(made_); ++way) both.push_back(one(l, way == 1, y, hidden, cells));
      y = both.size() == 1 ? both[0] : concat(both, 2);
    }
    const Argument last = states_of(hidden);
    return Argument::List{given_form(y), kind_.has_cell ? Argument(Argument::List{last, states_of(cells)}) : last};
  }

 private:
  // y as the input was given.
  Argument given_form(const Variable &y) const {
    if (is_packed_) {
      PackedSequences p = packed(y, lengths_);
      p.sorted = packed_.sorted;
      p.unsorted = packed_.unsorted;
      return p.as_list();
    }
    if (!is_batched_) return reshape(y, {y.shape()[0], y.shape()[2]});
    return made_.flag("batch_first") ? transpose(y, {1, 0, 2}) : y;
  }

  void read_states(int64_t hidden_size) {
    const Argument &given = in_["hx"];
    if (given.is_none()) return;
    if (!kind_.has_cell) {
      hidden_ = state(given, given_);
      return;
    }
    const auto *both = given.as<Argument::List>();
    if (!both || both->size() != 2) in_.refuse("hx", "a hidden state and a cell state");
    hidden_ = state(both->at(0), given_);
    cell_ = state(both->at(1), hidden_size);
  }

  Variable state(const Argument &given, int64_t elements) const {
    const auto *v = given.as<Variable>();
    const Shape whole = {count_, x_.shape()[1], elements}, unbatched = {count_, elements};
    if (!v || v->shape() != (is_batched_ ? whole : unbatched))
      in_.refuse("hx", "states of shape " + to_string(is_batched_ ? whole : unbatched));
    return is_batched_ ? reordered(*v, packed_.sorted) : reshape(*v, whole);
  }

  Variable first(const Variable &states, int64_t which, int64_t elements) const {
    const int64_t batch = x_.shape()[1];
    if (!states.defined()) return Tensor::zeros({batch, elements}, x_.type());
    return reshape(slice(states, 0, which, 1), {batch, elements});
  }

  Variable one(int64_t l, bool reverse, const Variable &x, std::vector<Variable> &hidden,
               std::vector<Variable> &cells) {
    const int64_t which = l * ways(made_) + (reverse ? 1 : 0);
    const bool turns = is_packed_ && reverse;  // so that what is behind the end of a sequence comes behind it again
    std::vector<Variable> in = {turns ? turned_round(x, lengths_) : x, first(hidden_, which, given_)};
    if (kind_.has_cell) in.push_back(first(cell_, which, made_.integer("hidden_size")));
    for (const char *name : {"weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr"})
      if (self_.has_parameter(name + suffix(l, reverse))) in.push_back(self_.parameter(name + suffix(l, reverse)));
    Attributes a = {{"backwards", int64_t{reverse && !turns}}, {"bias", int64_t{made_.flag("bias")}}};
    if (kind_.operation == &operations::rnn) a.set("nonlinearity", made_.word("nonlinearity", {"tanh", "relu"}));
    if (kind_.has_cell) a.set("projected", int64_t{projection(made_, kind_) > 0});
    const std::vector<Variable> states = recurrent_states(*kind_.operation, in, a);
    hidden.push_back(last_of(states[0], reverse));
    if (kind_.has_cell) cells.push_back(last_of(states[1], reverse));
    return turns ? turned_round(states[0], lengths_) : states[0];
  }

  // (1, n, k)
  Variable last_of(const Variable &states, bool reverse) const {
    if (!is_packed_) return slice(states, 0, reverse ? 0 : states.shape()[0] - 1, 1);
    return reshape(last_steps(states, lengths_), {1, states.shape()[1], states.shape()[2]});
  }

  Argument states_of(const std::vector<Variable> &parts) const {
    const Variable all = concat(parts, 0);
    return is_batched_ ? reordered(all, packed_.unsorted) : reshape(all, {all.shape()[0], all.shape()[2]});
  }

  Layer &self_;
  const Kind &kind_;
  const Arguments &made_, &in_;
  Variable x_, hidden_, cell_;
  bool is_batched_, is_packed_;
  PackedSequences packed_;
  std::vector<int64_t> lengths_;
  int64_t given_ = 0, count_ = 0;
};

struct Recurrent {
  Recurrent(const Kind &kind, const std::string &before, const std::string &behind)
      : row(kind.name,
            "input_size, hidden_size, num_layers=1, " + before +
                "bias=True, batch_first=False, dropout=0.0, bidirectional=False" + behind,
            {"input, hx=None", [&kind](Layer &self, const Arguments &in) { return Run(self, kind, in).result(); }},
            [&kind](Layer &self) { make_weights(self, kind); }) {}
  LayerRow row;
};
const Recurrent rnn_layer(rnn, "nonlinearity='tanh', ", "");
const Recurrent gru_layer(gru, "", "");
const Recurrent lstm_layer(lstm, "", ", proj_size=0");

// ---- Cells: one step.

const algorithms::Activation sigmoid = algorithms::sigmoid, tanh_of = [](const Value &x) { return tanh(x); };

struct Products {
  Value w, r;  // of the input, and of the state
};
Products products_of(const Arguments &a) {
  return {
      algorithms::products_of("input_products", a.value("input"), a.value("weight_ih"), a.value_if_given("bias_ih")),
      algorithms::products_of("state_products", a.value("hx"), a.value("weight_hh"), a.value_if_given("bias_hh"))};
}

const char *const of_cells = "input, hx, weight_ih, weight_hh, bias_ih=None, bias_hh=None";
const Function rnn_cell("rnn_cell", std::string(of_cells) + ", nonlinearity='tanh'", by_formula([](const Arguments &a) {
                          const Products p = products_of(a);
                          const Value sum = p.w + p.r;
                          return a.word("nonlinearity", {"tanh", "relu"}) == "relu" ? algorithms::relu(sum) : tanh(sum);
                        }));
const Function gru_cell("gru_cell", of_cells, by_formula([](const Arguments &a) {
                          const Value h = a.value("hx");
                          const Products p = products_of(a);
                          const Value reset =
                              algorithms::gru_reset(p.w, p.r, h, sigmoid, algorithms::pytorch_gru_gates) *
                              algorithms::gate_of(p.r, h, algorithms::pytorch_gru_gates.hidden);
                          return algorithms::gru_cell(p.w, p.r, h, reset, sigmoid, tanh_of,
                                                      algorithms::pytorch_gru_gates);
                        }));
const Function lstm_cell(
    "lstm_cell", "input, hx, cx, weight_ih, weight_hh, bias_ih=None, bias_hh=None",
    by_formula(2, [](const Arguments &a) -> Values {
      const Products p = products_of(a);
      const Value c = named("cell", algorithms::lstm_cell(p.w, p.r, a.value("cx"), {}, sigmoid, tanh_of, false,
                                                          algorithms::pytorch_lstm_gates));
      return {algorithms::lstm_hidden(p.w, p.r, c, {}, sigmoid, tanh_of, algorithms::pytorch_lstm_gates), c};
    }));

void make_cell(Layer &self, int64_t gates) {
  const Arguments &a = self.made_with();
  const int64_t hidden = a.integer("hidden_size"), rows = gates * hidden;
  if (hidden < 1) a.refuse("hidden_size", "at least 1");
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  self.parameter("weight_ih", uniform_parameter({rows, a.integer("input_size")}, bound));
  self.parameter("weight_hh", uniform_parameter({rows, hidden}, bound));
  const bool bias = a.flag("bias");
  self.parameter("bias_ih", bias ? uniform_parameter({rows}, bound) : Variable());
  self.parameter("bias_hh", bias ? uniform_parameter({rows}, bound) : Variable());
}

// Samples one by one are batches of one for the while.
Forward cell(const Function &function, bool has_cell) {
  return {"input, hx=None", [&function, has_cell](Layer &self, const Arguments &in) -> Argument {
            const Arguments &made = self.made_with();
            Variable x = in.variable("input");
            const bool is_batched = x.shape().size() == 2;
            const int64_t inputs = made.integer("input_size"), hidden = made.integer("hidden_size");
            if ((x.shape().size() != 1 && !is_batched) || x.shape().back() != inputs)
              in.refuse("input", "samples of " + std::to_string(inputs) + " numbers, (n, i) or (i)");
            if (!is_batched) x = reshape(x, {1, inputs});
            const Shape batched = {x.shape()[0], hidden}, single = {hidden};
            const auto state = [&](const Argument &given) -> Variable {
              if (given.is_none()) return Tensor::zeros(batched, x.type());
              const auto *v = given.as<Variable>();
              if (!v || v->shape() != (is_batched ? batched : single))
                in.refuse("hx", "states of shape " + to_string(is_batched ? batched : single));
              return reshape(*v, batched);
            };
            std::vector<Argument> positional = {x};
            if (!has_cell) {
              positional.emplace_back(state(in["hx"]));
            } else {
              const auto *both = in["hx"].as<Argument::List>();
              if (in.has("hx") && (!both || both->size() != 2)) in.refuse("hx", "a hidden state and a cell state");
              for (size_t i = 0; i < 2; ++i) positional.emplace_back(state(both ? both->at(i) : Argument()));
            }
            for (const char *name : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"})
              positional.emplace_back(self.parameter(name));
            if (function.signature().has("nonlinearity")) positional.push_back(made["nonlinearity"]);
            const Argument y = function.call(positional);
            const auto shaped = [&](const Argument &v) -> Argument {
              return is_batched ? *v.as<Variable>() : reshape(*v.as<Variable>(), single);
            };
            if (!has_cell) return shaped(y);
            const auto &both = *y.as<Argument::List>();
            return Argument::List{shaped(both[0]), shaped(both[1])};
          }};
}

const LayerRow rnn_cell_layer("RNNCell", "input_size, hidden_size, bias=True, nonlinearity='tanh'",
                              cell(rnn_cell, false), [](Layer &self) { make_cell(self, 1); });
const LayerRow gru_cell_layer("GRUCell", "input_size, hidden_size, bias=True", cell(gru_cell, false),
                              [](Layer &self) { make_cell(self, 3); });
const LayerRow lstm_cell_layer("LSTMCell", "input_size, hidden_size, bias=True", cell(lstm_cell, true),
                               [](Layer &self) { make_cell(self, 4); });

}  // namespace

const void *recurrent() { return &rnn_layer; }

}  // namespace saltern::nn
