// The Python module saltern._compiler: graphs compiled for their exact shapes. Whoever imports it has formulas compiled
// just in time, too, as a program has that links Saltern::compiler.

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "generators/model/compiled_graph.h"
#include "runtime/autograd/variable.h"

namespace nb = nanobind;

namespace saltern::generators {

namespace {

using Variables = std::map<std::string, Variable>;

void compile(CompiledGraph *at, const Graph &graph, int threads) {
  const nb::gil_scoped_release others_may_run;
  new (at) CompiledGraph(graph, threads);
}

Variables run(const CompiledGraph &compiled, const Variables &inputs) {
  std::map<std::string, Tensor> given;
  for (const auto &[name, v] : inputs) given[name] = v.value();
  Variables made;
  for (const auto &[name, t] : compiled.run(given)) made.emplace(name, Variable(t));
  return made;
}

}  // namespace

NB_MODULE(_compiler, m) {
  nb::module_::import_("saltern._saltern");  // which knows tensors, graphs and errors
  nb::class_<CompiledGraph>(m, "CompiledGraph")
      .def("__init__", compile, nb::arg("graph"), nb::arg("threads"))
      .def("run", run, nb::arg("inputs"));
}

}  // namespace saltern::generators
