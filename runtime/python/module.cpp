// The Python module: tensors, and the rows of functions and layers, which runtime/python/saltern/ gives their names.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "runtime/autograd/backward.h"
#include "runtime/nn/layer.h"
#include "runtime/nn/types.h"
#include "runtime/python/bindings.h"

namespace nb = nanobind;

namespace saltern::python {

using nn::Argument;
using nn::ArgumentError;
using nn::Named;

namespace {

// ---- Arrays.

nb::dlpack::dtype dlpack_type(Type type) {
  const TypeFacts &f = facts(type);
  using Code = nb::dlpack::dtype_code;
  const Code code = f.kind == TypeFacts::Kind::boolean          ? Code::Bool
                    : f.storage.code == StoredAs::Code::real    ? Code::Float
                    : f.storage.code == StoredAs::Code::brain   ? Code::Bfloat
                    : f.storage.code == StoredAs::Code::integer ? Code::Int
                                                                : Code::UInt;
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(f.bytes() * 8), 1};
}

Type type_of(const nb::dlpack::dtype &d) {
  for (const TypeFacts &f : all_types())
    if (f.type != Type::text && f.is_arithmetic() && dlpack_type(f.type) == d && d.lanes == 1) return f.type;
  throw ArgumentError("an array of this element type cannot be a tensor");
}

using Array = nb::ndarray<nb::device::cpu>;

// In the memory of the array, which is kept as long as the tensor is.
Tensor shared(const Array &array) {
  Shape shape, strides;
  for (size_t d = 0; d < array.ndim(); ++d) {
    shape.push_back(static_cast<int64_t>(array.shape(d)));
    strides.push_back(array.stride(d));
  }
  auto owner = std::make_shared<Array>(array);
  return Tensor::borrowed(array.data(), shape, type_of(array.dtype()), strides, owner);
}

// What an array that was made from a tensor keeps alive.
nb::ndarray<nb::numpy> numpy(const Tensor &t) {
  if (facts(t.type()).storage.code == StoredAs::Code::brain)
    throw ArgumentError("NumPy has no bfloat16; cast the tensor to float32 first");
  auto *kept = new Tensor(t);
  const nb::capsule owner(kept, [](void *p) noexcept { delete static_cast<Tensor *>(p); });
  std::vector<size_t> shape(t.shape().begin(), t.shape().end());
  return nb::ndarray<nb::numpy>(t.raw(), shape.size(), shape.data(), owner, t.strides().data(), dlpack_type(t.type()));
}

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
  // A function of the table by its name, wherever it comes from.
  if (PyCallable_Check(h.ptr()) && nb::hasattr(h, "__name__")) {
    const auto name = nb::cast<std::string>(h.attr("__name__"));
    if (nn::find_function(name)) return name;
  }
  // A dataclass of options is a list of them.
  if (nb::hasattr(h, "__dataclass_fields__")) return list_of(nb::module_::import_("dataclasses").attr("astuple")(h));
  if (nb::hasattr(h, "__array__")) {
    Array array;
    if (nb::try_cast(h, array)) return Variable(shared(array).clone());
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
    } catch (const Unsupported &e) {
      PyErr_SetString(PyExc_NotImplementedError, e.what());
    } catch (const Error &e) {
      PyErr_SetString(PyExc_ValueError, e.what());
    }
  });

  nb::class_<Variable>(m, "Tensor", nb::dynamic_attr(), "A tensor that remembers how it was computed.")
      .def_prop_ro("shape", [](const Variable &v) { return nb::tuple(nb::cast(v.shape())); })
      .def_prop_ro("dtype", [](const Variable &v) { return nn::numpy_name(v.value().type()); })
      .def_prop_ro("ndim", [](const Variable &v) { return v.value().rank(); })
      .def_prop_ro("requires_grad", &Variable::requires_gradient)
      .def_prop_ro("is_leaf", [](const Variable &v) { return !v.step(); })
      .def_prop_rw(
          "grad", [](const Variable &v) { return v.gradient(); },
          [](const Variable &v, const std::optional<Variable> &g) { v.set_gradient(g ? *g : Variable()); },
          nb::arg("value").none())
      .def(
          "numpy", [](const Variable &v) { return numpy(v.value()); }, "An array in the same memory.")
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
      .def("_identity", [](const Variable &v) { return reinterpret_cast<uintptr_t>(v.identity()); })
      .def(
          "backward",
          [](const Variable &v, const std::optional<Variable> &gradient, bool retain_graph) {
            backward(v, gradient ? *gradient : Variable(), retain_graph ? Tape::keep : Tape::free);
          },
          nb::arg("gradient") = nb::none(), nb::arg("retain_graph") = false);

  m.def(
      "shared", [](const Array &a, bool requires_grad) { return Variable(shared(a), requires_grad); }, nb::arg("array"),
      nb::arg("requires_grad") = false, "A tensor in the memory of an array.");
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
