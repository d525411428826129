// What training shows: logs for others to look at.

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "runtime/autograd/variable.h"
#include "runtime/python/bindings.h"
#include "runtime/report/log_writer.h"

namespace nb = nanobind;

namespace saltern::python {

void bind_logs(nb::module_ &m) {
  nb::class_<LogWriter>(m, "LogWriter", "Numbers, histograms and pictures by name and step; open_log() makes one.")
      .def("scalar", &LogWriter::scalar, nb::arg("name"), nb::arg("step"), nb::arg("value"))
      .def(
          "histogram",
          [](LogWriter &log, const std::string &name, int64_t step, const Variable &values) {
            log.histogram(name, step, histogram_of(values.value()));
          },
          nb::arg("name"), nb::arg("step"), nb::arg("values"))
      .def(
          "picture",
          [](LogWriter &log, const std::string &name, int64_t step, const Variable &pixels) {
            log.picture(name, step, pixels.value());
          },
          nb::arg("name"), nb::arg("step"), nb::arg("pixels"))
      .def("graph", &LogWriter::graph, nb::arg("graph"))
      .def("flush", &LogWriter::flush);
  m.def("open_log", open_log, nb::arg("path"), nb::arg("behind") = 0,
        "A CSV file, JSON lines (.jsonl), or else a folder of event files for TensorBoard.");
}

}  // namespace saltern::python
