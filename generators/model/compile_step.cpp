#include "generators/model/compile_step.h"

#include <cmath>
#include <cstring>

#include "generators/model/compile.h"
#include "generators/model/temporary_folder.h"
#include "runtime/kernels/compiled_model.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/layers/random_stream.h"
#include "runtime/optim/clipping.h"

namespace saltern {

struct CompiledStep::Parts {
  // What a state of the plan is in the net, in the optimizer or here.
  struct State {
    size_t number;
    std::string name;
    Tensor value;   // undefined: this thread's random numbers
    Tensor copied;  // where kernels find it, if not in `value`
  };

  Optimizer *optimizer = nullptr;
  std::vector<Tensor> rates;                               // of its groups
  std::unique_ptr<generators::TemporaryFolder> forgotten;  // instead of the cache where there is none
  std::unique_ptr<CompiledLibrary> library;
  std::vector<State> states;
  // Where only gradients are compiled: how many batches make a step, how many were taken, and what is added up for each
  // parameter.
  int accumulate = 1, taken = 0;
  double clip_norm = 0;
  std::vector<std::pair<Variable, Tensor>> sums;

  void add(size_t number, const Tensor &value) {
    State s = {number, library->states()[number].name, value, {}};
    const Tensor reached = value.defined() ? value : random_stream();
    const Layout layout = library->state_layout(number);
    if (!reached.has_layout(layout) || reinterpret_cast<uintptr_t>(reached.raw()) % 64 != 0)
      s.copied = Tensor::empty(reached.shape(), reached.type(), layout);
    library->lend_state(number, s.copied.defined() ? s.copied : reached);
    states.push_back(std::move(s));
  }

  // What is on a device is brought here; what another thread draws from is another stream.
  void before() {
    for (size_t g = 0; g < rates.size(); ++g) *rates[g].data<float>() = static_cast<float>(optimizer->rate(g));
    for (const State &s : states) {
      const Tensor value = s.value.defined() ? s.value : random_stream();
      if (s.copied.defined())
        s.copied.copy_from(value);
      else if (!s.value.defined())
        library->lend_state(s.number, value);
      else
        value.raw();
    }
  }
  void after() {
    for (const State &s : states) {
      const Tensor value = s.value.defined() ? s.value : random_stream();
      if (s.copied.defined())
        value.copy_from(s.copied);
      else
        value.written();
    }
  }
};

void CompiledStep::finish() const {
  if (parts_->taken == 0) return;
  std::vector<Variable> parameters;
  for (const auto &[parameter, sum] : parts_->sums) {
    parameter.set_gradient(sum.clone());
    parameters.push_back(parameter);
    std::memset(sum.raw(), 0, sum.bytes());
    sum.written();
  }
  if (parts_->taken > 1) scale_gradients(parameters, 1.0 / parts_->taken);
  parts_->taken = 0;
  if (const double most = parts_->clip_norm; most > 0) {
    const double norm = total_norm(gradients_of(parameters));
    if (!std::isfinite(norm)) {
      parts_->optimizer->clear_gradients();
      fail("a compiled step: the norm of the gradients is ", norm);
    }
    if (norm > most) scale_gradients(parameters, most / norm);
  }
  parts_->optimizer->step();
  parts_->optimizer->clear_gradients();
}

CompiledStep::CompiledStep(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
CompiledStep::CompiledStep(CompiledStep &&) noexcept = default;
CompiledStep &CompiledStep::operator=(CompiledStep &&) noexcept = default;
CompiledStep::~CompiledStep() = default;

float CompiledStep::operator()(const std::vector<Tensor> &inputs) const {
  parts_->before();
  const std::vector<Tensor> made = parts_->library->run(inputs);
  parts_->after();
  if (!parts_->sums.empty() && ++parts_->taken == parts_->accumulate) finish();
  return static_cast<float>(made.at(0).item());
}

std::vector<std::string> CompiledStep::copied() const {
  std::vector<std::string> names;
  for (const Parts::State &s : parts_->states)
    if (s.copied.defined()) names.push_back(s.name);
  return names;
}

void CompiledStep::watch(std::function<void(const std::string &)> after_kernel) const {
  parts_->library->watch(std::move(after_kernel));
}

size_t CompiledStep::memory_bytes() const {
  size_t bytes = parts_->library->memory_bytes();
  for (const auto *edges : {&parts_->library->inputs(), &parts_->library->states()})
    for (const CompiledLibrary::Edge &e : *edges)
      bytes += static_cast<size_t>(elements(e.shape)) * facts(e.type).bytes();
  return bytes;
}

CompiledStep compile_step(Module &net, const Loss &loss, Optimizer &optimizer, const Tensor &x, const Tensor &labels,
                          const StepOptions &options) {
  return compile_step(
      net, {{"x", x}, {"labels", labels}}, [&](const std::vector<Variable> &in) { return loss(net(in[0]), in[1]); },
      optimizer, options);
}

CompiledStep compile_step(Module &net, const NamedTensors &inputs, const LossOfInputs &loss, Optimizer &optimizer,
                          const StepOptions &options) {
  auto parts = std::make_unique<CompiledStep::Parts>();
  if (options.accumulate < 1) fail("a compiled step of ", options.accumulate, " batches; at least 1 is taken");
  if (!(options.clip_norm >= 0)) fail("a compiled step clips by a norm of ", options.clip_norm, "; expected 0 or more");
  parts->accumulate = options.accumulate;
  parts->clip_norm = options.clip_norm;
  const bool only_gradients = options.accumulate > 1 || options.clip_norm > 0;
  const Graph graph = only_gradients ? gradient_step(net, inputs, loss) : training_step(net, inputs, loss, optimizer);
  std::map<std::string, Tensor> all = optimizer.state();
  for (const auto &[name, p] : net.named_parameters()) {
    const std::string sum = "gradient." + name;
    if (!only_gradients || !graph.values.count(sum)) continue;
    all[sum] = Tensor::like(p.value());
    std::memset(all[sum].raw(), 0, all[sum].bytes());
    parts->sums.emplace_back(p, all[sum]);
  }
  for (const auto &[name, p] : net.named_parameters()) all[name] = p.value();
  for (const auto &[name, t] : net.state()) all.emplace(name, t);
  for (size_t g = 0; g < optimizer.group_count(); ++g)
    all[optimizer.update(g).rate_name] = parts->rates.emplace_back(Tensor::zeros({}));
  all["random"] = {};
  generators::CompileOptions compile;
  compile.name = "step";
  compile.cache = generators::default_cache_folder();
  if (compile.cache.empty()) {
    parts->forgotten = std::make_unique<generators::TemporaryFolder>();
    compile.cache = parts->forgotten->path();
  }
  compile.targets = {generators::best_target_here()};
  compile.state_outside = true;
  compile.progress = options.progress;
  const int thread_count = options.threads > 0 ? options.threads : threads();
  compile.memory = options.memory;
  compile.exact_convolutions = options.exact_convolutions;
  compile.memory_threads = thread_count;
  parts->optimizer = &optimizer;
  parts->library =
      std::make_unique<CompiledLibrary>(generators::cached_library(graph, compile), compile.name, thread_count);
  for (size_t i = 0; i < parts->library->states().size(); ++i) parts->add(i, all.at(parts->library->states()[i].name));
  return CompiledStep(std::move(parts));
}

}  // namespace saltern
