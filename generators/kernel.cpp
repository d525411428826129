#include "generators/kernel.h"

#include <stdexcept>

#include "generators/estimates.h"
#include "schedules/by_structure.h"
#include "schedules/gpu/grid.h"
#include "schedules/plain.h"

namespace saltern::generators {

using Halide::Expr;
using Halide::Func;
using Halide::ImageParam;

namespace {

std::vector<Kernel> &registered() {
  static std::vector<Kernel> kernels;
  return kernels;
}

}  // namespace

Kernel::Kernel(std::string name, Define define, std::vector<Call> checks, std::vector<Timing> timings)
    : name(std::move(name)), define(std::move(define)), checks(std::move(checks)), timings(std::move(timings)) {
  registered().push_back(*this);
}

const std::vector<Kernel> &all_kernels() { return registered(); }

const Kernel &find_kernel(const std::string &name) {
  for (const Kernel &k : all_kernels())
    if (k.name == name) return k;
  throw std::invalid_argument("no kernel is declared with the name '" + name + "'");
}

Build Kernel::build(const Halide::Target &target, Build::Schedule schedule, std::optional<Call> exact, Knobs knobs,
                    Build::Epilogue epilogue) const {
  Build b(target, schedule, std::move(exact), std::move(knobs));
  b.set_epilogue(std::move(epilogue));
  define(b);
  b.finish(typical());
  return b;
}

Build::Build(const Halide::Target &target, Schedule schedule, std::optional<Call> exact, Knobs knobs)
    : machine_(Machine::of(target)),
      schedule_(schedule),
      exact_(std::move(exact)),
      knobs_(std::move(knobs)),
      stages_(schedule == Schedule::own && !machine_.is_gpu() ? std::optional(machine_) : std::nullopt) {}

const CallArgument &Build::next_argument(const std::string &name) {
  if (inputs_.size() >= exact_->size())
    throw std::invalid_argument("the call has " + std::to_string(exact_->size()) + " arguments and none for '" + name +
                                "'");
  return (*exact_)[inputs_.size()];
}

forms::Tensor Build::buffer(const std::string &name, int rank, Halide::Type type, Range range, bool any_stride) {
  ImageParam p(type, rank, name);
  for (int d = 0; d < rank; ++d) p.dim(d).set_min(0);
  if (any_stride) p.dim(0).set_stride(Expr());
  std::vector<Expr> extents;
  if (exact_) {
    const CallArgument &a = next_argument(name);
    if (static_cast<int>(a.extents.size()) != rank)
      throw std::invalid_argument("'" + name + "' has rank " + std::to_string(rank) + ", the call gives " +
                                  std::to_string(a.extents.size()) + " extents");
    int stride = 1;
    for (int d = 0; d < rank; ++d) {
      p.dim(d).set_bounds(0, a.extents[d]).set_stride(stride);
      extents.emplace_back(a.extents[d]);
      stride *= a.extents[d];
    }
    p.set_host_alignment(64);
  } else {
    for (int d = 0; d < rank; ++d) extents.push_back(p.dim(d).extent());
  }
  inputs_.push_back({name, type, rank, range});
  buffers_.push_back(p);
  arguments_.emplace_back(p);
  // Threads of a GPU that are past an edge compute something, too, and drop it.
  if (machine_.is_gpu()) return {Halide::BoundaryConditions::repeat_edge(p), extents};
  return {Func(p), extents};
}

forms::Tensor Build::input(const std::string &name, int rank, Halide::Type type, Range range) {
  return buffer(name, rank, type, range, false);
}

forms::Tensor Build::strided_input(const std::string &name, int rank, Halide::Type type, Range range) {
  return buffer(name, rank, type, range, true);
}

Expr Build::integer(const std::string &name) {
  const Expr constant = exact_ ? Expr(static_cast<int>(next_argument(name).value)) : Expr();
  inputs_.push_back({name, Halide::Int(32), 0, {}});
  if (constant.defined()) return constant;
  Halide::Param<int> p(name);
  integers_.emplace(name, p);
  arguments_.emplace_back(p);
  return p;
}

Expr Build::real(const std::string &name) {
  const Expr constant = exact_ ? Expr(static_cast<float>(next_argument(name).value)) : Expr();
  inputs_.push_back({name, Halide::Float(32), 0, {}});
  if (constant.defined()) return constant;
  Halide::Param<float> p(name);
  reals_.emplace(name, p);
  arguments_.emplace_back(p);
  return p;
}

Func Build::output(const std::string &name, const forms::Tensor &y) {
  Func out(name);
  if (epilogue_) {
    out = epilogue_(*this, y).func();
    return add_output(out, {name}, y);
  }
  if (y.rank() == 0)
    out() = y.func()();
  else
    out(y.func().args()) = y(y.func().args());
  return add_output(out, {name}, y);
}

Func Build::outputs(const std::vector<std::string> &names, const forms::Tensor &y) {
  if (static_cast<int>(names.size()) != y.func().outputs())
    throw std::invalid_argument("'" + y.func().name() + "' has " + std::to_string(y.func().outputs()) +
                                " components and " + std::to_string(names.size()) + " names for them");
  std::vector<Expr> components;
  for (size_t i = 0; i < names.size(); ++i) components.push_back(y.func()(y.func().args())[static_cast<int>(i)]);
  std::string joined;
  for (const std::string &name : names) joined += (joined.empty() ? "" : "_and_") + name;
  Func out(joined);
  out(y.func().args()) = Halide::Tuple(components);
  return add_output(out, names, y);
}

Func Build::add_output(Func out, const std::vector<std::string> &names, const forms::Tensor &y) {
  outputs_.push_back(out);
  for (const std::string &name : names) {
    output_names_.push_back(name);
    results_.push_back(y);
  }
  // The first component's bounds are those of all.
  for (int d = 0; d < y.rank(); ++d) out.output_buffers()[0].dim(d).set_min(0);
  if (!exact_) return out;
  Expr stride = 1;
  for (int d = 0; d < y.rank(); ++d) {
    const Expr extent = Halide::Internal::simplify(y.extent(d));
    out.output_buffers()[0].dim(d).set_bounds(0, extent);
    for (Halide::OutputImageParam buffer : out.output_buffers()) buffer.dim(d).set_stride(stride);
    stride = Halide::Internal::simplify(stride * extent);
  }
  for (Halide::OutputImageParam buffer : out.output_buffers()) buffer.set_host_alignment(64);
  return out;
}

void Build::allow_any_stride(const Func &output) const {
  if (exact_) return;
  for (Halide::OutputImageParam buffer : output.output_buffers()) buffer.dim(0).set_stride(Expr());
}

std::vector<Halide::OutputImageParam> Build::all_buffers() const {
  std::vector<Halide::OutputImageParam> all(buffers_.begin(), buffers_.end());
  for (const Func &out : outputs_)
    for (const Halide::OutputImageParam &b : out.output_buffers()) all.push_back(b);
  return all;
}

void Build::set_strides(size_t buffer, const std::vector<int> &strides) {
  Halide::OutputImageParam b = all_buffers().at(buffer);
  for (size_t d = 0; d < strides.size(); ++d) b.dim(static_cast<int>(d)).set_stride(strides[d]);
  b.set_host_alignment(b.type().bytes());
}

void Build::schedule(const How &how) {
  scheduled_ = true;
  if (schedule_ != Schedule::own) return;
  if (machine_.is_gpu()) return by_structure(machine_);
  how(machine_);
}

void Build::schedule(formula::Pattern form, const How &how) {
  scheduled_ = true;
  form_ = form;
  if (schedule_ != Schedule::own) return;
  if (!machine_.is_gpu() || form == formula::Pattern::contraction) return how(machine_);
  for (const Func &out : outputs_) schedules::gpu::walk(out);
}

std::set<formula::Pattern> Build::classes() const {
  return form_ ? std::set<formula::Pattern>{*form_} : formula::classes_of(formulas_);
}

std::string Build::why_no_gpu() const {
  if (!scheduled_) return "it has no schedule of its own";
  for (const formula::Pattern p : classes())
    if (!schedules::has_gpu_pattern(p)) return "there is no GPU pattern for a " + std::string(name(p));
  return "";
}

void Build::finish(const Call *typical) {
  if (schedule_ == Schedule::plain) return schedules::plain(outputs_);
  if (!scheduled_ && !formulas_.empty()) schedule([&](const Machine &m) { by_structure(m); });
  if (scheduled_) return;
  if (exact_) typical = &*exact_;
  if (!typical)
    throw std::invalid_argument("a kernel without a schedule needs a call to plan for: a timing or a check");
  estimate(*typical);
}

void Build::estimate(const Call &typical) {
  forms::Estimates estimates;
  size_t buffer = 0;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const std::string &name = inputs_[i].name;
    if (inputs_[i].rank > 0)
      estimates.input(buffers_[buffer++], typical.at(i).extents);
    else if (const auto it = integers_.find(name); it != integers_.end())
      estimates.scalar(it->second, static_cast<int>(typical.at(i).value));
    else if (const auto real = reals_.find(name); real != reals_.end())
      real->second.set_estimate(static_cast<float>(typical.at(i).value));
  }
  size_t result = 0;
  for (const Func &out : outputs_) {
    estimates.output(out, results_.at(result));
    result += out.outputs();
  }
}

const Call *Kernel::typical() const {
  if (!timings.empty()) return &timings.front().call;
  return checks.empty() ? nullptr : &checks.front();
}

std::vector<std::vector<int>> Build::output_extents() const {
  std::vector<std::vector<int>> all;
  for (const forms::Tensor &y : results_) {
    std::vector<int> extents;
    for (const Expr &e : y.extents()) {
      const auto number = Halide::Internal::as_const_int(Halide::Internal::simplify(e));
      if (!number) throw std::logic_error("output extents are numbers in exact builds only");
      extents.push_back(static_cast<int>(*number));
    }
    all.push_back(std::move(extents));
  }
  return all;
}

std::vector<Halide::Type> Build::output_types() const {
  std::vector<Halide::Type> types;
  for (const Func &out : outputs_) types.insert(types.end(), out.types().begin(), out.types().end());
  return types;
}

std::vector<int> Build::output_ranks() const {
  std::vector<int> ranks;
  for (const forms::Tensor &y : results_) ranks.push_back(y.rank());
  return ranks;
}

std::vector<Halide::Argument> Build::arguments() const { return arguments_; }

Halide::Pipeline Build::pipeline() const { return Halide::Pipeline(outputs_); }

}  // namespace saltern::generators
