#include "generators/model/formula_kernels.h"

#include <algorithm>
#include <map>

#include "dsl/structure.h"
#include "generators/kernel.h"
#include "generators/model/loaded_kernel.h"
#include "generators/model/merged_axes.h"
#include "runtime/formula/evaluate_values.h"
#include "schedules/by_structure.h"

namespace saltern::generators {

using formula::Expression;
using formula::Value;
using formula::Values;

namespace {

// All that the code depends on. Names of stages are nothing to go by: stages are numbered.
std::string key_of(const Values &inputs, const Values &outputs) {
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
    if (s.is_scan()) key += " along " + std::to_string(s.along);
    for (const Expression &e : expressions_of(s)) add(e);
  };
  for (const Value &v : inputs) add_stage(*v.get());
  for (const auto &s : stages_of(outputs)) add_stage(*s);
  for (const Value &v : outputs) key += " -> " + std::to_string(number.at(v.get()));
  return key;
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

void compile(const Values &inputs, const Values &outputs, const Halide::Target &target, const std::string &symbol,
             const std::string &file) {
  const bool exact = std::all_of(inputs.begin(), inputs.end(), has_exact_size);
  Call call;
  for (size_t i = 0; exact && i < inputs.size(); ++i) call.emplace_back(innermost_first(shape_of(inputs[i])));
  Build b(target, Build::Schedule::own, exact ? std::optional(call) : std::nullopt);
  for (const Value &v : inputs) b.declare(v);
  b.declare_symbols(outputs);  // sizes that are no buffer's extent, but a factor of one
  for (size_t i = 0; i < outputs.size(); ++i) b.output("y" + std::to_string(i), outputs[i]);
  b.finish(nullptr);
  // Operands may begin anywhere in memory that others own.
  for (size_t i = 0; exact && i < inputs.size(); ++i)
    b.set_strides(i, innermost_first(dense_strides(shape_of(inputs[i]), Layout::row_major)));
  b.pipeline().compile_to_object(file, b.arguments(), symbol, target);
}

void expect_gpu_patterns(const Values &outputs) {
  for (const formula::Pattern p : classes_of(outputs))
    if (!schedules::has_gpu_pattern(p)) fail("there is no GPU pattern for a ", name(p));
}

}  // namespace

FormulaKernel formula_kernel(const Values &inputs, const Values &outputs, Device device) {
  const MergedAxes seen = merged_axes(inputs, outputs);
  if (device != Device::cpu) expect_gpu_patterns(seen.outputs);
  const CompiledKernel made =
      loaded_kernel("saltern_formula", "formulas", key_of(seen.inputs, seen.outputs), device,
                    [&](const std::string &target, const std::string &symbol, const std::string &file) {
                      compile(seen.inputs, seen.outputs, Halide::Target(target), symbol, file);
                    });
  return [kernel = made, inputs, outputs, seen](const std::vector<Tensor> &operands) {
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
