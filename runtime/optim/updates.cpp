#include "runtime/optim/updates.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "algorithms/optimizers.h"
#include "runtime/autograd/sparse.h"
#include "runtime/kernels/kernels.h"
#include "runtime/operations.h"
#include "runtime/tensor/parts.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

using Tensors = std::vector<Tensor>;

enum : size_t { parameter, slope, rate, steps, slots };

float real(const Attributes &a, const char *name) { return static_cast<float>(a.real(name)); }
Value number(const Attributes &a, const char *name) { return formula::constant_value(Type::f32, a.real(name)); }
int64_t steps_of(const Tensors &in) { return in[steps].integers().at(0); }

void write_sgd(const Tensors &in, const Attributes &a, const Tensors &out) {
  const bool moves = in.size() > slots;
  // The kernel always has a velocity: without momentum anything finite may go in, and what comes out is let go.
  const View before = flat(moves ? in[slots] : in[slope]), after = flat(moves ? out[2] : Tensor::like(in[slope]));
  const float dampening = steps_of(in) == 0 || !moves ? 0 : real(a, "dampening");
  call("sgd", {flat(in[parameter]), flat(in[slope]), before, static_cast<float>(in[rate].item()), real(a, "momentum"),
               dampening, real(a, "weight_decay"), static_cast<float>(a.integer("nesterov")), flat(out[0]), after});
}

void write_adam(const Tensors &in, const Attributes &a, const Tensors &out) {
  const auto correction = [&](const char *beta) {
    return static_cast<float>(1 - std::pow(a.real(beta), static_cast<double>(steps_of(in) + 1)));
  };
  call("adam", {flat(in[parameter]), flat(in[slope]), flat(in.at(slots)), flat(in.at(slots + 1)),
                static_cast<float>(in[rate].item()), real(a, "beta1"), real(a, "beta2"), real(a, "epsilon"),
                real(a, "weight_decay"), correction("beta1"), correction("beta2"),
                static_cast<float>(a.integer("decoupled")), flat(out[0]), flat(out.at(2)), flat(out.at(3))});
}

// p, steps and slots.
Tensors kept(const Tensors &in) {
  Tensors all = {in[parameter], in[steps]};
  all.insert(all.end(), in.begin() + slots, in.end());
  return all;
}

// All lie in memory as the parameter does, without holes.
Tensors arranged(const std::string &operation, Tensors in) {
  if (in.size() < slots) fail("operation '", operation, "' takes a parameter, its gradient, rate and steps");
  for (size_t i = 0; i < in.size(); ++i) {
    if (i == rate || i == steps) continue;
    if (in[i].shape() != in[parameter].shape())
      fail("operation '", operation, "': input ", i, " is ", to_string(in[i].shape()), " for a parameter of ",
           to_string(in[parameter].shape()));
    in[i] = arranged_like(in[i], in[parameter]);
  }
  return in;
}

struct Row {
  const char *operation;
  void (*write)(const Tensors &in, const Attributes &, const Tensors &out);
};
constexpr Row rows[] = {{"sgd", write_sgd}, {"adam", write_adam}};

Operation::Compute computed(const Row &row) {
  return [row](const Tensors &given, const Attributes &a) {
    const Tensors in = arranged(row.operation, given);
    const bool outlined = std::any_of(in.begin(), in.end(), [](const Tensor &t) { return t.is_outline(); });
    Tensors out;
    for (const Tensor &t : kept(in)) out.push_back(outlined ? Tensor::outline(t.shape(), t.type()) : Tensor::like(t));
    if (outlined) return out;
    row.write(in, a, out);
    *out[1].data<int64_t>() = steps_of(in) + 1;
    return out;
  };
}

Values sgd_formula(const Values &in, const Attributes &a) {
  const bool moves = in.size() > slots;
  const Value zero = formula::constant_value(Type::f32, 0);
  algorithms::SgdSettings s;
  s.rate = in.at(rate);
  s.momentum = number(a, "momentum");
  s.dampening = moves ? where(in.at(steps) == 0, zero, number(a, "dampening")) : zero;
  s.weight_decay = number(a, "weight_decay");
  s.nesterov = formula::constant_value(Type::f32, static_cast<double>(a.integer("nesterov")));
  // Slots are stages, which p' reads: so each of them and p can be written over.
  const Value velocity =
      named("velocity", algorithms::sgd_velocity(in[parameter], in[slope], moves ? in[slots] : zero, s));
  const Value moved = algorithms::sgd_moved(in[parameter], in[slope], velocity, s);
  return moves ? Values{moved, in[steps] + 1, velocity} : Values{moved, in[steps] + 1};
}

Values adam_formula(const Values &in, const Attributes &a) {
  const Value next = in.at(steps) + 1;
  const auto correction = [&](const char *beta) {
    const Value of = formula::constant_value(Type::f64, a.real(beta));
    return named("correction", cast(Type::f32, 1 - power(of, cast(Type::f64, next))));
  };
  algorithms::AdamSettings s;
  s.rate = in.at(rate);
  s.beta1 = number(a, "beta1");
  s.beta2 = number(a, "beta2");
  s.epsilon = number(a, "epsilon");
  s.weight_decay = number(a, "weight_decay");
  s.correction1 = correction("beta1");
  s.correction2 = correction("beta2");
  s.decoupled = formula::constant_value(Type::f32, static_cast<double>(a.integer("decoupled")));
  const Values made = algorithms::adam_moments(in[parameter], in[slope], in.at(slots), in.at(slots + 1), s);
  const Value mean = named("mean", made[0]), square = named("square", made[1]);
  return {algorithms::adam_moved(in[parameter], mean, square, s), next, mean, square};
}

}  // namespace

namespace operations {

const Operation sgd("sgd", computed(rows[0]), sgd_formula);
const Operation adam("adam", computed(rows[1]), adam_formula);

}  // namespace operations

namespace {

bool leaves_other_rows(const Update &update) {
  const Attributes &a = update.attributes;
  return update.operation == "sgd" && a.real("momentum") == 0 && a.real("weight_decay") == 0;
}

// Row i of a part is row rows[i] of the whole.
void write_rows(const Tensor &whole, const std::vector<int64_t> &rows, const Tensor &part) {
  const size_t bytes = part.bytes() / rows.size();
  for (size_t i = 0; i < rows.size(); ++i)
    std::memcpy(static_cast<char *>(whole.raw()) + static_cast<size_t>(rows[i]) * bytes,
                static_cast<const char *>(part.raw()) + i * bytes, bytes);
  whole.written();
}

}  // namespace

void update_in_place(const Update &update, const Variable &gradient, std::vector<Tensor> inputs) {
  const bool only_touched = update.attributes.integer("only_touched", 0) != 0;
  if (only_touched && !gradient.sparse())
    fail("the update takes sparse gradients only, and that of a parameter of ", to_string(inputs.at(parameter).shape()),
         " is dense");
  bool by_rows = gradient.sparse() && (only_touched || leaves_other_rows(update));
  for (const Tensor &t : kept(inputs)) by_rows &= t.has_layout(Layout::row_major);
  if (!by_rows) {
    inputs[slope] = gradient.value();
    return update_in_place(update, inputs);
  }
  const SparseRows touched = coalesced(*gradient.sparse());
  Update of_rows = update;
  if (only_touched)  // PyTorch's SparseAdam adds epsilon to the root before it is corrected
    of_rows.attributes.set("epsilon", update.attributes.real("epsilon") /
                                          std::sqrt(1 - std::pow(update.attributes.real("beta2"),
                                                                 static_cast<double>(steps_of(inputs) + 1))));
  if (touched.rows.empty()) return void(++*inputs[steps].data<int64_t>());
  Tensors part = inputs;
  for (size_t i = 0; i < part.size(); ++i)
    if (i != rate && i != steps && i != slope) part[i] = picked(inputs[i], 0, touched.rows);
  part[slope] = touched.values;
  update_in_place(of_rows, part);
  for (size_t i = 0; i < part.size(); ++i)
    if (i != rate && i != steps && i != slope) write_rows(inputs[i], touched.rows, part[i]);
}

void update_in_place(const Update &update, const std::vector<Tensor> &inputs) {
  const Tensors in = arranged(update.operation, inputs), out = kept(in), given = kept(inputs);
  for (const Row &row : rows) {
    if (row.operation != update.operation) continue;
    row.write(in, update.attributes, out);
    ++*out[1].data<int64_t>();
    // What lies otherwise than the parameter was written as a copy that does not.
    for (size_t i = 0; i < out.size(); ++i)
      if (out[i].address() != given[i].address()) given[i].copy_from(out[i]);
    return;
  }
  const Operation *own = find_operation(update.operation);
  if (!own) fail("there is no operation '", update.operation, "' to update parameters with");
  const Tensors made = own->compute(in, update.attributes);
  for (size_t i = 0; i < given.size(); ++i) given[i].copy_from(made.at(i));
}

}  // namespace saltern
