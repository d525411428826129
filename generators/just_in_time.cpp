#include "generators/just_in_time.h"

#include <Halide.h>

#include "generators/kernel.h"
#include "generators/targets.h"
#include "runtime/error.h"
#include "runtime/kernels/thread_pool.h"
#include "schedules/machine.h"

namespace saltern::generators {

namespace {

// Runs compile-world code; whatever it throws becomes an Error that names the kernel.
template <typename Work>
auto for_kernel(const std::string &kernel, const Work &work) {
  try {
    return work();
  } catch (const Halide::Error &e) {
    fail("kernel ", kernel, ": ", e.what());
  } catch (const Error &) {
    throw;
  } catch (const std::exception &e) {
    fail("kernel ", kernel, ": ", e.what());
  }
}

Halide::Target target_of(InstructionSet set) { return Halide::Target(halide_target(set)); }

void expect_whole(const std::string &kernel, const Build &build, const Call &call) {
  if (build.inputs().size() != call.size())
    fail("kernel ", kernel, " takes ", build.inputs().size(), " inputs; the call has ", call.size());
}

thread_local std::string last_error;

void remember_error(Halide::JITUserContext *, const char *message) { last_error = message; }

int on_own_pool(Halide::JITUserContext *context, int (*task)(Halide::JITUserContext *, int, uint8_t *), int first,
                int count, uint8_t *closure) {
  return halide_do_par_for(context, reinterpret_cast<halide_task_t>(task), first, count, closure);
}

}  // namespace

bool is_declared(const std::string &kernel) {
  for (const Kernel &k : all_kernels())
    if (k.name == kernel) return true;
  return false;
}

std::vector<DeclaredTiming> declared_timings() {
  std::vector<DeclaredTiming> all;
  for (const Kernel &k : all_kernels())
    for (const Timing &t : k.timings) all.push_back({k.name, t.label, t.call, t.flops});
  return all;
}

std::vector<ArgumentFacts> arguments_of(const std::string &kernel, const Call &call) {
  return for_kernel(kernel, [&] {
    const Build build = find_kernel(kernel).build(host_target(), Build::Schedule::plain, call);
    expect_whole(kernel, build, call);
    std::vector<ArgumentFacts> all;
    for (size_t i = 0; i < call.size(); ++i) {
      const InputFacts &in = build.inputs()[i];
      all.push_back({in.rank > 0 ? ArgumentFacts::Kind::buffer : ArgumentFacts::Kind::scalar, in.name, in.type,
                     call[i].extents, call[i].value, in.range.low, in.range.high});
    }
    const auto extents = build.output_extents();
    const auto types = build.output_types();
    for (size_t i = 0; i < extents.size(); ++i)
      all.push_back({ArgumentFacts::Kind::output, build.output_names()[i], types[i], extents[i]});
    return all;
  });
}

std::vector<schedules::Knob> knob_space(const std::string &kernel, const Call &call, InstructionSet set) {
  return for_kernel(kernel,
                    [&] { return find_kernel(kernel).build(target_of(set), Build::Schedule::own, call).knob_space(); });
}

int vector_registers(InstructionSet set) { return Machine::of(target_of(set)).vector_registers; }

struct ExactKernel::Compiled {
  std::string kernel;
  Halide::Callable callable;
  size_t buffers;
};

ExactKernel::ExactKernel(const std::string &kernel, const Call &call, InstructionSet set, const Knobs &knobs) {
  install_thread_pool();
  for_kernel(kernel, [&] {
    const Build build = find_kernel(kernel).build(target_of(set), Build::Schedule::own, call, knobs);
    expect_whole(kernel, build, call);
    if (!build.is_scheduled()) fail("kernel ", kernel, " has no schedule of its own");
    Halide::Pipeline pipeline = build.pipeline();
    pipeline.jit_handlers().custom_do_par_for = on_own_pool;
    pipeline.jit_handlers().custom_error = remember_error;
    const size_t buffers = build.arguments().size() + build.output_types().size();
    compiled_ = std::make_shared<const Compiled>(
        Compiled{kernel, pipeline.compile_to_callable(build.arguments(), target_of(set)), buffers});
  });
}

void ExactKernel::operator()(const std::vector<halide_buffer_t *> &buffers) const {
  if (buffers.size() != compiled_->buffers)
    fail("kernel ", compiled_->kernel, " takes ", compiled_->buffers, " buffers, not ", buffers.size());
  Halide::JITUserContext context;
  Halide::JITUserContext *context_address = &context;
  std::vector<const void *> arguments = {&context_address};
  arguments.insert(arguments.end(), buffers.begin(), buffers.end());
  if (compiled_->callable.call_argv_fast(arguments.size(), arguments.data()) != 0)
    fail("kernel ", compiled_->kernel, ": ", last_error);
}

}  // namespace saltern::generators
