#include "generators/model/kernel_memory.h"

#include <algorithm>
#include <fstream>
#include <map>

#include "generators/model/driver/reserved.h"
#include "runtime/error.h"

namespace saltern::generators {

namespace {

using namespace Halide::Internal;

// Halide's own bound for what goes on the stack, wherever the schedule asked for it to go: more comes from the heap.
constexpr int64_t most_on_stack = 16 * 1024;

// Walks one function with the bounds of its variables. What an allocation's scope holds is on top of it; a loop's task
// is another function of the module, which its thread runs on top of what it holds already.
class Walk : public IRVisitor {
 public:
  using Need = std::function<int64_t(const std::string &function)>;
  explicit Walk(const Need &of_function) : of_function_(of_function) {}
  int64_t peak = 0;

 private:
  using IRVisitor::visit;

  void visit(const Allocate *op) override {
    const int64_t bytes = on_heap(*op);
    held_ += bytes;
    peak = std::max(peak, held_);
    IRVisitor::visit(op);
    held_ -= bytes;
  }
  // A function is handed to a loop by its name, as a global one.
  void visit(const Variable *op) override {
    const bool global = op->name.rfind("::", 0) == 0;
    if (global) peak = std::max(peak, held_ + of_function_(op->name.substr(2)));
  }
  void visit(const For *op) override {
    op->min.accept(this);
    op->extent.accept(this);
    const Interval first = find_constant_bounds(op->min, bounds_), count = find_constant_bounds(op->extent, bounds_);
    Interval all = first;
    all.max =
        first.has_upper_bound() && count.has_upper_bound() ? simplify(first.max + count.max - 1) : Interval::pos_inf();
    const ScopedBinding<Interval> bind(bounds_, op->name, all);
    op->body.accept(this);
  }
  template <typename LetOrLetStmt>
  void visit_let(const LetOrLetStmt *op) {
    op->value.accept(this);
    const ScopedBinding<Interval> bind(
        bounds_, op->name,
        op->value.type().is_int_or_uint() ? find_constant_bounds(op->value, bounds_) : Interval::everything());
    op->body.accept(this);
  }
  void visit(const Let *op) override { visit_let(op); }
  void visit(const LetStmt *op) override { visit_let(op); }

  int64_t on_heap(const Allocate &op) {
    if (op.new_expr.defined()) return 0;
    int64_t elements = 1;
    bool constant = true;
    for (const Halide::Expr &e : op.extents) {
      constant &= as_const_int(e).has_value();
      const Halide::Expr bound = find_constant_bound(e, Direction::Upper, bounds_);
      const auto extent = bound.defined() ? as_const_int(bound) : std::nullopt;
      if (!extent) return 0;
      elements *= std::max<int64_t>(*extent, 0);
    }
    const int64_t bytes = (elements + op.padding) * op.type.bytes();
    const bool on_stack = op.memory_type == Halide::MemoryType::Register || (constant && bytes <= most_on_stack);
    return on_stack ? 0 : reserved_bytes(bytes);
  }

  const Need &of_function_;
  Scope<Interval> bounds_;
  int64_t held_ = 0;
};

}  // namespace

KernelMemory kernel_memory(const Halide::Module &module) {
  std::map<std::string, Halide::Internal::Stmt> bodies;
  for (const Halide::Internal::LoweredFunc &f : module.functions()) bodies[f.name] = f.body;
  std::map<std::string, int64_t> known;
  const Walk::Need need = [&](const std::string &name) -> int64_t {
    const auto body = bodies.find(name);
    if (body == bodies.end()) return 0;
    const auto [place, is_new] = known.emplace(name, 0);
    if (!is_new) return place->second;
    Walk walk(need);
    body->second.accept(&walk);
    return known[name] = walk.peak;
  };
  KernelMemory all;
  for (const Halide::Internal::LoweredFunc &f : module.functions()) {
    const bool called = f.linkage != Halide::LinkageType::Internal;
    int64_t &side = called ? all.caller : all.task;
    side = std::max(side, need(f.name));
  }
  return all;
}

KernelMemory most(const KernelMemory &a, const KernelMemory &b) {
  return {std::max(a.caller, b.caller), std::max(a.task, b.task)};
}

void write_kernel_memory(const KernelMemory &memory, const std::string &file) {
  std::ofstream out(file);
  out << memory.caller << " " << memory.task << "\n";
  out.close();
  if (!out) fail("cannot write ", file);
}

KernelMemory read_kernel_memory(const std::string &file) {
  KernelMemory memory;
  std::ifstream in(file);
  if (!(in >> memory.caller >> memory.task)) fail("cannot read ", file);
  return memory;
}

}  // namespace saltern::generators
