#include "runtime/layers/recurrent_kernels.h"

#include <algorithm>

#include "dsl/derivative.h"
#include "runtime/kernels/kernels.h"
#include "runtime/layers/matmul.h"
#include "runtime/operations.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

// What the two differ in.
struct Kind {
  const Operation &formula;
  std::string operation;  // by kernels:
  const char *turn, *gradient;
  int64_t gates;
  size_t states;
};
const Kind lstm = {operations::lstm, "lstm_by_kernels", "lstm_turn", "lstm_turn_gradient", 4, 2};
const Kind gru = {operations::gru, "gru_by_kernels", "gru_turn", "gru_turn_gradient", 3, 1};

Tensor computed(const Operation &o, const std::vector<Tensor> &in) { return o.compute(in, {})[0]; }

// Turn t of a tensor, without its first dimension.
Tensor at_turn(const Tensor &all, int64_t t) {
  return all.slice(0, t, 1).reshaped(Shape(all.shape().begin() + 1, all.shape().end()));
}

// A sequence with its weights: x(t, n, i), the states before it (n, k), w(g k, i), r(g k, k) and their biases, or none.
struct Sequence {
  const Kind &kind;
  Tensor x;
  std::vector<Tensor> before;
  Tensor w, r, w_bias, r_bias;
  bool backwards;
  int64_t turns, batch, size;

  Sequence(const Kind &of, const std::vector<Tensor> &in, const Attributes &a)
      : kind(of), x(row_major(in.at(0))), backwards(a.integer("backwards") != 0) {
    size_t next = 1;
    while (before.size() < kind.states) before.push_back(row_major(in.at(next++)));
    w = row_major(in.at(next));
    r = row_major(in.at(next + 1));
    const bool biased = a.integer("bias") != 0;
    const Tensor none = Tensor::zeros({w.extent(0)});
    w_bias = biased ? row_major(in.at(next + 2)) : none;
    r_bias = biased ? row_major(in.at(next + 3)) : none;
    // An LSTM adds all that goes into a gate; of a GRU, one gate keeps them apart.
    if (biased && kind.states == 2) {
      r_bias = called_strided("add", {w_bias, r_bias});
      w_bias = none;
    }
    turns = x.extent(0);
    batch = x.extent(1);
    size = before[0].extent(1);
    if (x.rank() != 3 || w.shape() != Shape{kind.gates * size, x.extent(2)} ||
        r.shape() != Shape{kind.gates * size, size})
      fail(kind.formula.name, ": x is ", to_string(x.shape()), ", with weights ", to_string(w.shape()), " and ",
           to_string(r.shape()), " for ", size, " states");
  }

  int64_t turn(int64_t taken) const { return backwards ? turns - 1 - taken : taken; }
  Tensor states() const { return Tensor::empty({turns, batch, size}); }
  Tensor products() const { return Tensor::empty({turns, batch, kind.gates * size}); }
  Tensor rows(const Tensor &all) const { return all.reshaped({turns * batch, all.extent(2)}); }

  // (n, g k) as (k, gate, n), and one of the gates as (k, n).
  View gates(const Tensor &t) const { return {t, {{size, 1}, {kind.gates, size}, {batch, kind.gates * size}}}; }
  View of_gates(const Tensor &bias) const { return {bias, {{size, 1}, {kind.gates, size}}}; }
  View gate(const Tensor &t, int64_t which) const {
    return {t.slice(1, which * size, size), {{size, 1}, {batch, kind.gates * size}}};
  }

  Tensor of_input() const {
    if (kind.states == 1)
      return computed(operations::dense, {rows(x), w, w_bias}).reshaped({turns, batch, w.extent(0)});
    const Tensor all = products();
    multiply(rows(x), turned(w), rows(all));
    return all;
  }

  // What state s was before each turn.
  Tensor before_turns(size_t s, const Tensor &after) const {
    const Tensor all = states();
    for (int64_t taken = 0; taken < turns; ++taken)
      at_turn(all, turn(taken)).copy_from(taken == 0 ? before[s] : at_turn(after, turn(taken - 1)));
    return all;
  }
};

// The states after each turn, and what the way back needs besides: products of the input and of the state.
std::vector<Tensor> run(const Kind &kind, const std::vector<Tensor> &in, const Attributes &a) {
  const Sequence s(kind, in, a);
  const Tensor w = s.of_input(), r = s.products();
  const RightOperand by_state(turned(s.r));
  std::vector<Tensor> now = s.before, all;
  for (size_t i = 0; i < kind.states; ++i) all.push_back(s.states());
  for (int64_t taken = 0; taken < s.turns; ++taken) {
    const int64_t t = s.turn(taken);
    by_state.multiply(now[0], at_turn(r, t));
    std::vector<KernelArgument> arguments = {s.gates(at_turn(w, t)), s.gates(at_turn(r, t)), s.of_gates(s.r_bias),
                                             reversed(now.back())};
    for (size_t i = 0; i < kind.states; ++i) {
      now[i] = at_turn(all[i], t);
      arguments.emplace_back(reversed(now[i]));
    }
    call(kind.turn, std::move(arguments));
  }
  all.insert(all.end(), {w, r});
  return all;
}

// (inputs, what run() gave, gradients of states) -> gradients of the inputs
std::vector<Tensor> run_back(const Kind &kind, const std::vector<Tensor> &in, const Attributes &a) {
  const Sequence s(kind, in, a);
  const bool biased = a.integer("bias") != 0, has_cell = kind.states == 2;
  const size_t inputs = 1 + kind.states + 2 + (biased ? 2 : 0);
  std::vector<Tensor> before, d, more;
  for (size_t i = 0; i < kind.states; ++i) {
    before.push_back(s.before_turns(i, row_major(in.at(inputs + i))));
    d.push_back(row_major(in.at(inputs + kind.states + 2 + i)));
    more.push_back(Tensor::zeros({s.batch, s.size}));
  }
  // Of a GRU, those of the state have a gate that differs.
  const Tensor &w = in[inputs + kind.states], &r = in[inputs + kind.states + 1];
  const Tensor dw = s.products(), dr = has_cell ? dw : s.products();
  const RightOperand back(s.r);
  for (int64_t taken = s.turns; taken-- > 0;) {
    const int64_t t = s.turn(taken);
    std::vector<KernelArgument> arguments = {s.gates(at_turn(w, t)), s.gates(at_turn(r, t)), s.of_gates(s.r_bias),
                                             reversed(at_turn(before.back(), t))};
    for (size_t i = 0; i < kind.states; ++i) {
      arguments.emplace_back(reversed(at_turn(d[i], t)));
      arguments.emplace_back(reversed(more[i]));
    }
    const std::vector<Tensor> into =
        has_cell ? std::vector{at_turn(dw, t)} : std::vector{at_turn(dw, t), at_turn(dr, t)};
    for (const Tensor &gates : into)
      for (int64_t g = 0; g < kind.gates; ++g) arguments.emplace_back(s.gate(gates, g));
    const Tensor direct = Tensor::empty({s.batch, s.size});
    arguments.emplace_back(reversed(direct));
    call(kind.gradient, std::move(arguments));
    const Tensor through = Tensor::empty({s.batch, s.size});
    back.multiply(into.back(), through);
    if (has_cell)
      more = {through, direct};
    else
      more = {called_strided("add", {through, direct})};
  }
  const Tensor dw_rows = s.rows(dw), dr_rows = s.rows(dr);
  std::vector<Tensor> all = {Tensor::empty(s.x.shape())};
  multiply(dw_rows, s.w, s.rows(all[0]));
  all.insert(all.end(), more.begin(), more.end());
  // What both products of an LSTM read is turned around once.
  const Tensor dw_columns = row_major(turned(dw_rows)), dr_columns = has_cell ? dw_columns : row_major(turned(dr_rows));
  all.push_back(multiplied(dw_columns, s.rows(s.x)));
  all.push_back(multiplied(dr_columns, s.rows(before[0])));
  if (biased) all.push_back(computed(operations::dense_gradient_b, {dw_rows}));
  if (biased) all.push_back(has_cell ? all.back().clone() : computed(operations::dense_gradient_b, {dr_rows}));
  return all;
}

// The same by formulas, which gradients of the gradient are made of.
Values derived(const Kind &kind, const Values &in, const Attributes &a) {
  const auto inputs = static_cast<std::ptrdiff_t>(in.size() - 2 * kind.states - 2);
  const Values given(in.begin(), in.begin() + inputs);
  return gradient(kind.formula.algorithm(given, a), {in.end() - static_cast<std::ptrdiff_t>(kind.states), in.end()},
                  given);
}

struct ByKernels {
  const Kind &kind;
  Operation back, states;

  explicit ByKernels(const Kind &of)
      : kind(of),
        back(
            kind.operation + "_gradient",
            [this](const std::vector<Tensor> &in, const Attributes &a) { return run_back(kind, in, a); },
            [this](const Values &in, const Attributes &a) { return derived(kind, in, a); }),
        states(
            kind.operation, [this](const std::vector<Tensor> &in, const Attributes &a) { return run(kind, in, a); },
            [this](const Values &in, const Attributes &a) { return kind.formula.algorithm(in, a); },
            [this](const Taped &t, const std::vector<Variable> &dy) {
              std::vector<Variable> in;
              for (size_t i = 0; i < t.input_count(); ++i) in.push_back(t.input(i));
              for (size_t i = 0; i < kind.states + 2; ++i) in.push_back(t.output(static_cast<int>(i)).detached());
              for (size_t i = 0; i < kind.states; ++i)
                in.push_back(dy[i].defined() ? dy[i] : Variable(Tensor::zeros(t.output(static_cast<int>(i)).shape())));
              return apply(back, in, t.attributes());
            }) {}
};
const ByKernels lstm_by_kernels(lstm), gru_by_kernels(gru);

bool fits(const std::vector<Variable> &inputs, const Attributes &a) {
  return recording_mode() != RecordingMode::everything && a.integer("projected", 0) == 0 &&
         std::all_of(inputs.begin(), inputs.end(), [](const Variable &v) {
           return v.type() == Type::f32 && v.size() > 0 && !v.value().is_outline();
         });
}

}  // namespace

std::vector<Variable> recurrent_states(const Operation &recurrent, const std::vector<Variable> &inputs,
                                       const Attributes &attributes) {
  for (const ByKernels *by : {&lstm_by_kernels, &gru_by_kernels})
    if (&by->kind.formula == &recurrent && fits(inputs, attributes)) {
      std::vector<Variable> all = apply(by->states, inputs, attributes);
      all.resize(by->kind.states);
      return all;
    }
  return apply(recurrent, inputs, attributes);
}

}  // namespace saltern
