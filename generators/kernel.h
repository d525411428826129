#pragma once
// A kernel's declaration: which algorithm, which schedule, which arguments.
//
//   const Kernel softmax("softmax", [](Build &k) {
//     k.output("y", algorithms::softmax(k.input("x", {"n", "c"}), 1));
//   }, {{{10, 64}}});
//
// It is made of Values (dsl/value.h), whose sizes have names; their schedule is one by structure unless another is given.
// Or of a form (schedules/forms/), which hand-made schedules are for:
//
//   const Kernel conv2d("conv2d", [](Build &k) {
//     Tensor x = k.input("x", 5), w = k.input("w", 5), b = k.input("b", 2);
//     Func out = k.output("y", forms::numbered_conv2d(x, w, b, sliding(k)).empty());
//     k.schedule(Pattern::contraction, [&](const Machine &m) { schedules::convolution(...); });
//   }, {{{7, 1, 9, 9, 2}, ...}});
//
// The same declaration is built many ways: for any size or for one exact size, scheduled or as the plain algorithm,
// for any target, ahead of time or just in time. Together with one line in kernels.cmake it gives the library
// kernel for every CPU target, its registry row, its check and its benchmark.

#include <Halide.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dsl/structure.h"
#include "dsl/value.h"
#include "generators/call.h"
#include "generators/stage_functions.h"
#include "schedules/by_structure.h"
#include "schedules/forms/tensor.h"
#include "schedules/machine.h"

namespace saltern::generators {

// A call worth timing, and the floating-point operations that it does.
struct Timing {
  std::string label;
  Call call;
  double flops;
};

// The values that a check may draw for an input.
struct Range {
  double low = -1, high = 1;
};

struct InputFacts {
  std::string name;
  Halide::Type type;
  int rank;  // 0: a scalar
  Range range;
};

// One kernel under construction.
class Build {
 public:
  enum class Schedule { plain, own };

  // Without `exact`, extents and scalars are known at run time only.
  Build(const Halide::Target &target, Schedule schedule, std::optional<Call> exact = std::nullopt, Knobs knobs = {});

  // What is stored in place of each element of an output: a model compiler's epilogue. It may declare inputs of its
  // own, which stand behind the kernel's.
  using Epilogue = std::function<forms::Tensor(Build &, const forms::Tensor &y)>;
  void set_epilogue(Epilogue epilogue) { epilogue_ = std::move(epilogue); }

  forms::Tensor input(const std::string &name, int rank, Halide::Type type = Halide::Float(32), Range range = {});
  // An input whose innermost stride may be anything, zero included.
  forms::Tensor strided_input(const std::string &name, int rank, Halide::Type type = Halide::Float(32),
                              Range range = {});
  Halide::Expr integer(const std::string &name);
  Halide::Expr real(const std::string &name);

  // Inputs of formulas: sizes in the order that users know, outermost first. Inputs that name the same size have the same
  // extent. A size that is a number is its name.
  formula::Value input(const std::string &name, const std::vector<std::string> &sizes, Type type = Type::f32,
                       Range range = {});
  formula::Value strided_input(const std::string &name, const std::vector<std::string> &sizes, Type type = Type::f32,
                               Range range = {});
  formula::Value parameter(const std::string &name);
  formula::Expression count(const std::string &name, int64_t least);
  // A Value that is there already: its extents that are sizes are those of the buffer.
  void declare(const formula::Value &input, Range range = {}, bool any_stride = false);
  // What else results depend on, as scalars behind the inputs.
  void declare_symbols(const formula::Values &results);

  // Results of formulas, each in memory as input() has it.
  Halide::Func output(const std::string &name, const formula::Value &y);
  // Each by itself; reductions of the same elements, whichever result they are for, are made in one walk.
  void separate_outputs(const std::vector<std::string> &names, const formula::Values &results);
  // All of them written by one stage.
  Halide::Func outputs(const std::vector<std::string> &names, const formula::Values &results);
  // Before inputs are declared: sizes and counts have names in formulas though they are known, so that a schedule of one's
  // own finds all loops, those of one turn too.
  void keep_sizes_open() { sizes_are_open_ = true; }
  // For a schedule of one's own, before results are declared: how their functions read.
  StageFunctions &stages() { return stages_; }
  // The function of a stage, for a schedule of one's own, and a size or a count.
  const StageFunction &stage(const formula::Value &v) const { return stages_.of(v); }
  Halide::Expr size(const formula::Expression &e) const { return stages_.size(e); }

  // Returns the function that is written to the output buffer: a copy of y, for the schedule to tile.
  Halide::Func output(const std::string &name, const forms::Tensor &y);
  // The same for a tuple-valued y: one output for each component, all written by one stage.
  Halide::Func outputs(const std::vector<std::string> &names, const forms::Tensor &y);
  // Lets the innermost stride of an output's buffer be anything, as strided_input() does.
  void allow_any_stride(const Halide::Func &output) const;

  // The strides of a buffer of an exact build, instead of dense ones; inputs first, then outputs. It is not taken to be
  // aligned to more than its elements are then.
  void set_strides(size_t buffer, const std::vector<int> &strides);

  // Calls `how` with the machine if this build has a schedule of its own. Of what is no formula, the class is told, and on
  // GPUs decides: contractions are asked how, others go through their elements (schedules/gpu/grid.h). Formulas are
  // scheduled by structure there.
  using How = std::function<void(const Machine &)>;
  void schedule(const How &how);
  void schedule(formula::Pattern form, const How &how);
  // How formulas are scheduled unless told: with knobs of one's own perhaps, and where innermost strides are free, with
  // the conditions on them under which elements go by vectors.
  void by_structure(const Machine &m, const schedules::StructureKnobs &knobs = {},
                    const std::vector<Halide::Expr> &vectorizable = {});
  // The kinds of its stages.
  std::set<formula::Pattern> classes() const;
  // Why there is no schedule for GPUs; empty: there is one.
  std::string why_no_gpu() const;

  // The knobs of a schedule, as this build overrides them; the tuner searches what is asked for here.
  template <typename Struct>
  Struct tuned(const Struct &defaults) {
    schedules::add_to_space(defaults, knob_space_);
    return schedules::overridden(defaults, knobs_);
  }
  const Knobs &knobs() const { return knobs_; }
  const std::vector<schedules::Knob> &knob_space() const { return knob_space_; }

  // What the finished build holds.
  const std::vector<InputFacts> &inputs() const { return inputs_; }
  const std::vector<std::string> &output_names() const { return output_names_; }
  // Extents of the outputs; for exact builds, plain numbers.
  std::vector<std::vector<int>> output_extents() const;
  std::vector<Halide::Type> output_types() const;
  std::vector<int> output_ranks() const;
  std::vector<Halide::Argument> arguments() const;
  Halide::Pipeline pipeline() const;
  // The buffer parameters among the inputs, in order, for just-in-time calls;
  std::vector<Halide::ImageParam> buffers() const { return buffers_; }
  // and with them those of the outputs.
  std::vector<Halide::OutputImageParam> all_buffers() const;
  // Makes ready for compilation; called once after the declaration has run. Formulas without a schedule get one by
  // structure, other declarations estimates of the call `typical`, for an autoscheduler to plan for.
  void finish(const Call *typical);
  // Whether the pipeline has the schedule that it is to have.
  bool is_scheduled() const { return scheduled_ || schedule_ == Schedule::plain; }

 private:
  void estimate(const Call &typical);
  forms::Tensor buffer(const std::string &name, int rank, Halide::Type type, Range range, bool any_stride);
  formula::Value formula_input(const std::string &name, const std::vector<std::string> &sizes, Type type, Range range,
                               bool any_stride);
  void bind(const formula::Expression &size, const Halide::Expr &value);
  const CallArgument &next_argument(const std::string &name);
  Halide::Func add_output(Halide::Func out, const std::vector<std::string> &names, const forms::Tensor &y);

  Machine machine_;
  Schedule schedule_;
  std::optional<Call> exact_;
  Epilogue epilogue_;
  Knobs knobs_;
  std::vector<schedules::Knob> knob_space_;
  bool scheduled_ = false;
  bool sizes_are_open_ = false;
  std::optional<formula::Pattern> form_;  // of what is no formula
  std::vector<InputFacts> inputs_;
  std::vector<Halide::ImageParam> buffers_;
  std::map<std::string, Halide::Param<int>> integers_;
  std::map<std::string, Halide::Param<float>> reals_;
  std::vector<Halide::Argument> arguments_;
  std::vector<Halide::Func> outputs_;
  std::vector<std::string> output_names_;
  std::vector<forms::Tensor> results_;
  StageFunctions stages_;
  std::map<std::string, formula::Expression> sizes_;                  // by name; parameters and counts too
  std::vector<std::shared_ptr<const formula::Stage>> output_stages_;  // what each output is a copy of
  formula::Values formulas_;                                          // all results of formulas
};

struct Kernel {
  using Define = std::function<void(Build &)>;

  std::string name;
  Define define;
  std::vector<Call> checks;
  std::vector<Timing> timings;

  // Adds itself to all_kernels().
  Kernel(std::string name, Define define, std::vector<Call> checks, std::vector<Timing> timings = {});

  // The call that its first timing does, else its first check; null where there is neither.
  const Call *typical() const;

  Build build(const Halide::Target &target, Build::Schedule schedule, std::optional<Call> exact = std::nullopt,
              Knobs knobs = {}, Build::Epilogue epilogue = nullptr) const;
};

const std::vector<Kernel> &all_kernels();
const Kernel &find_kernel(const std::string &name);

}  // namespace saltern::generators
