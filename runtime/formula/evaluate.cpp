#include "runtime/formula/evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "runtime/formula/lanes.h"
#include "runtime/formula/program.h"
#include "runtime/kernels/thread_pool.h"

namespace saltern {

using formula::Expression;
using Kind = Expression::Kind;

namespace {

// One thread's evaluation of blocks.
class Evaluation {
 public:
  Evaluation(const FormulaProgram &program, const std::vector<Tensor> &operands, const Tensor &result)
      : program_(program), operands_(operands), result_(result) {
    memory_.resize(static_cast<size_t>(program.registers) + 1);  // one more, for offsets
    steps_.resize(static_cast<size_t>(program.slots));
    count_ = 1;
    run_scope(FormulaProgram::once);
    for (const Instruction &i : program.scopes[FormulaProgram::once]) repeat(at(i.result), lane_of(i.node->type));
  }

  // The `count` elements of the result from `first` on in its memory.
  void run(int64_t first, int count) {
    first_ = first;
    count_ = count;
    run_scope(FormulaProgram::of_element);
    if (program_.scan) return scan(*program_.scan);
    store_elements(result_, first, at(program_.result), count);
  }

 private:
  Block &at(int r) { return memory_[static_cast<size_t>(r)]; }

  // The elements of all steps, each behind those of the step before.
  void scan(const FormulaProgram::Scan &s) {
    const auto carry = [&](int from) { std::copy_n(at(from).words, count_, at(s.carried).words); };
    const int64_t pitch = result_.size();
    carry(s.before);
    for (int64_t t = 0; t < s.extent; ++t) {
      steps_[static_cast<size_t>(s.slot)] = t;
      run_scope(static_cast<size_t>(s.scope));
      carry(program_.result);
      store_elements(result_, t * pitch + first_, at(s.carried), count_);
    }
  }

  void run_scope(size_t scope) {
    for (const Instruction &i : program_.scopes[scope]) run(i);
  }

  void run(const Instruction &i) {
    const Expression::Node &n = *i.node;
    Block &to = at(i.result);
    switch (n.kind) {
      case Kind::constant:
        fill(to, n, count_);
        break;
      case Kind::axis:
        fill_axis(to, static_cast<size_t>(n.number));
        break;
      case Kind::step:
        std::fill_n(to.as<int64_t>(), count_, steps_[static_cast<size_t>(i.slots[0])]);
        break;
      case Kind::carried:  // it is there
        break;
      case Kind::symbol:
        fail("a formula reads '", n.name, "', which has no number yet");
      case Kind::load:
        load(i, to);
        break;
      case Kind::call:
        if (n.arguments.size() == 1)
          apply(n.function, n.arguments[0].type(), n.type, at(i.arguments[0]), to, count_);
        else
          apply(n.function, n.arguments[0].type(), n.type, at(i.arguments[0]), at(i.arguments[1]), to, count_);
        break;
      case Kind::select:
        choose(at(i.arguments[0]), at(i.arguments[1]), at(i.arguments[2]), to, lane_of(n.type), count_);
        break;
      case Kind::cast:
        convert(n.arguments[0].type(), n.type, at(i.arguments[0]), to, count_);
        break;
      case Kind::bits:
        reinterpret(n.arguments[0].type(), n.type, at(i.arguments[0]), to, count_);
        break;
      case Kind::reduce:
        reduce(i, to);
        break;
    }
  }

  void fill_axis(Block &to, size_t axis) const {
    int64_t *t = to.as<int64_t>();
    const int64_t stride = result_.strides()[axis], extent = result_.shape()[axis];
    int64_t value = first_ / stride % extent, left = stride - first_ % stride;
    for (int k = 0; k < count_;) {
      const int run = static_cast<int>(std::min<int64_t>(left, count_ - k));
      std::fill_n(t + k, run, value);
      k += run;
      left = stride;
      if (++value == extent) value = 0;
    }
  }

  void load(const Instruction &i, Block &to) {
    const Tensor &x = operands_[static_cast<size_t>(i.node->number)];
    if (i.empty) {  // nothing to read; whoever looks here drops what it sees
      std::memset(&to, 0, sizeof to);
      return;
    }
    if (i.walk) {
      int64_t start = i.walk->start;
      for (const Walk::StepStride &s : i.walk->steps) start += steps_[static_cast<size_t>(s.slot)] * s.stride;
      return load_elements(x, *i.walk, start, first_, to, count_);
    }
    int64_t *offsets = memory_[static_cast<size_t>(program_.registers)].as<int64_t>();
    std::fill_n(offsets, count_, int64_t{0});
    for (size_t d = 0; d < i.arguments.size(); ++d) {
      const int64_t *index = at(i.arguments[d]).as<int64_t>();
      const int64_t stride = x.strides()[d], last = x.shape()[d] - 1;
      if (i.in_bounds[d])
        for (int k = 0; k < count_; ++k) offsets[k] += index[k] * stride;
      else
        for (int k = 0; k < count_; ++k) offsets[k] += std::clamp<int64_t>(index[k], 0, last) * stride;
    }
    load_elements(x, offsets, to, count_);
  }

  void reduce(const Instruction &i, Block &to) {
    const Expression::Node &n = *i.node;
    const Type type = n.arguments[0].type();
    Reduction total(n.function, type, count_);
    int64_t all = 1;
    for (const formula::ReductionStep &s : n.steps) all *= s.extent;
    std::vector<int64_t> index(n.steps.size(), 0);
    for (int64_t number = 0; number < all; ++number) {
      for (size_t s = 0; s < index.size(); ++s) steps_[static_cast<size_t>(i.slots[s])] = index[s];
      run_scope(static_cast<size_t>(i.scope));
      total.add(at(i.arguments[0]), number);
      for (size_t s = index.size(); s-- > 0;) {
        if (++index[s] < n.steps[s].extent) break;
        index[s] = 0;
      }
    }
    total.finish(to);
  }

  const FormulaProgram &program_;
  const std::vector<Tensor> &operands_;
  const Tensor &result_;
  std::vector<Block> memory_;
  std::vector<int64_t> steps_;  // their values now, by slot
  int64_t first_ = 0;
  int count_ = 0;
};

constexpr double most_steps = 1e15, no_budget = std::numeric_limits<double>::infinity();
thread_local double budget = no_budget;

// That one element takes; a real number, since sums of sums may have more than integers count.
double steps_of(const FormulaProgram &program, size_t scope) {
  double all = 0;
  for (const Instruction &i : program.scopes[scope]) {
    all += 1;
    if (i.node->kind != Kind::reduce) continue;
    double turns = 1;
    for (const formula::ReductionStep &s : i.node->steps) turns *= static_cast<double>(s.extent);
    all += turns * (1 + steps_of(program, static_cast<size_t>(i.scope)));  // a body may be nothing but what is shared
  }
  return all;
}

double all_steps_of(const FormulaProgram &program, int64_t size) {
  double each = steps_of(program, FormulaProgram::of_element);
  if (program.scan)
    each +=
        static_cast<double>(program.scan->extent) * (1 + steps_of(program, static_cast<size_t>(program.scan->scope)));
  return steps_of(program, FormulaProgram::once) + each * static_cast<double>(size);
}

void spend(double steps) {
  const double most = std::min(most_steps, budget);
  if (steps > most) fail("its formula takes ", steps, " steps; there are ", most, " at most");
  budget -= steps;
}

// Whether a load reads the element at the result's own place.
bool reads_here(const Expression::Node &load, const Shape &shape) {
  for (size_t d = 0; d < shape.size(); ++d) {
    const Expression::Node &index = *load.arguments[d].get();
    if (shape[d] != 1 && (index.kind != Kind::axis || index.number != static_cast<int>(d))) return false;
  }
  return true;
}

Shape strides_for(const Expression &element, const std::vector<Tensor> &operands, const Shape &shape) {
  const Tensor *like = nullptr;
  formula::for_each_node(element, [&](const Expression::Node &n) {
    if (like || n.kind != Kind::load) return;
    const Tensor &x = operands.at(static_cast<size_t>(n.number));
    if (x.shape() == shape && x.size() > 0 && x.is_dense() && reads_here(n, shape)) like = &x;
  });
  return like ? dense_strides(shape, memory_order(like->strides())) : dense_strides(shape, Layout::row_major);
}

// What the program makes is in memory from where `result` begins.
void run(const FormulaProgram &program, const std::vector<Tensor> &operands, const Tensor &result) {
  const int64_t size = result.size();
  if (size == 0) return;
  const int64_t blocks = (size + Block::size - 1) / Block::size;
  const int tasks = static_cast<int>(std::min<int64_t>(blocks, 4L * threads()));
  parallel_for(tasks, [&](int task) {
    Evaluation e(program, operands, result);
    for (int64_t b = blocks * task / tasks; b < blocks * (task + 1) / tasks; ++b)
      e.run(b * Block::size, static_cast<int>(std::min<int64_t>(Block::size, size - b * Block::size)));
  });
}

}  // namespace

StepBudget::StepBudget(double steps) : Temporarily(budget, steps) {}

Tensor evaluate(const Expression &element, const std::vector<Tensor> &operands, const Shape &shape, Order order) {
  check(element, operands, shape);
  const Shape strides =
      order == Order::of_operands ? strides_for(element, operands, shape) : dense_strides(shape, Layout::row_major);
  const FormulaProgram program = compile(element, operands, shape, strides);
  spend(all_steps_of(program, elements(shape)));
  const Tensor result = Tensor::empty(shape, element.type()).viewed(shape, strides);
  run(program, operands, result);
  return result;
}

Tensor evaluate_scan(const Expression &element, const Expression &before, int along,
                     const std::vector<Tensor> &operands, const Shape &shape) {
  const auto d = static_cast<size_t>(along);
  if (along < 0 || d >= shape.size() || before.type() != element.type())
    fail("a scan of ", facts(element.type()).name, " ", to_string(shape), " goes along dimension ", along, " from ",
         facts(before.type()).name);
  check(element, operands, shape, /*is_scan=*/true);
  check(before, operands, shape);
  // Behind each other in memory: all elements of one step.
  Shape slice = shape;
  slice[d] = 1;
  Shape strides = dense_strides(slice, Layout::row_major);
  const Expression step = formula::fresh_step(shape[d]);
  std::vector<Expression> at;
  for (size_t i = 0; i < shape.size(); ++i) at.push_back(i == d ? step : formula::axis(static_cast<int>(i)));
  const Expression body = with_axes(element, at);  // lives as long as the program, which refers to it
  const FormulaProgram program = compile_scan(body, before, step, operands, slice, strides);
  spend(all_steps_of(program, elements(slice)));
  const Tensor memory = Tensor::empty(shape, element.type());
  if (memory.size() > 0) run(program, operands, memory.viewed(slice, strides));
  strides[d] = elements(slice);
  return memory.viewed(shape, strides).in_layout(Layout::row_major);
}

}  // namespace saltern
