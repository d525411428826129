#include "runtime/nn/written_options.h"

namespace saltern::nn {

namespace {

Attribute attribute_of(const WrittenCall &call, const std::string &name, const Argument &a) {
  if (const auto *truth = a.as<bool>()) return *truth ? yes : no;
  if (const auto *whole = a.as<int64_t>()) return *whole;
  if (const auto *real = a.as<double>()) return *real;
  if (const auto *word = a.as<std::string>()) return *word;
  const auto *list = a.as<Argument::List>();
  Reals all;
  for (const Argument &e : list ? *list : Argument::List{Argument()}) {
    const auto *whole = e.as<int64_t>();
    const auto *real = e.as<double>();
    if (!whole && !real) fail(call.name, ": '", name, "' is ", to_string(a), "; expected numbers, a flag or a word");
    all.push_back(real ? *real : static_cast<double>(*whole));
  }
  return all;
}

}  // namespace

Attributes written_options(const WrittenCall &call, const Options &options) {
  if (call.positional.size() > options.size())
    fail(call.name, " has ", options.size(), " options; ", call.positional.size(), " were given");
  Attributes all;
  const auto set = [&](const std::string &name, const Argument &a) {
    if (all.has(name)) fail(call.name, ": '", name, "' was given twice");
    if (!a.is_none()) all.set(name, attribute_of(call, name, a));
  };
  for (size_t i = 0; i < call.positional.size(); ++i) set(options[i].name, call.positional[i]);
  for (const auto &[name, a] : call.named) set(name, a);
  return all;
}

}  // namespace saltern::nn
