#include "runtime/autograd/formula_operation.h"

#include <algorithm>
#include <list>
#include <map>
#include <mutex>
#include <optional>

#include "dsl/derivative.h"
#include "dsl/structure.h"
#include "runtime/formula/computation.h"

namespace saltern {

namespace {

// ---- What an operation makes: its results, and behind them what its gradient is given beside its inputs.

struct Results {
  Values all;
  std::vector<int> given;  // their numbers
};

const std::string of_gradients = ".gradient";  // how their names end

// Gradients are operations, too, which give nothing: their own gradients are rare. Nor do nodes of graphs that say by
// themselves what they compute, and have one result.
bool gives(const Operation &o, const Attributes &a) {
  const bool is_gradient = o.name.size() > of_gradients.size() &&
                           o.name.compare(o.name.size() - of_gradients.size(), std::string::npos, of_gradients) == 0;
  return !o.has_kernels && !is_gradient && !a.has("element");
}

Results results_of(const Operation &o, const Values &in, const Attributes &a) {
  Results r = {o.algorithm(in, a), {}};
  if (!gives(o, a)) return r;
  Values seeds, wanted;
  for (const Value &y : r.all)
    seeds.push_back(is_real(y.type()) ? formula::input("seed" + std::to_string(seeds.size()), y.extents(), y.type())
                                      : Value());
  for (const Value &x : in)
    if (is_real(x.type())) wanted.push_back(x);
  for (const Value &v : formula::worth_giving(r.all, gradient(r.all, seeds, wanted))) {
    const auto at = std::find_if(r.all.begin(), r.all.end(), [&](const Value &y) { return y.get() == v.get(); });
    r.given.push_back(static_cast<int>(at - r.all.begin()));
    if (at == r.all.end()) r.all.push_back(v);
  }
  return r;
}

// ---- Formulas are made once for a shape.

using Shapes = std::vector<std::pair<Type, Shape>>;

struct Instance {
  const Operation *operation;
  Shapes inputs;
  Attributes attributes;
  std::shared_ptr<const Computation> computation;
  std::vector<int> given;

  bool is_of(const Operation &o, const std::vector<Tensor> &in, const Attributes &a) const {
    if (operation != &o || in.size() != inputs.size() || attributes != a) return false;
    for (size_t i = 0; i < in.size(); ++i)
      if (in[i].type() != inputs[i].first || in[i].shape() != inputs[i].second) return false;
    return true;
  }
};

// The instances that were used last.
class Instances {
 public:
  std::optional<Instance> find(const Operation &o, const std::vector<Tensor> &in, const Attributes &a) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto at = all_.begin(); at != all_.end(); ++at)
      if (at->is_of(o, in, a)) {
        all_.splice(all_.begin(), all_, at);
        return *at;
      }
    return std::nullopt;
  }

  void add(Instance instance) {
    const std::lock_guard<std::mutex> lock(mutex_);
    all_.push_front(std::move(instance));
    if (all_.size() > most) all_.pop_back();
  }

 private:
  static constexpr size_t most = 256;
  std::mutex mutex_;
  std::list<Instance> all_;
};

Instances &instances() {
  static auto *all = new Instances;
  return *all;
}

// ---- The operation that is the gradient of another.

// What it is told besides the other's attributes; each order has names of its own.
std::string attribute(const Operation &of, const char *what) { return of.name + "." + what; }

Values derived(const Operation &of, const Values &in, const Attributes &a) {
  const auto count = static_cast<std::ptrdiff_t>(a.integer(attribute(of, "inputs")));
  const Values x(in.begin(), in.begin() + count);
  const Results y = results_of(of, x, a);
  if (static_cast<int64_t>(y.given.size()) != a.integer(attribute(of, "kept")))
    fail("operation '", of.name, "' is another one where its gradient is taken");
  Values kept, given, seeds(y.all.size()), wanted;
  auto next = in.begin() + count;
  for (int o : y.given) {
    kept.push_back(y.all.at(static_cast<size_t>(o)));
    given.push_back(*next++);
  }
  for (int64_t o : a.integers(attribute(of, "given"))) seeds.at(static_cast<size_t>(o)) = *next++;
  for (int64_t i : a.integers(attribute(of, "wanted"))) wanted.push_back(x.at(static_cast<size_t>(i)));
  return formula::with_given(gradient(y.all, seeds, wanted), kept, given);
}

const Operation &gradient_operation(const Operation &of) {
  static std::mutex mutex;
  static auto *known = new std::map<const Operation *, std::unique_ptr<const Operation>>;
  const std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<const Operation> &row = (*known)[&of];
  if (!row)
    row = std::make_unique<const Operation>(
        of.name + of_gradients,
        Operation::Algorithm([&of](const Values &in, const Attributes &a) { return derived(of, in, a); }));
  return *row;
}

}  // namespace

namespace {

struct ExactResults {
  formula::ExactFormulas formulas;
  std::vector<int> given;
};

ExactResults exact_results_of(const Operation &operation, const std::vector<Tensor> &inputs,
                              const Attributes &attributes) {
  Values in;
  for (size_t i = 0; i < inputs.size(); ++i)
    in.push_back(formula::input("x" + std::to_string(i), {inputs[i].shape().begin(), inputs[i].shape().end()},
                                inputs[i].type()));
  try {
    const Results r = results_of(operation, in, attributes);
    return {formula::exact_formulas(in, r.all), r.given};
  } catch (const std::exception &e) {
    std::string shapes;
    for (const Tensor &t : inputs)
      shapes += (shapes.empty() ? "" : ", ") + std::string(facts(t.type()).name) + to_string(t.shape());
    fail("operation '", operation.name, "' of ", shapes, ": ", e.what());
  }
}

// By texts: a reduction has steps of its own each time that it is written down.
bool say_the_same(const formula::ExactFormula &a, const formula::ExactFormula &b) {
  if (a.is_recurrent() || b.is_recurrent()) return false;
  const auto equal = [](const formula::Expression &x, const formula::Expression &y) {
    return is_same(x, y) || (x.defined() && y.defined() && to_string(x) == to_string(y));
  };
  return equal(a.element, b.element) && a.shape == b.shape && a.operands == b.operands && a.space == b.space &&
         a.along == b.along && equal(a.before, b.before) &&
         std::equal(a.targets.begin(), a.targets.end(), b.targets.begin(), b.targets.end(), equal);
}

// For a batch of any size, which is what inputs have in common with the first one as their first extent. An algorithm may
// go by numbers: what it gives is taken where it is the same for these. (With names for all extents, kernels of rows took
// 1.2 to 1.9 times as long as exact ones; with this one 0.9 to 1.1, but for gradients with sums over the batch: 1.4 for a
// scale's, 1.8 for layer norm's.)
AnySize of_any_batch(const Operation &operation, const Shapes &inputs, const Attributes &attributes,
                     const formula::ExactFormulas &exact) {
  const auto extent_of = [](const Shape &shape) { return shape.empty() ? 1 : shape[0]; };
  const int64_t batch = inputs.empty() ? 1 : extent_of(inputs[0].second);
  if (batch == 1) return {};
  const formula::Expression size = formula::size("batch");
  AnySize all;
  for (const auto &[type, shape] : inputs) {
    std::vector<formula::Expression> extents(shape.begin(), shape.end());
    if (extent_of(shape) == batch) extents[0] = size;
    all.inputs.push_back(formula::input("x" + std::to_string(all.inputs.size()), extents, type));
  }
  try {
    all.outputs = results_of(operation, all.inputs, attributes).all;
    const formula::ExactFormulas found =
        exact_formulas(all.inputs, all.outputs, {{size->name, static_cast<double>(batch)}});
    if (found.outputs == exact.outputs &&
        std::equal(found.stages.begin(), found.stages.end(), exact.stages.begin(), exact.stages.end(), say_the_same))
      return all;
  } catch (const std::exception &) {  // it asks for numbers
  }
  return {};
}

Instance instance_of(const Operation &operation, const std::vector<Tensor> &inputs, const Attributes &attributes) {
  if (std::optional<Instance> known = instances().find(operation, inputs, attributes)) return std::move(*known);
  Instance instance = {&operation, {}, attributes, nullptr, {}};
  for (const Tensor &t : inputs) instance.inputs.emplace_back(t.type(), t.shape());
  const auto any_batch = [&operation, shapes = instance.inputs, attributes](const formula::ExactFormulas &exact) {
    return of_any_batch(operation, shapes, attributes, exact);
  };
  ExactResults results = exact_results_of(operation, inputs, attributes);
  const auto times = static_cast<double>(attributes.integer("times", 1));
  instance.computation =
      std::make_shared<const Computation>(std::move(results.formulas), Runs::often, any_batch, times);
  instance.given = std::move(results.given);
  instances().add(instance);
  return instance;
}

}  // namespace

formula::ExactFormulas formulas_of(const Operation &operation, const std::vector<Tensor> &inputs,
                                   const Attributes &attributes) {
  return exact_results_of(operation, inputs, attributes).formulas;
}

std::vector<Tensor> computed_by_formula(const Operation &operation, const std::vector<Tensor> &inputs,
                                        const Attributes &attributes) {
  return (*instance_of(operation, inputs, attributes).computation)(inputs);
}

std::vector<Variable> derived_gradient(const Operation &operation, const Taped &t, const std::vector<Variable> &dy) {
  const auto count = static_cast<int64_t>(t.input_count());
  std::vector<Variable> in;
  std::vector<Tensor> inputs;
  std::vector<int64_t> given, wanted;
  for (int64_t i = 0; i < count; ++i) {
    in.push_back(t.input(static_cast<size_t>(i)));
    inputs.push_back(in.back().value());
    if (t.needs(static_cast<size_t>(i))) wanted.push_back(i);
  }
  const std::vector<int> kept =
      gives(operation, t.attributes()) ? instance_of(operation, inputs, t.attributes()).given : std::vector<int>();
  for (int o : kept) in.push_back(t.output(o));
  for (size_t o = 0; o < dy.size(); ++o)
    if (dy[o].defined()) {
      given.push_back(static_cast<int64_t>(o));
      in.push_back(dy[o]);
    }
  Attributes a = t.attributes();
  a.set(attribute(operation, "inputs"), count);
  a.set(attribute(operation, "kept"), static_cast<int64_t>(kept.size()));
  a.set(attribute(operation, "given"), given);
  a.set(attribute(operation, "wanted"), wanted);
  const std::vector<Variable> found = apply(gradient_operation(operation), in, a);
  std::vector<Variable> all(t.input_count());
  for (size_t i = 0; i < wanted.size(); ++i) all[static_cast<size_t>(wanted[i])] = found.at(i);
  return all;
}

}  // namespace saltern
