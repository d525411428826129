// The Python module: tensors, their parts and gradients, and what goes wrong.

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "dsl/structure.h"
#include "runtime/autograd/backward.h"
#include "runtime/autograd/batching.h"
#include "runtime/autograd/sparse.h"
#include "runtime/formula/computation.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/layers/indexing.h"
#include "runtime/layers/random_stream.h"
#include "runtime/nn/layer.h"
#include "runtime/nn/types.h"
#include "runtime/python/arrays.h"
#include "runtime/python/bindings.h"

namespace nb = nanobind;

namespace saltern::python {

using nn::ArgumentError;

namespace {

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

// ---- Sparse gradients.

const SparseRows &sparse(const Variable &v) {
  if (!v.sparse()) throw ArgumentError("a dense tensor, " + to_string(v.shape()) + ", has no rows of a sparse one");
  return *v.sparse();
}
const SparseRows &coalesced_rows(const Variable &v) {
  if (!sparse(v).is_coalesced) fail("a sparse tensor has to be coalesced first: coalesce()");
  return sparse(v);
}

// The classes of the stages that a step's formula is made of; none where it has none.
std::set<std::string> classes(const Step &step) {
  std::set<std::string> names;
  formula::Values in;
  for (const Variable &v : step.inputs())
    in.push_back(
        formula::input("x" + std::to_string(in.size()), {v.shape().begin(), v.shape().end()}, v.value().type()));
  if (const Operation &o = step.operation(); o.algorithm)
    for (const formula::Pattern p : formula::classes_of(o.algorithm(in, step.attributes()))) names.insert(name(p));
  return names;
}

std::string text_of(const Variable &v) {
  return std::string(v.sparse() ? "sparse tensor of " : "tensor of ") + std::string(facts(v.type()).name) +
         to_string(v.shape());
}

}  // namespace

NB_MODULE(_saltern, m) {
  share_random_stream();
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
      .def_prop_ro("dtype", [](const Variable &v) { return nn::numpy_name(v.type()); })
      .def_prop_ro("ndim", [](const Variable &v) { return v.rank(); })
      .def_prop_rw("requires_grad", &Variable::requires_gradient,
                   [](Variable &v, bool on) { v.set_requires_gradient(on); })
      .def_prop_ro("is_leaf", &Variable::is_leaf)
      .def_prop_rw(
          "grad",
          [](const Variable &v) { return v.gradient().defined() ? nb::cast(v.gradient()) : nb::object(nb::none()); },
          [](const Variable &v, const std::optional<Variable> &g) { v.set_gradient(g ? *g : Variable()); },
          nb::arg("value").none())
      .def("item",
           [](const Variable &v) -> nb::object {
             const double number = v.value().item();
             if (v.type() == Type::boolean) return nb::cast(number != 0);
             return is_real(v.type()) ? nb::cast(number) : nb::cast(v.value().integers()[0]);
           })
      .def("detach", &Variable::detached)
      .def_prop_ro("is_sparse", [](const Variable &v) { return v.sparse() != nullptr; })
      .def("is_coalesced", [](const Variable &v) { return sparse(v).is_coalesced; })
      .def("indices",
           [](const Variable &v) {
             const std::vector<int64_t> &rows = coalesced_rows(v).rows;
             return Variable(Tensor::of<int64_t>({1, static_cast<int64_t>(rows.size())}, rows));
           })
      .def("values", [](const Variable &v) { return Variable(coalesced_rows(v).values); })
      .def("coalesce", [](const Variable &v) { return of_sparse(v.shape(), coalesced(sparse(v))); })
      .def("to_dense", [](const Variable &v) { return v.sparse() ? Variable(dense(v.shape(), *v.sparse())) : v; })
      .def(
          "copy_",
          [](Variable &v, const Variable &from) -> Variable & {
            v.value().copy_from(from.value());
            v.value().written();
            return v;
          },
          nb::rv_policy::reference)
      .def("_become", [](Variable &v, const Variable &other) { v = other; })
      .def("_convert", [](const Variable &v, const std::string &type) { nn::convert(v, nn::type_named(type)); })
      .def("_outline", text_of)
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
        std::vector<std::pair<std::string, std::set<std::string>>> all;
        for (const auto &step : steps_behind(results)) all.emplace_back(step->operation().name, classes(*step));
        return all;
      },
      "The operations behind results, as far as these were recorded, and the classes of their formulas' stages.");

  nb::class_<NoGradient>(m, "NoGradient").def(nb::init<>());
  nb::class_<Batching>(m, "Batching").def(nb::init<>()).def("compute", &Batching::compute).def("drop", &Batching::drop);

  bind_layers(m);
  bind_metrics(m);
  bind_transforms(m);
  bind_files(m);
  bind_logs(m);
  bind_optimizers(m);
}

}  // namespace saltern::python
