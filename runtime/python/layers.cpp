// The rows of functions and layers, which runtime/python/saltern/ gives their names, and tables of what nets cost.

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <sstream>

#include "runtime/graph/summary.h"
#include "runtime/nn/layer.h"
#include "runtime/nn/types.h"
#include "runtime/python/arguments.h"
#include "runtime/python/bindings.h"

namespace saltern::python {

using nn::Argument;

void bind_layers(nb::module_ &m) {
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
      .def("__repr__",
           [](nn::Layer &l) {
             std::ostringstream text;
             text << l;
             return text.str();
           })
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
