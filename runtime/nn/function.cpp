#include "runtime/nn/function.h"

#include "runtime/nn/table.h"

namespace saltern::nn {

namespace {

// Which arguments of an application of a formula are tensors, in the order of its inputs.
constexpr const char *tensors = "tensors";

Attribute attribute_of(const Arguments &a, const std::string &name) {
  const Argument &value = a[name];
  if (const auto *b = value.as<bool>()) return int64_t{*b};
  if (const auto *i = value.as<int64_t>()) return *i;
  if (const auto *d = value.as<double>()) return *d;
  if (const auto *w = value.as<std::string>()) return *w;
  const auto *list = value.as<Argument::List>();
  if (!list) a.refuse(name, "a number, a word, a tensor, or a list of numbers");
  for (const Argument &e : *list)
    if (e.as<double>()) return a.reals(name);
  return a.integers(name);
}

Argument argument_of(const Attribute &a) {
  if (const auto *i = std::get_if<int64_t>(&a)) return *i;
  if (const auto *d = std::get_if<double>(&a)) return *d;
  if (const auto *w = std::get_if<std::string>(&a)) return *w;
  if (const auto *list = std::get_if<std::vector<double>>(&a)) return Argument::List(list->begin(), list->end());
  return std::get<std::vector<int64_t>>(a);
}

// Behind its results, an operation gives what its gradient needs.
Argument apply_formula(const Operation &operation, const Arguments &a, size_t count) {
  std::vector<Variable> inputs;
  std::vector<std::string> names;
  Attributes attributes;
  for (const Parameter &p : a.signature().parameters()) {
    if (const auto *v = a[p.name].as<Variable>()) {
      inputs.push_back(*v);
      names.push_back(p.name);
    } else if (a.has(p.name)) {
      attributes.set(p.name, attribute_of(a, p.name));
    }
  }
  attributes.set(tensors, names);
  std::vector<Variable> results = apply(operation, inputs, attributes);
  if (count == 1) return results.at(0);
  results.resize(count);
  return results;
}

Operation::Algorithm algorithm_of(const Function &function, const ByFormula &formula) {
  return [&function, of = formula.of](const Values &in, const Attributes &a) -> Values {
    const Signature &signature = function.signature();
    std::vector<Argument> values(signature.parameters().size());
    for (const auto &[name, attribute] : a)
      if (const size_t i = signature.find(name); i < values.size()) values[i] = argument_of(attribute);
    size_t next = 0;
    for (const std::string &name : a.words(tensors)) values.at(signature.find(name)) = in.at(next++);
    return of(Arguments(signature, function.name(), std::move(values)));
  };
}

}  // namespace

Call::Call(std::initializer_list<const Given *> all) {
  for (const Given *g : all) {
    if (!g->is_given) continue;
    if (!g->name.empty())
      named[std::string(g->name)] = g->value;
    else if (named.empty())
      positional.push_back(g->value);
    else
      throw ArgumentError("an argument by place, " + to_string(g->value) + ", stands behind one by name");
  }
}

Function::Function(std::string name, const std::string &signature, Body body)
    : name_(std::move(name)), signature_(signature), body_(std::move(body)) {
  table<Function>().add(*this);
}

Function::Function(std::string name, const std::string &signature, const ByFormula &formula, const Body &first)
    : name_(std::move(name)),
      signature_(signature),
      operation_(
          std::make_unique<const Operation>(first ? name_ + "_by_formula" : name_, algorithm_of(*this, formula))),
      body_([this, first, count = formula.results](const Arguments &a) {
        const Argument result = first ? first(a) : Argument();
        return result.is_none() ? apply_formula(*operation_, a, count) : result;
      }) {
  table<Function>().add(*this);
}

Argument Function::operator()(const Arguments &a) const {
  if (!body_) fail("a function was called before main(), when it was not made yet");
  return body_(a);
}

const Function *find_function(std::string_view name) { return table<Function>().find(name); }
std::vector<const Function *> all_functions() { return table<Function>().all(); }

Argument call(const std::string &name, const std::vector<Argument> &positional, const Named &named) {
  return table<Function>().expect(name, "function").call(positional, named);
}

}  // namespace saltern::nn
