#include "runtime/kernels/compiled_model.h"

#include <dlfcn.h>

#include "runtime/kernels/thread_pool.h"

namespace saltern {

namespace {

// As the generated header has them (generators/model/driver/NAME.h).
struct EdgeFacts {
  const char *name, *type;
  int rank;
  const int64_t *shape;
  size_t elements, bytes;
};

struct RunOptions {
  void *(*allocate)(void *, size_t, size_t);
  void (*release)(void *, void *);
  int (*parallel_for)(void *, int (*)(void *, int), void *, int);
  void *context;
  int threads;
};

Type type_named(const std::string &name) {
  for (const TypeFacts &t : all_types())
    if (t.name == name) return t.type;
  fail("a compiled model has the element type '", name, "'");
}

std::vector<CompiledLibrary::Edge> edges(const EdgeFacts *(*facts_of)(int)) {
  std::vector<CompiledLibrary::Edge> all;
  for (int i = 0; const EdgeFacts *f = facts_of(i); ++i)
    all.push_back({f->name, type_named(f->type), Shape(f->shape, f->shape + f->rank)});
  return all;
}

}  // namespace

struct CompiledLibrary::Functions {
  void *library = nullptr, *model = nullptr;
  void *(*create)(const RunOptions *) = nullptr;
  int (*run)(void *, const void *const *, void *const *) = nullptr;
  const char *(*error)(const void *) = nullptr;
  size_t (*memory_bytes)(const RunOptions *) = nullptr;
  RunOptions options = {};
  std::unique_ptr<ReservedThreads> threads;
  void (*destroy)(void *) = nullptr;
  void (*watch)(void *, void (*)(void *, const char *), void *) = nullptr;
  const EdgeFacts *(*input)(int) = nullptr;
  const EdgeFacts *(*output)(int) = nullptr;
  const EdgeFacts *(*state)(int) = nullptr;
  int (*get_state)(const void *, int, void *) = nullptr;
  int (*set_state)(void *, int, const void *) = nullptr;
  void (*lend_state)(void *, int, void *) = nullptr;
  int (*state_has_channels_last)(int) = nullptr;

  ~Functions() {
    if (model) destroy(model);
    if (library) dlclose(library);
  }

  template <typename F>
  void find(F *&function, const std::string &path, const std::string &symbol) {
    function = reinterpret_cast<F *>(dlsym(library, symbol.c_str()));
    if (!function) fail(path, " has no function ", symbol);
  }
};

CompiledLibrary::CompiledLibrary(const std::string &path, const std::string &name, int threads)
    : functions_(std::make_unique<Functions>()) {
  Functions &f = *functions_;
  f.library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!f.library) fail("cannot load ", path, ": ", dlerror());
  f.find(f.create, path, name + "_create");
  f.find(f.run, path, name + "_run");
  f.find(f.error, path, name + "_error");
  f.find(f.memory_bytes, path, name + "_memory_bytes");
  f.find(f.destroy, path, name + "_destroy");
  f.find(f.watch, path, name + "_watch");
  f.find(f.input, path, name + "_input");
  f.find(f.output, path, name + "_output");
  if (dlsym(f.library, (name + "_state").c_str())) {
    f.find(f.state, path, name + "_state");
    f.find(f.get_state, path, name + "_get_state");
    f.find(f.set_state, path, name + "_set_state");
    f.find(f.lend_state, path, name + "_lend_state");
    f.find(f.state_has_channels_last, path, name + "_state_has_channels_last");
  }
  f.options.threads = threads;
  if (threads > 1) {
    f.threads = std::make_unique<ReservedThreads>(threads);
    f.options.context = f.threads.get();
    f.options.parallel_for = [](void *reserved, int (*task)(void *, int), void *closure, int count) {
      return static_cast<const ReservedThreads *>(reserved)->run(task, closure, count);
    };
  }
  f.model = f.create(&f.options);
  if (!f.model) fail(path, ": memory is short");
  inputs_ = edges(f.input);
  outputs_ = edges(f.output);
  if (f.state) states_ = edges(f.state);
}

CompiledLibrary::~CompiledLibrary() = default;

size_t CompiledLibrary::memory_bytes() const { return functions_->memory_bytes(&functions_->options); }

void CompiledLibrary::watch(std::function<void(const std::string &)> after_step) {
  after_step_ = std::move(after_step);
  const auto call = [](void *library, const char *origin) {
    static_cast<CompiledLibrary *>(library)->after_step_(origin);
  };
  functions_->watch(functions_->model, after_step_ ? +call : nullptr, this);
}

namespace {

// Row-major.
Tensor checked(const char *what, const CompiledLibrary::Edge &e, const Tensor &t) {
  if (t.type() != e.type || t.shape() != e.shape)
    fail("the ", what, " '", e.name, "' is ", facts(t.type()).name, " ", to_string(t.shape()),
         "; the compiled model takes ", facts(e.type).name, " ", to_string(e.shape));
  return t.in_layout(Layout::row_major);
}

}  // namespace

Tensor CompiledLibrary::state(size_t number) const {
  const Edge &e = states_.at(number);
  const Tensor value = Tensor::empty(e.shape, e.type);
  functions_->get_state(functions_->model, static_cast<int>(number), value.raw());
  return value;
}

void CompiledLibrary::set_state(size_t number, const Tensor &value) const {
  const Tensor rows = checked("state", states_.at(number), value);
  functions_->set_state(functions_->model, static_cast<int>(number), rows.raw());
}

Layout CompiledLibrary::state_layout(size_t number) const {
  return functions_->state_has_channels_last(static_cast<int>(number)) ? Layout::channels_last : Layout::row_major;
}

void CompiledLibrary::lend_state(size_t number, const Tensor &memory) const {
  const Edge &e = states_.at(number);
  if (memory.shape() != e.shape || memory.type() != e.type || !memory.has_layout(state_layout(number)) ||
      reinterpret_cast<uintptr_t>(memory.raw()) % 64 != 0)
    fail("the state '", e.name, "' of a compiled model cannot lie in memory of ", facts(memory.type()).name, " ",
         to_string(memory.shape()));
  functions_->lend_state(functions_->model, static_cast<int>(number), memory.raw());
}

std::vector<Tensor> CompiledLibrary::run(const std::vector<Tensor> &inputs) const {
  if (inputs.size() != inputs_.size()) fail(inputs.size(), " inputs for a model of ", inputs_.size());
  std::vector<Tensor> given, made;
  std::vector<const void *> from;
  std::vector<void *> to;
  for (size_t i = 0; i < inputs.size(); ++i) {
    given.push_back(checked("input", inputs_[i], inputs[i]));
    from.push_back(given.back().raw());
  }
  for (const Edge &e : outputs_) {
    made.push_back(Tensor::empty(e.shape, e.type));
    to.push_back(made.back().raw());
  }
  if (functions_->run(functions_->model, from.data(), to.data()) != 0)
    fail("the compiled model: ", functions_->error(functions_->model));
  return made;
}

}  // namespace saltern
