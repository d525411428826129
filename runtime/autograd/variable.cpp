#include "runtime/autograd/variable.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <unordered_set>

#include "runtime/autograd/batching.h"
#include "runtime/autograd/formula_operation.h"
#include "runtime/autograd/sparse.h"
#include "runtime/tensor/print.h"

namespace saltern {

namespace {

thread_local RecordingMode mode = RecordingMode::where_needed;
std::atomic<uint64_t> steps_made{0};

bool is_float(Type type) {
  const StoredAs::Code code = facts(type).storage.code;
  return code != StoredAs::Code::integer && code != StoredAs::Code::natural;
}

}  // namespace

std::ostream &operator<<(std::ostream &out, const Variable &v) {
  return v.defined() ? out << v.value() : out << "an undefined Variable";
}

RecordingMode recording_mode() { return mode; }
uint64_t steps_taken() { return steps_made; }

RecordingGuard::RecordingGuard(RecordingMode m) : Temporarily(mode, m) {}

Variable::Variable(Tensor value, bool requires_gradient) {
  if (!value.defined()) return;
  if (requires_gradient && !is_float(value.type()))
    fail("a ", facts(value.type()).name, " tensor cannot require a gradient");
  node_ = std::make_shared<Node>();
  node_->value = std::move(value);
  node_->requires_gradient = requires_gradient;
}

Variable Variable::output(const Tensor &value, bool requires_gradient, const std::shared_ptr<Step> &step, int index) {
  Variable v(value, requires_gradient && is_float(value.type()));
  v.node_->step = step;
  v.node_->index = index;
  return v;
}

const Tensor &Variable::outline() const {
  if (!node_) fail("an undefined Variable was used");
  return node_->value;
}

const Tensor &Variable::value() const {
  if (node_ && (node_->postponed || node_->sparse)) settle();
  return outline();
}

void Variable::settle() const {
  if (node_->postponed) compute_postponed(*this);
  if (node_->sparse && node_->value.is_outline()) node_->value = dense(shape(), *node_->sparse);
}

const Variable &Variable::gradient() const {
  if (!node_) fail("the gradient of an undefined Variable was asked for");
  return node_->gradient;
}

void Variable::set_requires_gradient(bool on) const {
  if (!node_) fail("an undefined Variable was told whether it requires a gradient");
  if (step()) fail("what was computed, ", to_string(shape()), ", requires a gradient where its inputs do");
  if (on && !is_float(node_->value.type()))
    fail("a ", facts(node_->value.type()).name, " tensor cannot require a gradient");
  node_->requires_gradient = on;
}

void Variable::set_value(const Tensor &value) const {
  if (!node_) fail("an undefined Variable was given a value");
  if (step()) fail("what was computed, ", to_string(shape()), ", was given another value");
  if (value.shape() != shape())
    fail("a value of ", to_string(value.shape()), " for a Variable of ", to_string(shape()));
  if (node_->requires_gradient && !is_float(value.type()))
    fail("a ", facts(value.type()).name, " tensor cannot require a gradient");
  node_->value = value;
}

void Variable::set_gradient(const Variable &gradient) const {
  if (!node_) fail("an undefined Variable was given a gradient");
  if (gradient.defined() && gradient.shape() != shape())
    fail("a gradient of ", to_string(gradient.shape()), " for a Variable of ", to_string(shape()));
  node_->gradient = gradient;
}

Step::Step(const Operation &operation, Attributes attributes, std::vector<Variable> inputs, std::vector<Tensor> outputs)
    : operation_(&operation),
      attributes_(std::move(attributes)),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)),
      output_count_(outputs_.size()),
      number_(steps_made.fetch_add(1)) {
  for (const Variable &v : inputs_) kept_inputs_.push_back(kept(v.value()));
  for (const Tensor &t : outputs_) kept_outputs_.push_back(kept(t));
}

// A long history is a long chain of owners: it is taken apart in a loop, since recursion would exhaust the stack.
Step::~Step() {
  let_go();
  static thread_local std::vector<Variable> *dying = nullptr;
  if (dying) {
    for (Variable &v : inputs_) dying->push_back(std::move(v));
    return;
  }
  std::vector<Variable> queue = std::move(inputs_);
  dying = &queue;
  while (!queue.empty()) {
    Variable last = std::move(queue.back());
    queue.pop_back();
  }
  dying = nullptr;
}

Variable Step::output(int i) const {
  if (released_) fail("the output of '", operation_->name, "' was asked for after its tape had been freed");
  bool needed = false;
  for (const Variable &v : inputs_) needed |= v.requires_gradient();
  // Recorded steps are owned by their outputs and never changed through them but for release().
  return Variable::output(outputs_.at(i), needed, std::const_pointer_cast<Step>(shared_from_this()), i);
}

void Step::expect_unchanged(const Tensor &t, const Kept &kept, const char *what, size_t i) const {
  if (t.memory() != kept.memory || !kept.memory->has_version(kept.version))
    fail("the ", what, " ", i, " of operation '", operation_->name, "', ", facts(t.type()).name, to_string(t.shape()),
         ", was written in place after the operation was applied, and its gradient needs what was there before: write "
         "after backward(), or into a clone()");
}

void Step::expect_unchanged_input(size_t i) const {
  expect_unchanged(inputs_.at(i).value(), kept_inputs_[i], "input", i);
}

void Step::expect_unchanged_output(size_t i) const { expect_unchanged(outputs_.at(i), kept_outputs_[i], "output", i); }

void Step::let_go() {
  for (const Kept &k : kept_inputs_) k.memory->let_go();
  for (const Kept &k : kept_outputs_) k.memory->let_go();
  kept_inputs_.clear();
  kept_outputs_.clear();
}

void Step::release() {
  let_go();
  inputs_.clear();
  outputs_.clear();
  released_ = true;
}

// Without recursion: a net may be deeper than the stack.
std::vector<std::shared_ptr<Step>> steps_behind(const std::vector<Variable> &results,
                                                const std::function<bool(const Variable &)> &follows) {
  std::vector<std::shared_ptr<Step>> all;
  std::unordered_set<const Step *> seen;
  const auto add = [&](const Variable &v) {
    if (!v.defined() || !v.step() || (follows && !follows(v)) || !seen.insert(v.step().get()).second) return;
    all.push_back(v.step());
  };
  for (const Variable &v : results) add(v);
  for (size_t i = 0; i < all.size(); ++i)
    for (const Variable &v : all[i].get()->inputs()) add(v);
  // Steps are numbered as they were taken: an order in which they can be taken again.
  std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return a->number() < b->number(); });
  return all;
}

namespace {

// Library kernels are of f32, beside which indices and labels may stand.
bool fits_kernels(const std::vector<Tensor> &inputs) {
  bool any = inputs.empty();
  for (const Tensor &t : inputs) {
    if (is_real(t.type()) && t.type() != Type::f32) return false;
    any |= t.type() == Type::f32;
  }
  return any;
}

// Few kernels know what to do without elements: whoever gave an empty batch is told where it failed. Of outlines, come
// outlines.
std::vector<Tensor> computed(const Operation &operation, const std::vector<Tensor> &inputs, const Attributes &a) {
  std::optional<OnlyOutlines> outlines;
  for (const Tensor &t : inputs)
    if (t.is_outline() && !outlines) outlines.emplace();
  try {
    if (operation.has_kernels && operation.algorithm && !fits_kernels(inputs))
      return computed_by_formula(operation, inputs, a);
    return operation.compute(inputs, a);
  } catch (const Error &e) {
    std::string shapes;
    bool empty = false;
    for (const Tensor &t : inputs) {
      shapes += (shapes.empty() ? "" : ", ") + to_string(t.shape());
      empty |= t.size() == 0;
    }
    if (!empty) throw;
    fail("operation '", operation.name, "' of ", shapes, ", where an extent is 0: ", e.what());
  }
}

}  // namespace

std::vector<Tensor> outlines_of(const Operation &operation, const std::vector<Variable> &inputs, const Attributes &a) {
  std::vector<Tensor> outlines;
  for (const Variable &v : inputs) outlines.push_back(Tensor::outline(v.shape(), v.type()));
  return computed(operation, outlines, a);
}

std::vector<Variable> apply(const Operation &operation, const std::vector<Variable> &inputs, Attributes attributes) {
  // A program's own objects are made before those of a library that it links.
  if (!operation.compute) fail("an operation was applied before main(), when it was not made yet");
  bool needed = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) fail("input ", i, " of operation '", operation.name, "' is undefined");
    needed |= inputs[i].requires_gradient();
  }
  attributes.set_owner(operation.name);
  if (auto later = postponed(operation, inputs, attributes)) return std::move(*later);
  std::vector<Tensor> values;
  values.reserve(inputs.size());
  for (const Variable &v : inputs) values.push_back(v.value());
  needed &= mode != RecordingMode::off;
  std::vector<Tensor> outputs = computed(operation, values, attributes);
  std::vector<Variable> results;
  results.reserve(outputs.size());
  if (!needed && mode != RecordingMode::everything) {
    for (Tensor &t : outputs) results.emplace_back(std::move(t));
    return results;
  }
  auto step = std::make_shared<Step>(operation, std::move(attributes), inputs, std::move(outputs));
  for (size_t i = 0; i < step->outputs().size(); ++i)
    results.push_back(Variable::output(step->outputs()[i], needed, step, static_cast<int>(i)));
  return results;
}

Variable apply_one(const Operation &operation, const std::vector<Variable> &inputs, Attributes attributes) {
  return apply(operation, inputs, std::move(attributes)).at(0);
}

}  // namespace saltern
