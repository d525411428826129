// The rows of metrics, which runtime/python/saltern/metrics gives their names.

#include "runtime/metrics/metric.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "runtime/python/arguments.h"
#include "runtime/python/bindings.h"

namespace saltern::python {

using metrics::Metric;
using metrics::MetricRow;

void bind_metrics(nb::module_ &m) {
  nb::class_<Metric>(m, "Metric")
      .def_prop_ro("name", &Metric::name)
      .def("options",
           [](const Metric &metric) {
             nb::dict all;
             const auto &parameters = metric.options().signature().parameters();
             for (size_t i = 0; i < parameters.size(); ++i)
               all[parameters[i].name.c_str()] = object(metric.options().values()[i]);
             return all;
           })
      .def_prop_ro("is_updated", &Metric::is_updated)
      .def("update",
           [](Metric &metric, const nb::args &args, const nb::kwargs &kwargs) {
             const Given given(args, kwargs);
             metric.update(given.positional, given.named);
           })
      .def("step",
           [](Metric &metric, const nb::args &args, const nb::kwargs &kwargs) {
             const Given given(args, kwargs);
             return object(metric.step(given.positional, given.named));
           })
      .def("compute", [](const Metric &metric) { return object(metric.compute()); })
      .def("reset", &Metric::reset)
      .def("merge", &Metric::merge)
      .def("copy", [](const Metric &metric) { return metric; })
      .def("state",
           [](const Metric &metric) {
             std::map<std::string, Variable> all;
             for (const auto &[name, t] : metric.state()) all[name] = t;
             return all;
           })
      .def("set_state", [](Metric &metric, const std::map<std::string, Variable> &state) {
        std::map<std::string, Tensor> all;
        for (const auto &[name, v] : state) all[name] = v.value();
        metric.set_state(all);
      });

  nb::class_<MetricRow>(m, "MetricRow")
      .def_prop_ro("name", &MetricRow::name)
      .def_prop_ro("function", &MetricRow::function)
      .def_prop_ro("made_with", [](const MetricRow &r) { return described(r.made_with()); })
      .def_prop_ro("updated_with", [](const MetricRow &r) { return described(r.updated_with()); })
      .def_prop_ro("called_with", [](const MetricRow &r) { return described(r.called_with()); })
      .def("make",
           [](const MetricRow &r, const nb::args &args, const nb::kwargs &kwargs) {
             const Given given(args, kwargs);
             return Metric(r, given.positional, given.named);
           })
      .def("call", [](const MetricRow &r, const nb::args &args, const nb::kwargs &kwargs) {
        const Given given(args, kwargs);
        return object(r.call(given.positional, given.named));
      });
  m.def("metrics", &metrics::all_metrics, nb::rv_policy::reference);
}

}  // namespace saltern::python
