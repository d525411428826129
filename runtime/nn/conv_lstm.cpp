// LSTMs of images, whose products are convolutions: x(t, n, c, ...) -> y(t, n, h, ...) and the last states, (n, h, ...).

#include <cmath>

#include "algorithms/functions.h"
#include "runtime/layers/binary.h"
#include "runtime/layers/movement.h"
#include "runtime/nn/families.h"
#include "runtime/nn/images.h"
#include "runtime/nn/layer.h"

namespace saltern::nn {

namespace {

using namespace formula;

// The gates of x and of h, (n, 4 h, ...), and the cells before, (n, h, ...): the hidden state and the cells behind.
const Operation turn("conv_lstm_turn", [](const Values &in, const Attributes &) -> Values {
  const Value gates = named("gates", in.at(0) + in.at(1)), &c = in.at(2);
  const auto gate = [&](int which) {
    return inlined(c.extents(), [&](Axes at) {
      at[1] = at[1] + c.extent(1) * which;
      return gates.at(at);
    });
  };
  const Value cell = named("cell", algorithms::sigmoid(gate(1)) * c + algorithms::sigmoid(gate(0)) * tanh(gate(2)));
  return {algorithms::sigmoid(gate(3)) * tanh(cell), cell};
});

Forward running(int axes) {
  return {"input, hx=None", [axes](Layer &self, const Arguments &in) -> Argument {
            const Arguments &made = self.made_with();
            Variable x = in.variable("input");
            if (static_cast<int>(x.shape().size()) != axes + 3)
              in.refuse("input",
                        "sequences of images (t, n, c, ...) with " + std::to_string(axes) + " further dimensions");
            std::vector<int64_t> order = all_dimensions(x);
            std::swap(order[0], order[1]);
            if (made.flag("batch_first")) x = transpose(x, order);
            const int64_t steps = x.shape()[0], batch = x.shape()[1];
            if (steps < 1) in.refuse("input", "at least one step");
            Shape flat(x.shape().begin() + 1, x.shape().end());
            flat[0] = steps * batch;
            // Of all steps at once: no state waits for these.
            const std::string conv = with_axes("conv", axes);
            const Variable gates = variable_of(call(conv, {reshape(x, flat), self.parameter("weight_ih"),
                                                           self.parameter("bias"), made["stride"], made["padding"]}));
            Shape shape = gates.shape();
            shape[0] = batch;
            Shape state = shape;
            state[1] = made.integer("hidden_size");
            const auto *given = in["hx"].as<Argument::List>();
            if (in.has("hx") && (!given || given->size() != 2)) in.refuse("hx", "a hidden state and a cell state");
            const auto first = [&](size_t i) -> Variable {
              if (!given) return Tensor::zeros(state, x.type());
              const auto *v = given->at(i).as<Variable>();
              if (!v || v->shape() != state) in.refuse("hx", "states of shape " + to_string(state));
              return *v;
            };
            std::vector<Variable> states = {first(0), first(1)}, all;
            for (int64_t t = 0; t < steps; ++t) {
              const Variable of_h =
                  variable_of(call(conv, {states[0], self.parameter("weight_hh"), Argument(), 1, "same"}));
              states = apply(turn, {slice(gates, 0, t * batch, batch), of_h, states[1]});
              states.resize(2);
              Shape with_step = state;
              with_step.insert(with_step.begin(), 1);
              all.push_back(reshape(states[0], with_step));
            }
            const Variable y = concat(all, 0);
            return Argument::List{made.flag("batch_first") ? transpose(y, order) : y, Argument(states)};
          }};
}

void make_weights(Layer &self, int axes) {
  const Arguments &a = self.made_with();
  const int64_t inputs = a.integer("input_size"), hidden = a.integer("hidden_size");
  if (inputs < 1 || hidden < 1) a.refuse(inputs < 1 ? "input_size" : "hidden_size", "1 or more");
  const Shape kernel = integers_from(a, "kernel_size", static_cast<size_t>(axes), 1);
  const double bound = 1 / std::sqrt(static_cast<double>(hidden * elements(kernel)));
  for (const bool of_input : {true, false}) {
    Shape shape = {4 * hidden, of_input ? inputs : hidden};
    shape.insert(shape.end(), kernel.begin(), kernel.end());
    self.parameter(of_input ? "weight_ih" : "weight_hh", uniform_parameter(shape, bound));
  }
  self.parameter("bias", a.flag("bias") ? uniform_parameter({4 * hidden}, bound) : Variable());
}

struct ConvLstm {
  explicit ConvLstm(int axes)
      : row(with_axes("ConvLSTM", axes),
            "input_size, hidden_size, kernel_size, stride=1, padding=0, bias=True, batch_first=False", running(axes),
            [axes](Layer &self) { make_weights(self, axes); }) {}
  LayerRow row;
};
const ConvLstm conv_lstm_of_axes[] = {ConvLstm(1), ConvLstm(2), ConvLstm(3)};

}  // namespace

const void *conv_lstm() { return conv_lstm_of_axes; }

}  // namespace saltern::nn
