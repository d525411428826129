// What training shows: logs for others to look at.

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "runtime/autograd/variable.h"
#include "runtime/files/file.h"
#include "runtime/layers/random_stream.h"
#include "runtime/python/bindings.h"
#include "runtime/report/html_report.h"
#include "runtime/report/log_writer.h"
#include "runtime/training/callback.h"

namespace nb = nanobind;

namespace saltern::python {

namespace {

using Pictures = std::vector<std::pair<std::optional<Variable>, std::string>>;
using Layers = std::vector<std::tuple<std::string, std::string, std::string, int64_t, int64_t, double>>;

std::vector<HtmlReport::Picture> pictures(const Pictures &given) {
  std::vector<HtmlReport::Picture> all;
  for (const auto &[pixels, caption] : given) all.push_back({pixels ? pixels->value() : Tensor(), caption});
  return all;
}

void write_report(const std::string &path, const std::string &title,
                  const std::vector<std::pair<std::string, std::string>> &facts,
                  const std::map<std::string, std::vector<double>> &history, const std::vector<std::string> &classes,
                  const std::vector<std::vector<int64_t>> &confusion, const Pictures &filters, const Pictures &mistakes,
                  const Pictures &activations, const Layers &layers) {
  HtmlReport report = {title,
                       facts,
                       epoch_curves(history),
                       classes,
                       confusion,
                       pictures(filters),
                       pictures(mistakes),
                       pictures(activations),
                       {}};
  for (const auto &[name, kind, result, parameters, bytes, milliseconds] : layers)
    report.layers.push_back({name, kind, result, parameters, bytes, milliseconds});
  write_atomically(path, to_html(report));
}

}  // namespace

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
  m.def("write_report", write_report);
  m.def("is_to_be_high", [](const std::string &name) { return Monitor{name}.is_high(); });
  m.def(
      "random_stream", [] { return Variable(random_stream()); },
      "Seed and position of what functions draw, in the stream's own memory.");
}

}  // namespace saltern::python
