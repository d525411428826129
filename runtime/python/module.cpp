// The Python module: tensors, and the rows of functions and layers, which runtime/python/saltern/ gives their names.

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "runtime/autograd/backward.h"
#include "runtime/formula/computation.h"
#include "runtime/graph/summary.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/layers/indexing.h"
#include "runtime/nn/layer.h"
#include "runtime/nn/types.h"
#include "runtime/python/arrays.h"
#include "runtime/python/bindings.h"

namespace nb = nanobind;

namespace saltern::python {

using nn::Argument;
using nn::ArgumentError;
using nn::Named;

namespace {

// ---- Arguments and results.

Argument argument(nb::handle h);

Argument::List list_of(nb::handle h) {
  Argument::List all;
  for (nb::handle e : h) all.push_back(argument(e));
  return all;
}

// Modules of saltern.nn that are layers have one of ours inside.
constexpr const char *inner = "_layer";

Argument argument(nb::handle h) {
  if (h.is_none()) return {};
  if (nb::isinstance<nb::bool_>(h)) return nb::cast<bool>(h);
  if (nb::isinstance<nb::int_>(h)) return nb::cast<int64_t>(h);
  if (nb::isinstance<nb::float_>(h)) return nb::cast<double>(h);
  if (nb::isinstance<nb::str>(h)) return nb::cast<std::string>(h);
  if (nb::isinstance<Variable>(h)) return nb::cast<Variable>(h);
  if (nb::isinstance<nn::Layer>(h)) return Argument::Part(nb::cast<std::shared_ptr<nn::Layer>>(h));
  if (nb::hasattr(h, inner)) return argument(h.attr(inner));
  if (nb::isinstance<nb::tuple>(h) || nb::isinstance<nb::list>(h)) return list_of(h);
  // A function or a layer's class by the name that tables have for it, wherever it comes from.
  if (PyCallable_Check(h.ptr()) && nb::hasattr(h, "__name__")) {
    const auto name = nb::cast<std::string>(h.attr("__name__"));
    if (nn::find_function(name) || nn::find_layer(name)) return name;
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

// ---- Parts of a tensor: x[0], x[1:5:2], x[..., None], x[mask], x[rows, columns].

std::optional<int64_t> whole(nb::handle h) {
  if (h.is_none()) return std::nullopt;
  if (!nb::hasattr(h, "__index__")) throw ArgumentError("a part of a tensor begins, ends and steps by integers");
  return nb::cast<int64_t>(h.attr("__index__")());
}

Index index(nb::handle h) {
  if (h.is_none()) return new_axis;
  if (h.ptr() == Py_Ellipsis) return dots;
  if (PySlice_Check(h.ptr()))
    return slice(whole(h.attr("start")), whole(h.attr("stop")), whole(h.attr("step")).value_or(1));
  if (nb::isinstance<Variable>(h)) return nb::cast<Variable>(h);
  if (nb::isinstance<nb::list>(h) || (nb::hasattr(h, "__array__") && nb::cast<int>(h.attr("ndim")) > 0)) {
    nb::object copied = nb::module_::import_("numpy").attr("array")(h);
    if (nb::cast<int64_t>(copied.attr("size")) == 0) copied = copied.attr("astype")("int64");
    return Variable(in_memory_of(copied, "index"));
  }
  if (!nb::hasattr(h, "__index__"))
    throw ArgumentError("an index is a " + nb::cast<std::string>(nb::str(nb::handle(h.type()))) +
                        "; expected integers, parts, None, ... or tensors");
  return *whole(h);
}

Variable part(const Variable &x, nb::handle key) {
  std::vector<Index> all;
  if (nb::isinstance<nb::tuple>(key))
    for (nb::handle k : key) all.push_back(index(k));
  else
    all.push_back(index(key));
  return part_of(x, all);
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

struct Given {
  std::vector<Argument> positional;
  Named named;

  Given(const nb::args &args, const nb::kwargs &kwargs) {
    for (nb::handle h : args) positional.push_back(argument(h));
    for (const auto &[name, value] : kwargs) named[nb::cast<std::string>(name)] = argument(value);
  }
};

// ---- Signatures, for help().

nb::list described(const nn::Signature &s) {
  nb::list all;
  for (const nn::Parameter &p : s.parameters())
    all.append(nb::make_tuple(p.name, p.is_required, object(p.otherwise), p.by_name_only));
  return all;
}

std::string text_of(const Variable &v) {
  return std::string("tensor of ") + std::string(facts(v.value().type()).name) + to_string(v.shape());
}

}  // namespace

NB_MODULE(_saltern, m) {
  nb::register_exception_translator([](const std::exception_ptr &p, void *) {
    try {
      std::rethrow_exception(p);
    } catch (const ArgumentError &e) {
      PyErr_SetString(PyExc_TypeError, e.what());
    } catch (const FileError &e) {
      PyErr_SetString(PyExc_OSError, e.what());
    } catch (const BadIndex &e) {
      PyErr_SetString(PyExc_IndexError, e.what());
    } catch (const Unsupported &e) {
      PyErr_SetString(PyExc_NotImplementedError, e.what());
    } catch (const Error &e) {
      PyErr_SetString(PyExc_ValueError, e.what());
    }
  });

  nb::class_<Variable> tensor(m, "Tensor", nb::dynamic_attr(), "A tensor that remembers how it was computed.");
  tensor.def_prop_ro("shape", [](const Variable &v) { return nb::tuple(nb::cast(v.shape())); })
      .def_prop_ro("dtype", [](const Variable &v) { return nn::numpy_name(v.value().type()); })
      .def_prop_ro("ndim", [](const Variable &v) { return v.value().rank(); })
      .def_prop_ro("requires_grad", &Variable::requires_gradient)
      .def_prop_ro("is_leaf", [](const Variable &v) { return !v.step(); })
      .def_prop_rw(
          "grad",
          [](const Variable &v) { return v.gradient().defined() ? nb::cast(v.gradient()) : nb::object(nb::none()); },
          [](const Variable &v, const std::optional<Variable> &g) { v.set_gradient(g ? *g : Variable()); },
          nb::arg("value").none())
      .def("item", [](const Variable &v) { return nb::cast(v.value().item()); })
      .def("detach", &Variable::detached)
      .def(
          "copy_",
          [](Variable &v, const Variable &from) -> Variable & {
            v.value().copy_from(from.value());
            v.value().written();
            return v;
          },
          nb::rv_policy::reference)
      .def("__repr__", text_of)
      .def("__getitem__", part, nb::arg("key").none())
      .def(
          "requires_grad_", [](nb::object v, bool on) { return nb::cast<Variable &>(v).set_requires_gradient(on), v; },
          nb::arg("requires_grad") = true)
      .def("_identity", [](const Variable &v) { return reinterpret_cast<uintptr_t>(v.identity()); })
      .def(
          "backward",
          [](const Variable &v, const std::optional<Variable> &gradient, bool retain_graph) {
            backward(v, gradient ? *gradient : Variable(), retain_graph ? Tape::keep : Tape::free);
          },
          nb::arg("gradient") = nb::none(), nb::arg("retain_graph") = false);

  bind_arrays(m, tensor);
  m.def("leaf", [](const Variable &v, bool requires_grad) { return Variable(v.value(), requires_grad); });
  m.def(
      "gradients",
      [](const std::vector<Variable> &ys, const std::vector<Variable> &xs, const std::vector<Variable> &dys,
         bool create_graph, bool retain_graph) {
        GradientOptions options;
        options.create_graph = create_graph;
        options.tape = retain_graph ? Tape::keep : Tape::free;
        nb::list all;
        for (const Variable &d : gradients(ys, xs, dys, options))
          all.append(d.defined() ? nb::cast(d) : nb::object(nb::none()));
        return all;
      },
      nb::arg("outputs"), nb::arg("inputs"), nb::arg("grad_outputs"), nb::arg("create_graph"), nb::arg("retain_graph"));
  m.def("manual_seed", &nn::manual_seed);
  m.def("get_num_threads", threads, "How many threads kernels run on.");
  m.def("set_num_threads", set_threads, nb::arg("count"));
  m.def(
      "computation_counts",
      [] {
        const ComputationCounts c = computation_counts();
        return std::map<std::string, int64_t>{
            {"library", c.library}, {"just_in_time", c.just_in_time}, {"interpreter", c.interpreter}};
      },
      "How many formulas were computed by whom.");
  m.def(
      "operations",
      [](const std::vector<Variable> &results) {
        std::vector<std::string> names;
        for (const auto &step : steps_behind(results)) names.push_back(step->operation().name);
        return names;
      },
      "The names of the operations behind results, as far as these were recorded.");

  nb::class_<NoGradient>(m, "NoGradient").def(nb::init<>());

  bind_files(m);

  nb::class_<nn::Function>(m, "Function")
      .def_prop_ro("name", &nn::Function::name)
      .def_prop_ro("arguments", [](const nn::Function &f) { return described(f.signature()); })
      .def_prop_ro("signature", [](const nn::Function &f) { return f.signature().text(); })
      .def_prop_ro("is_formula", [](const nn::Function &f) { return f.operation() != nullptr; })
      .def("__call__", [](const nn::Function &f, const nb::args &args, const nb::kwargs &kwargs) {
        const Given given(args, kwargs);
        return object(f.call(given.positional, given.named));
      });
  m.def("functions", &nn::all_functions, nb::rv_policy::reference);

  nb::class_<nn::Layer>(m, "Layer")
      .def_prop_ro("name", [](const nn::Layer &l) { return l.row().name(); })
      .def("made_with",
           [](const nn::Layer &l) {
             nb::dict all;
             const auto &parameters = l.made_with().signature().parameters();
             for (size_t i = 0; i < parameters.size(); ++i)
               all[parameters[i].name.c_str()] = object(l.made_with().values()[i]);
             return all;
           })
      .def("__call__",
           [](nn::Layer &l, const nb::args &args, const nb::kwargs &kwargs) {
             const Given given(args, kwargs);
             return object(l.call(given.positional, given.named));
           })
      .def("convert", [](nn::Layer &l, const std::string &type) { nn::convert(l, nn::type_named(type)); })
      .def("set_parameters",
           [](nn::Layer &l, const std::map<std::string, Variable> &all) { nn::set_parameters(l, all); })
      .def("__deepcopy__", [](nn::Layer &l, const nb::dict &) { return l.cloned(); })
      .def("train", [](nn::Layer &l, bool on) { l.train(on); })
      .def_prop_ro("training", &nn::Layer::training)
      .def("options", &nn::Layer::options)
      .def("parameters", [](nn::Layer &l) { return l.named_parameters(); })
      .def("state",
           [](nn::Layer &l) {
             std::vector<std::pair<std::string, Variable>> all;
             for (const auto &[name, t] : l.state()) all.emplace_back(name, Variable(t));
             return all;
           })
      .def("own",
           [](const nn::Layer &l, const std::string &name) {
             Argument found;
             const bool is_there = l.find(name, found);
             return nb::make_tuple(is_there, object(found));
           })
      .def("part", [](nn::Layer &l, const std::string &name) { return l.find_part(name); });

  nb::class_<Summary>(m, "Summary")
      .def(nb::init<>())
      .def("begin", &Summary::begin)
      .def("end", &Summary::end)
      .def_prop_ro("rows",
                   [](const Summary &s) {
                     nb::list all;
                     for (const Summary::Row &r : s.rows()) {
                       nb::dict row;
                       row["name"] = r.name;
                       row["kind"] = r.kind;
                       row["result"] = nb::tuple(nb::cast(r.result));
                       row["parameters"] = r.parameters;
                       row["flops"] = r.flops;
                       row["bytes"] = r.bytes;
                       all.append(row);
                     }
                     return all;
                   })
      .def("__repr__", &Summary::text);

  nb::class_<nn::LayerRow>(m, "LayerRow")
      .def_prop_ro("name", &nn::LayerRow::name)
      .def_prop_ro("made_with", [](const nn::LayerRow &r) { return described(r.made_with()); })
      .def_prop_ro("called_with", [](const nn::LayerRow &r) { return described(r.called_with()); })
      .def_prop_ro("signature", [](const nn::LayerRow &r) { return r.made_with().text(); })
      .def("make", [](const nn::LayerRow &r, const nb::args &args, const nb::kwargs &kwargs) {
        const Given given(args, kwargs);
        return std::make_shared<nn::Layer>(r.make(given.positional, given.named));
      });
  m.def("layers", &nn::all_layers, nb::rv_policy::reference);
}

}  // namespace saltern::python
