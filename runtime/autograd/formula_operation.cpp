#include "runtime/autograd/formula_operation.h"

#include <list>
#include <map>
#include <mutex>

#include "dsl/derivative.h"
#include "runtime/formula/evaluate_values.h"

namespace saltern {

namespace {

// ---- Formulas are made once for a shape.

struct Instance {
  const Operation *operation;
  std::vector<std::pair<Type, Shape>> inputs;
  Attributes attributes;
  std::shared_ptr<const formula::ExactFormulas> formulas;

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
  std::shared_ptr<const formula::ExactFormulas> find(const Operation &o, const std::vector<Tensor> &in,
                                                     const Attributes &a) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto at = all_.begin(); at != all_.end(); ++at)
      if (at->is_of(o, in, a)) {
        all_.splice(all_.begin(), all_, at);
        return at->formulas;
      }
    return nullptr;
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
  const Values x(in.begin(), in.begin() + count), y = of.algorithm(x, a);
  Values seeds(y.size()), wanted;
  auto next = in.begin() + count;
  for (int64_t o : a.integers(attribute(of, "given"))) seeds.at(static_cast<size_t>(o)) = *next++;
  for (int64_t i : a.integers(attribute(of, "wanted"))) wanted.push_back(x.at(static_cast<size_t>(i)));
  return gradient(y, seeds, wanted);
}

const Operation &gradient_operation(const Operation &of) {
  static std::mutex mutex;
  static auto *known = new std::map<const Operation *, std::unique_ptr<const Operation>>;
  const std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<const Operation> &row = (*known)[&of];
  if (!row)
    row = std::make_unique<const Operation>(
        of.name + ".gradient",
        Operation::Algorithm([&of](const Values &in, const Attributes &a) { return derived(of, in, a); }));
  return *row;
}

}  // namespace

formula::ExactFormulas formulas_of(const Operation &operation, const std::vector<Tensor> &inputs,
                                   const Attributes &attributes) {
  Values in;
  for (size_t i = 0; i < inputs.size(); ++i)
    in.push_back(formula::input("x" + std::to_string(i), {inputs[i].shape().begin(), inputs[i].shape().end()},
                                inputs[i].type()));
  try {
    return formula::exact_formulas(in, operation.algorithm(in, attributes));
  } catch (const std::exception &e) {
    std::string shapes;
    for (const Tensor &t : inputs)
      shapes += (shapes.empty() ? "" : ", ") + std::string(facts(t.type()).name) + to_string(t.shape());
    fail("operation '", operation.name, "' of ", shapes, ": ", e.what());
  }
}

std::vector<Tensor> computed_by_formula(const Operation &operation, const std::vector<Tensor> &inputs,
                                        const Attributes &attributes) {
  std::shared_ptr<const formula::ExactFormulas> formulas = instances().find(operation, inputs, attributes);
  if (!formulas) {
    formulas = std::make_shared<const formula::ExactFormulas>(formulas_of(operation, inputs, attributes));
    Instance instance = {&operation, {}, attributes, formulas};
    for (const Tensor &t : inputs) instance.inputs.emplace_back(t.type(), t.shape());
    instances().add(std::move(instance));
  }
  return evaluate(*formulas, inputs);
}

std::vector<Variable> derived_gradient(const Operation &operation, const Taped &t, const std::vector<Variable> &dy) {
  const auto count = static_cast<int64_t>(t.input_count());
  std::vector<Variable> in;
  std::vector<int64_t> given, wanted;
  for (int64_t i = 0; i < count; ++i) {
    in.push_back(t.input(static_cast<size_t>(i)));
    if (t.needs(static_cast<size_t>(i))) wanted.push_back(i);
  }
  for (size_t o = 0; o < dy.size(); ++o)
    if (dy[o].defined()) {
      given.push_back(static_cast<int64_t>(o));
      in.push_back(dy[o]);
    }
  Attributes a = t.attributes();
  a.set(attribute(operation, "inputs"), count);
  a.set(attribute(operation, "given"), given);
  a.set(attribute(operation, "wanted"), wanted);
  const std::vector<Variable> found = apply(gradient_operation(operation), in, a);
  std::vector<Variable> all(t.input_count());
  for (size_t i = 0; i < wanted.size(); ++i) all[static_cast<size_t>(wanted[i])] = found.at(i);
  return all;
}

}  // namespace saltern
