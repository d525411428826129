#include "generators/model/formula_kernels.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "generators/kernel.h"
#include "generators/model/cache.h"
#include "generators/model/compile.h"
#include "generators/model/kernel_cache.h"
#include "generators/model/kernel_jobs.h"
#include "generators/model/merged_axes.h"
#include "generators/model/temporary_folder.h"
#include "generators/model/toolchain.h"
#include "runtime/formula/evaluate_values.h"
#include "runtime/kernels/instruction_set.h"
#include "runtime/kernels/kernels.h"

namespace saltern::generators {

using formula::Expression;
using formula::Value;
using formula::Values;

namespace {

const std::string symbol = "saltern_formula", library = "kernel.so", object = "kernel.o", runtime_object = "runtime.o";
constexpr unsigned most_seconds = 60;  // what takes longer to compile is left to the interpreter

// All that the code depends on. Names of stages are nothing to go by: stages are numbered.
std::string key_of(const Values &inputs, const Values &outputs, const CpuTarget &target) {
  std::map<const formula::Stage *, int> number;
  std::string key;
  const auto add = [&](const Expression &e) {
    key += " " + to_string(transformed(e, [&](const Expression &at) -> Expression {
             if (at->kind != Expression::Kind::load) return {};
             return formula::load(number.at(at->stage.get()), at.type(), at->arguments);
           }));
  };
  const auto add_stage = [&](const formula::Stage &s) {
    if (!number.emplace(&s, static_cast<int>(number.size())).second) return;
    key += "\n" + std::string(facts(s.type).name) + " " + std::to_string(s.rank) + (s.kept ? " kept" : "");
    for (const Expression &e : s.extents) add(e);
    if (s.reduction) key += " " + name(*s.reduction);
    if (!s.is_input()) add(s.element);
    for (const Expression &t : s.targets) add(t);
  };
  for (const Value &v : inputs) add_stage(*v.get());
  for (const auto &s : stages_of(outputs)) add_stage(*s);
  for (const Value &v : outputs) key += " -> " + std::to_string(number.at(v.get()));
  return key + "\n" + target.halide + "\n" + program_identity();
}

CpuTarget target_in_use() {
  for (const CpuTarget &t : cpu_targets())
    if (t.name == name(instruction_set_in_use())) return t;
  fail("no CPU target is called ", name(instruction_set_in_use()));
}

bool has_exact_size(const Value &v) {
  const std::vector<Expression> extents = v.extents();
  return std::all_of(extents.begin(), extents.end(),
                     [](const Expression &e) { return e->kind == Expression::Kind::constant; });
}

Shape shape_of(const Value &v, const formula::Numbers &sizes = {}) {
  Shape shape;
  for (const Expression &e : v.extents()) shape.push_back(formula::number_of(e, sizes));
  return shape;
}

std::vector<int> innermost_first(const Shape &shape) { return {shape.rbegin(), shape.rend()}; }

void compile(const Values &inputs, const Values &outputs, const CpuTarget &for_target, const std::string &file) {
  const Halide::Target target(for_target.halide + "-no_runtime");
  const bool exact = std::all_of(inputs.begin(), inputs.end(), has_exact_size);
  Call call;
  for (size_t i = 0; exact && i < inputs.size(); ++i) call.emplace_back(innermost_first(shape_of(inputs[i])));
  Build b(target, Build::Schedule::own, exact ? std::optional(call) : std::nullopt);
  for (const Value &v : inputs) b.declare(v);
  b.declare_symbols(outputs);  // sizes that are no buffer's extent, but a factor of one
  for (size_t i = 0; i < outputs.size(); ++i) b.output("y" + std::to_string(i), outputs[i]);
  b.schedule_by_structure();
  // Operands may begin anywhere in memory that others own.
  for (size_t i = 0; exact && i < inputs.size(); ++i)
    b.set_strides(i, innermost_first(dense_strides(shape_of(inputs[i]), Layout::row_major)));
  b.pipeline().compile_to_object(file, b.arguments(), symbol, target);
}

// A library that stays loaded as long as the program runs.
class Loaded {
 public:
  explicit Loaded(const std::string &path) : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) fail("cannot load ", path, ": ", dlerror());
    // It has Halide's run-time support inside: threads, memory and errors are to be the program's.
    compiled_kernels();  // which says what these are
    set<halide_do_par_for_t>("halide_set_custom_do_par_for", halide_do_par_for);
    set<halide_malloc_t>("halide_set_custom_malloc", halide_malloc);
    set<halide_free_t>("halide_set_custom_free", halide_free);
    set<halide_error_handler_t>("halide_set_error_handler", halide_error);
    call_ = reinterpret_cast<int (*)(void **)>(function(symbol + "_argv"));
    metadata_ = reinterpret_cast<const halide_filter_metadata_t *(*)()>(function(symbol + "_metadata"));
  }

  CompiledKernel kernel() const { return {symbol, {call_, call_, call_}, metadata_}; }

 private:
  void *function(const std::string &name) const {
    void *found = dlsym(library_, name.c_str());
    if (!found) fail("a kernel of a formula has no function ", name);
    return found;
  }
  template <typename F>
  void set(const char *setter, F f) const {
    reinterpret_cast<F (*)(F)>(function(setter))(f);
  }

  void *library_;
  int (*call_)(void **);
  const halide_filter_metadata_t *(*metadata_)();
};

// The cache; where there is none, a folder that goes with the program.
std::string cache_folder() {
  const std::string folder = default_cache_folder();
  if (!folder.empty()) return folder;
  static const TemporaryFolder forgotten;
  return forgotten.path();
}

}  // namespace

FormulaKernel formula_kernel(const Values &inputs, const Values &outputs) {
  const CpuTarget target = target_in_use();
  const std::string folder = cache_folder();
  const MergedAxes seen = merged_axes(inputs, outputs);
  const auto make = [&](const std::string &making) {
    // In a process of its own: whatever becomes of the compiler, the program goes on.
    run_in_processes({[&] {
                       alarm(most_seconds);
                       compile(seen.inputs, seen.outputs, target, making + "/" + object);
                     }},
                     1, nullptr);
    KernelCache(folder).provide_halide_runtime(making + "/" + runtime_object);
    run_program({c_compiler(), "-shared", "-o", library, "-Wl,-Bsymbolic", object, runtime_object, "-lm", "-lpthread"},
                making);
    for (const std::string &file : {object, runtime_object}) std::filesystem::remove(making + "/" + file);
  };
  const std::string key = key_of(seen.inputs, seen.outputs, target);
  const Cache::Entry kept = Cache(folder).find_or_make("formulas", key, make);
  return [kernel = Loaded(kept.path(library)).kernel(), inputs, outputs, seen](const std::vector<Tensor> &operands) {
    const formula::Numbers sizes = sizes_of(inputs, operands);
    std::vector<KernelArgument> arguments;
    std::vector<Tensor> made;
    for (size_t i = 0; i < operands.size(); ++i)
      arguments.emplace_back(reversed(operands[i].reshaped(shape_of(seen.inputs[i], sizes))));
    const halide_filter_metadata_t &m = *kernel.metadata();
    for (int i = 0; i < m.num_arguments; ++i)
      if (m.arguments[i].kind == halide_argument_kind_input_scalar)
        arguments.emplace_back(static_cast<int32_t>(sizes.at(m.arguments[i].name)));
    for (size_t i = 0; i < outputs.size(); ++i) {
      made.push_back(Tensor::empty(shape_of(outputs[i], sizes), outputs[i].type()));
      arguments.emplace_back(reversed(made.back().reshaped(shape_of(seen.outputs[i], sizes))));
    }
    call(kernel, std::move(arguments));
    return made;
  };
}

}  // namespace saltern::generators
