#include "runtime/formula/just_in_time.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "runtime/formula/in_memory_order.h"
#include "runtime/formula/program.h"
#include "runtime/kernels/instruction_set.h"
#include "runtime/tensor/view.h"

namespace saltern {

using formula::ExactFormula;
using formula::ExactFormulas;

namespace {

// The interpreter makes some 2.5e9 steps a second on one core (bench_formulas): from 1 ms on, or from 0.4 s on where it is
// computed once.
constexpr double pays_often = 2.5e6, pays_once = 1e9;

JustInTime from_environment() {
  const char *wanted = std::getenv("SALTERN_JUST_IN_TIME");
  const std::string word = wanted ? wanted : "auto";
  if (word == "never") return JustInTime::never;
  if (word == "always") return JustInTime::always;
  if (word != "auto") fail("SALTERN_JUST_IN_TIME is '", word, "'; expected never, auto or always");
  return JustInTime::where_it_pays;
}

std::atomic<JustInTime> &setting() {
  static std::atomic<JustInTime> when(from_environment());
  return when;
}

// A kernel, made once; and what keeps the addresses in its key from being given to others.
struct Made {
  ExactFormulas formulas;
  AnySize any_size;
  std::once_flag once;
  FormulaKernel kernel;  // null where it cannot be compiled,
  std::string failure;   // for this reason
};

std::atomic<bool> has_compiler{false};

struct Kernels {
  using Key = std::vector<int64_t>;
  std::mutex mutex;
  FormulaCompiler compiler;
  std::map<Key, std::shared_ptr<Made>> made;
  std::string failure;
};

Kernels &kernels() {
  static auto *all = new Kernels;
  return *all;
}

void add(Kernels::Key &key, const Shape &numbers) {
  key.push_back(static_cast<int64_t>(numbers.size()));
  key.insert(key.end(), numbers.begin(), numbers.end());
}

// Equal expressions are one node.
void add(Kernels::Key &key, const formula::Expression &e) { key.push_back(reinterpret_cast<int64_t>(e.get())); }

Kernels::Key key_of(const ExactFormulas &formulas, const std::vector<Tensor> &operands) {
  Kernels::Key key;
  for (const Tensor &t : operands) {
    key.push_back(static_cast<int64_t>(t.type()));
    add(key, t.shape());
  }
  for (const ExactFormula &f : formulas.stages) {
    add(key, f.element);
    add(key, f.shape);
    add(key, f.space);
    add(key, Shape(f.operands.begin(), f.operands.end()));
    for (const formula::Expression &t : f.targets) add(key, t);
    key.push_back(f.along);
    add(key, f.before);
  }
  add(key, Shape(formulas.outputs.begin(), formulas.outputs.end()));
  return key;
}

Kernels::Key key_of(const AnySize &any_size) {
  Kernels::Key key;
  for (const formula::Values &all : {any_size.inputs, any_size.outputs})
    for (const formula::Value &v : all) key.push_back(reinterpret_cast<int64_t>(v.get()));
  return key;
}

// Kernels are for tensors that have elements, and that they can count.
bool fits_kernels(const Shape &shape) {
  constexpr int64_t most = int64_t{1} << 28;
  const int64_t all = elements(shape);
  return shape.size() <= View::max_rank && all > 0 && all <= most;
}

// Throws where formulas do not read what they are given, as those of a file may not.
void expect_sound(const ExactFormulas &formulas, const std::vector<Tensor> &operands) {
  std::vector<Tensor> known;
  for (const Tensor &t : operands) known.push_back(Tensor::outline(t.shape(), t.type()));
  for (const ExactFormula &f : formulas.stages) {
    std::vector<Tensor> read;
    for (int o : f.operands) read.push_back(known.at(static_cast<size_t>(o)));
    const Shape &space = f.is_scatter() ? f.space : f.shape;
    if (space.size() < f.shape.size() || elements(space) == 0) fail("a formula scatters nothing");
    check(f.element, read, space, f.is_scan());
    for (const formula::Expression &e : f.targets)
      if (e.defined()) check(e, read, space);
    if (f.before.defined()) check(f.before, read, space);
    known.push_back(Tensor::outline(f.shape, f.type));
  }
}

bool fits_kernels(const ExactFormulas &formulas, const std::vector<Tensor> &operands) {
  return std::all_of(operands.begin(), operands.end(), [](const Tensor &t) { return fits_kernels(t.shape()); }) &&
         std::all_of(formulas.stages.begin(), formulas.stages.end(),
                     [](const ExactFormula &f) { return fits_kernels(f.shape); });
}

AnySize of_exact_size(const ExactFormulas &formulas, const std::vector<Tensor> &operands) {
  formula::Values inputs;
  for (const Tensor &t : operands)
    inputs.push_back(
        formula::input("x" + std::to_string(inputs.size()), {t.shape().begin(), t.shape().end()}, t.type()));
  return {inputs, values_of(formulas, inputs)};
}

FormulaKernel compiled(const FormulaCompiler &compiler, AnySize what, Device device, bool channels_last) {
  if (channels_last) what = {in_memory_order(what.inputs), in_memory_order(what.outputs)};
  const FormulaKernel kernel = compiler(what.inputs, what.outputs, device);
  return [kernel, channels_last](const std::vector<Tensor> &given) {
    std::vector<Tensor> dense;
    for (const Tensor &t : given) dense.push_back(channels_last ? as_in_memory(t) : t.in_layout(Layout::row_major));
    std::vector<Tensor> results = kernel(dense);
    if (channels_last)
      for (Tensor &t : results) t = as_image(t);
    return results;
  };
}

std::shared_ptr<Made> made_for(const ExactFormulas &formulas, const AnySize &any_size, Device device,
                               const std::vector<Tensor> &operands) {
  const bool channels_last = has_images_with_channels_last(operands), exact = any_size.outputs.empty();
  Kernels::Key key = exact ? key_of(formulas, operands) : key_of(any_size);
  key.insert(key.end(),
             {exact, channels_last, static_cast<int64_t>(instruction_set_in_use()), static_cast<int64_t>(device)});
  std::shared_ptr<Made> row;
  FormulaCompiler compiler;
  {
    const std::lock_guard<std::mutex> lock(kernels().mutex);
    compiler = kernels().compiler;
    std::shared_ptr<Made> &known = kernels().made[key];
    if (!known) {
      known = std::make_shared<Made>();
      known->formulas = formulas;
      known->any_size = any_size;
    }
    row = known;
  }
  std::call_once(row->once, [&] {
    try {
      expect_sound(formulas, operands);
      row->kernel = compiled(compiler, exact ? of_exact_size(formulas, operands) : any_size, device, channels_last);
    } catch (const std::exception &e) {
      row->failure = e.what();
    }
  });
  return row;
}

}  // namespace

JustInTime just_in_time() { return setting(); }
void set_just_in_time(JustInTime when) { setting() = when; }

void set_formula_compiler(FormulaCompiler compiler) {
  const std::lock_guard<std::mutex> lock(kernels().mutex);
  has_compiler = compiler != nullptr;
  kernels().compiler = std::move(compiler);
}

std::string last_just_in_time_failure() {
  const std::lock_guard<std::mutex> lock(kernels().mutex);
  return kernels().failure;
}

bool is_worth_a_kernel(double steps, Runs runs) {
  const JustInTime when = setting();
  const bool often = runs == Runs::often || device_in_use() != Device::cpu;  // operands would have to be brought back
  const double least = when == JustInTime::always ? 0 : often ? pays_often : pays_once;
  return has_compiler && when != JustInTime::never && steps >= least;
}

std::optional<std::vector<Tensor>> computed_just_in_time(const ExactFormulas &formulas, const AnySize &any_size,
                                                         const std::vector<Tensor> &operands) {
  if (!fits_kernels(formulas, operands)) return std::nullopt;
  std::string failure;
  for (const Device device : std::set<Device, std::greater<>>{device_in_use(), Device::cpu})
    for (const AnySize &what : {any_size, AnySize()}) {
      const std::shared_ptr<Made> row = made_for(formulas, what, device, operands);
      failure = row->failure;
      try {
        if (row->kernel) return row->kernel(operands);
      } catch (const Error &e) {  // for some sizes Halide takes it to read outside: it has not begun then
        failure = e.what();
      }
    }
  const std::lock_guard<std::mutex> lock(kernels().mutex);
  kernels().failure = failure;
  return std::nullopt;
}

}  // namespace saltern
