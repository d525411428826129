#include "runtime/optim/updates.h"

#include <algorithm>
#include <cstring>

#include "runtime/autograd/formula_operation.h"
#include "runtime/autograd/sparse.h"
#include "runtime/kernels/kernels.h"
#include "runtime/operations.h"
#include "runtime/tensor/parts.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

using Tensors = std::vector<Tensor>;

enum : size_t { parameter, slope, rate, steps, slots };  // inputs

const OptimizerRow *row_of(const std::string &operation) {
  for (const OptimizerRow &row : optimizer_rows())
    if (row.operation == operation) return &row;
  return nullptr;
}

Shape shape_of(const Slot &slot, Shape shape) {
  if (slot.extent == Slot::Extent::one) return {};
  if (slot.extent == Slot::Extent::rows) shape.back() = 1;
  if (slot.extent == Slot::Extent::columns) shape[shape.size() - 2] = 1;
  return shape;
}

// A row for a parameter of some shape.
struct UpdateOfShape {
  const OptimizerRow &row;
  Attributes a;
  Shape shape;
  Slots kept;
  UpdateRule rule;
  size_t numbers;  // the first slot of rank 0

  UpdateOfShape(const OptimizerRow &row, const Attributes &given, const Shape &shape)
      : row(row), a(completed(row.name, row.options, given)), shape(shape) {
    if (!row.rule) unsupported(row.name, " needs the loss, and is no update of one parameter after another");
    kept = row.slots(a, shape);
    rule = row.rule(a, shape);
    const auto is_number = [](const Slot &s) { return s.extent == Slot::Extent::one; };
    numbers = static_cast<size_t>(std::find_if(kept.begin(), kept.end(), is_number) - kept.begin());
  }

  // All lie in memory as the parameter does where they have its shape, without holes.
  Tensors arranged(Tensors in) const {
    if (in.size() != slots + kept.size())
      fail("operation '", row.operation, "' takes a parameter, its gradient, rate, steps and ", kept.size(), " slots");
    for (size_t i = 0; i < in.size(); ++i) {
      if (i == rate || i == steps) continue;
      const Shape expected = i < slots ? shape : shape_of(kept[i - slots], shape);
      if (in[i].shape() != expected)
        fail("operation '", row.operation, "': input ", i, " is ", to_string(in[i].shape()), " for a parameter of ",
             to_string(shape), "; expected ", to_string(expected));
      if (expected == shape) in[i] = arranged_like(in[i], in[parameter]);
    }
    return in;
  }
};

int64_t steps_of(const Tensors &in) { return in[steps].integers().at(0); }

// p, steps and slots.
Tensors kept(const Tensors &in) {
  Tensors all = {in[parameter], in[steps]};
  all.insert(all.end(), in.begin() + slots, in.end());
  return all;
}

void write_by_kernel(const UpdateOfShape &u, const Tensors &in, const Tensors &out) {
  Now<double> now = {u.a, u.shape, in[rate].item(), static_cast<double>(steps_of(in) + 1), {}};
  for (size_t i = u.numbers; i < u.kept.size(); ++i) now.kept.push_back(in[slots + i].item());
  const Numbers<double> numbers = u.row.numbers(now);
  std::vector<KernelArgument> arguments = {flat(in[parameter]), flat(in[slope])};
  for (size_t i = 0; i < u.numbers; ++i) arguments.emplace_back(flat(in[slots + i]));
  for (const std::string &name : u.rule.kernel->numbers)
    arguments.emplace_back(static_cast<float>(numbers.all.at(name)));
  arguments.emplace_back(flat(out[0]));
  for (size_t i = 0; i < u.numbers; ++i) arguments.emplace_back(flat(out[2 + i]));
  call(u.rule.kernel->name, arguments);
  for (size_t i = u.numbers; i < u.kept.size(); ++i)
    *out[2 + i].data<float>() = static_cast<float>(numbers.kept[i - u.numbers]);
  *out[1].data<int64_t>() = steps_of(in) + 1;
}

bool has_kernel(const UpdateOfShape &u, const Tensors &in) {
  return u.rule.kernel && std::all_of(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(slots + u.numbers),
                                      [&](const Tensor &t) { return &t == &in[steps] || t.type() == Type::f32; });
}

Tensors computed(const OptimizerRow &row, const Tensors &given, const Attributes &a) {
  if (given.size() < slots) fail("operation '", row.operation, "' takes a parameter, its gradient, rate and steps");
  const UpdateOfShape u(row, a, given[parameter].shape());
  const Tensors in = u.arranged(given);
  Tensors out;
  if (std::any_of(in.begin(), in.end(), [](const Tensor &t) { return t.is_outline(); })) {
    for (const Tensor &t : kept(in)) out.push_back(Tensor::outline(t.shape(), t.type()));
    return out;
  }
  if (!has_kernel(u, in)) return computed_by_formula(*find_operation(row.operation), in, a);
  for (const Tensor &t : kept(in)) out.push_back(Tensor::like(t));
  write_by_kernel(u, in, out);
  return out;
}

Values formula_of(const OptimizerRow &row, const Values &in, const Attributes &attributes) {
  Shape shape;
  for (const formula::Expression &e : in.at(parameter).extents()) shape.push_back(e->integer);
  const UpdateOfShape u(row, attributes, shape);
  const Type type = in[parameter].type();
  const Value next = in.at(steps) + 1;
  Now<Value> now = {u.a, u.shape, cast(Type::f64, in[rate]), cast(Type::f64, next), {}};
  for (size_t i = u.numbers; i < u.kept.size(); ++i) now.kept.push_back(cast(Type::f64, in.at(slots + i)));
  const Numbers<Value> numbers = row.values(now);
  algorithms::UpdateInputs inputs = {in[parameter], in[slope]};
  inputs.in_stages = true;
  for (size_t i = 0; i < u.numbers; ++i) inputs.slots.push_back(in.at(slots + i));
  // What is worked out is so once, in f64.
  for (const auto &[name, v] : numbers.all)
    inputs.numbers[name] = v->literal ? formula::constant_value(type, v->element->real) : named(name, cast(type, v));
  Values out = u.rule.formula(inputs);
  out.insert(out.begin() + 1, next);
  for (const Value &v : numbers.kept) out.push_back(cast(Type::f32, v));
  return out;
}

}  // namespace

namespace operations {

const std::vector<const Operation *> &updates() {
  static const auto *all = [] {
    auto *made = new std::vector<const Operation *>;
    for (const OptimizerRow &row : optimizer_rows())
      if (row.rule)
        made->push_back(new Operation(
            row.operation,
            Operation::Compute([&row](const Tensors &in, const Attributes &a) { return computed(row, in, a); }),
            Operation::Algorithm([&row](const Values &in, const Attributes &a) { return formula_of(row, in, a); })));
    return made;
  }();
  return *all;
}

}  // namespace operations

namespace {

const auto &made_before_main = operations::updates();

bool leaves_other_rows(const OptimizerRow *row, const Attributes &a) {
  if (!row) return false;
  const Attributes all = completed(row->name, row->options, a);
  return row->slots(all, {1}).empty() && all.real("weight_decay", 0) == 0;
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

Update update_of(const std::string &optimizer, const Attributes &options) {
  const OptimizerRow *row = find_optimizer(optimizer);
  if (!row) fail("there is no optimizer '", optimizer, "'");
  Options all = row->options;
  all.push_back(row->rate);
  const Attributes a = completed(row->name, all, options);
  Update update = {row->operation, {}, {}, a.real(row->rate.name)};
  for (const auto &[name, value] : a)
    if (name != row->rate.name) update.attributes.set(name, value);
  return update;
}

std::vector<std::pair<std::string, Tensor>> slots_of(const Update &update, const Tensor &p) {
  std::vector<std::pair<std::string, Tensor>> all;
  const OptimizerRow *row = row_of(update.operation);
  if (!row) {
    for (const std::string &name : update.slots)
      all.emplace_back(name, arranged_like(Tensor::zeros(p.shape(), p.type()), p));
    return all;
  }
  for (const Slot &slot : UpdateOfShape(*row, update.attributes, p.shape()).kept) {
    const Shape shape = shape_of(slot, p.shape());
    const Type type = slot.extent == Slot::Extent::one ? Type::f32 : p.type();
    Tensor begins = slot.begins == Slot::Begins::parameter
                        ? p.clone()
                        : Tensor::full(shape, slot.begins == Slot::Begins::rate ? update.rate : slot.number, type);
    all.emplace_back(slot.name, shape == p.shape() ? arranged_like(begins, p) : begins);
  }
  return all;
}

void update_in_place(const Update &update, const Variable &gradient, std::vector<Tensor> inputs) {
  const OptimizerRow *row = row_of(update.operation);
  const bool only_touched = row && row->only_touched;
  if (only_touched && !gradient.sparse())
    fail("the update takes sparse gradients only, and that of a parameter of ", to_string(inputs.at(parameter).shape()),
         " is dense");
  bool by_rows = gradient.sparse() && (only_touched || leaves_other_rows(row, update.attributes));
  for (const Tensor &t : kept(inputs)) by_rows &= t.has_layout(Layout::row_major);
  if (!by_rows) {
    inputs[slope] = gradient.value();
    return update_in_place(update, inputs);
  }
  const SparseRows touched = coalesced(*gradient.sparse());
  if (touched.rows.empty()) return void(++*inputs[steps].data<int64_t>());
  Tensors part = inputs;
  for (size_t i = 0; i < part.size(); ++i)
    if (i != rate && i != steps && i != slope) part[i] = picked(inputs[i], 0, touched.rows);
  part[slope] = touched.values;
  update_in_place(update, part);
  for (size_t i = 0; i < part.size(); ++i)
    if (i != rate && i != steps && i != slope) write_rows(inputs[i], touched.rows, part[i]);
}

void update_in_place(const Update &update, const std::vector<Tensor> &inputs) {
  const Tensors given = kept(inputs);
  if (const OptimizerRow *row = row_of(update.operation)) {
    const UpdateOfShape u(*row, update.attributes, inputs.at(parameter).shape());
    const Tensors in = u.arranged(inputs), out = kept(in);
    if (has_kernel(u, in)) {
      write_by_kernel(u, in, out);
      // What lies otherwise than the parameter was written as a copy that does not.
      for (size_t i = 0; i < out.size(); ++i)
        if (out[i].address() != given[i].address()) given[i].copy_from(out[i]);
      return;
    }
  }
  const Operation *own = find_operation(update.operation);
  if (!own) fail("there is no operation '", update.operation, "' to update parameters with");
  const Tensors made = own->compute(inputs, update.attributes);
  for (size_t i = 0; i < given.size(); ++i) given[i].copy_from(made.at(i));
}

}  // namespace saltern
