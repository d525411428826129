#include "runtime/python/arguments.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "runtime/metrics/metric.h"
#include "runtime/nn/layer.h"
#include "runtime/python/arrays.h"
#include "runtime/transforms/transform.h"

namespace saltern::python {

using nn::Argument;
using nn::ArgumentError;

namespace {

Argument::List list_of(nb::handle h) {
  Argument::List all;
  for (nb::handle e : h) all.push_back(argument(e));
  return all;
}

// Modules of saltern.nn that are layers have one of ours inside, and so have transforms.
constexpr const char *inner = "_layer";

}  // namespace

Argument argument(nb::handle h) {
  if (h.is_none()) return {};
  if (nb::isinstance<nb::bool_>(h)) return nb::cast<bool>(h);
  if (nb::isinstance<nb::int_>(h)) return nb::cast<int64_t>(h);
  if (nb::isinstance<nb::float_>(h)) return nb::cast<double>(h);
  if (nb::isinstance<nb::str>(h)) return nb::cast<std::string>(h);
  if (nb::isinstance<Variable>(h)) return nb::cast<Variable>(h);
  if (nb::isinstance<nn::Layer>(h)) return Argument::Part(nb::cast<std::shared_ptr<nn::Layer>>(h));
  if (nb::isinstance<transforms::Transform>(h))
    return Argument::Part(nb::cast<std::shared_ptr<transforms::Transform>>(h));
  if (nb::hasattr(h, inner)) return argument(h.attr(inner));
  if (nb::isinstance<nb::tuple>(h) || nb::isinstance<nb::list>(h)) return list_of(h);
  if (nb::isinstance<nb::dict>(h)) return list_of(h.attr("items")());
  // A function, a metric or a layer's class by the name that tables have for it, wherever it comes from.
  if (PyCallable_Check(h.ptr()) && nb::hasattr(h, "__name__")) {
    const auto name = nb::cast<std::string>(h.attr("__name__"));
    if (nn::find_function(name) || nn::find_layer(name) || metrics::find_metric(name)) return name;
  }
  // A dataclass of options is a list of them.
  if (nb::hasattr(h, "__dataclass_fields__")) return list_of(nb::module_::import_("dataclasses").attr("astuple")(h));
  if (nb::hasattr(h, "__array__")) {
    if (const auto copied = copy_of(h)) return Variable(*copied);
  }
  if (nb::hasattr(h, "__index__")) return nb::cast<int64_t>(h.attr("__index__")());
  if (nb::hasattr(h, "__float__")) return nb::cast<double>(h.attr("__float__")());
  if (nb::hasattr(h, "__iter__")) return list_of(h);
  throw ArgumentError("an argument is a " + nb::cast<std::string>(nb::str(nb::handle(h.type()))) +
                      "; expected None, a number, a word, a tensor, a layer, or a list of them");
}

nb::object object(const Argument &a) {
  if (const auto *b = a.as<bool>()) return nb::cast(*b);
  if (const auto *i = a.as<int64_t>()) return nb::cast(*i);
  if (const auto *d = a.as<double>()) return nb::cast(*d);
  if (const auto *w = a.as<std::string>()) return nb::cast(*w);
  if (const auto *v = a.as<Variable>()) return nb::cast(*v);
  if (const auto *list = a.as<Argument::List>()) {
    nb::list all;
    for (const Argument &e : *list) all.append(object(e));
    return nb::tuple(all);
  }
  if (const auto *m = a.as<Argument::Part>())
    if (auto layer = std::dynamic_pointer_cast<nn::Layer>(*m)) return nb::cast(layer);
  return nb::none();
}

nb::list described(const nn::Signature &s) {
  nb::list all;
  for (const nn::Parameter &p : s.parameters())
    all.append(nb::make_tuple(p.name, p.is_required, object(p.otherwise), p.by_name_only));
  return all;
}

Given::Given(const nb::args &args, const nb::kwargs &kwargs) {
  for (nb::handle h : args) positional.push_back(argument(h));
  for (const auto &[name, value] : kwargs) named[nb::cast<std::string>(name)] = argument(value);
}

}  // namespace saltern::python
