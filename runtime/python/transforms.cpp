// The rows of transforms, which runtime/python/saltern/transforms.py gives their names.

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "runtime/nn/layer.h"
#include "runtime/python/arguments.h"
#include "runtime/python/bindings.h"
#include "runtime/transforms/transform.h"

namespace saltern::python {

using transforms::Transform;
using transforms::TransformRow;

void bind_transforms(nb::module_ &m) {
  nb::class_<Transform>(m, "Transform")
      .def("options",
           [](const Transform &t) {
             std::string text;
             const auto &parameters = t.made_with().signature().parameters();
             for (size_t i = 0; i < parameters.size(); ++i)
               text += (i > 0 ? ", " : "") + parameters[i].name + "=" + to_string(t.made_with().values()[i]);
             return text;
           })
      .def("__call__", [](const Transform &t, const nb::args &args, const nb::kwargs &kwargs) {
        const Given given(args, kwargs);
        return object(t.call(nn::random_numbers(), given.positional, given.named));
      });
  nb::class_<TransformRow>(m, "TransformRow")
      .def_ro("name", &TransformRow::name)
      .def_prop_ro("made_with", [](const TransformRow &r) { return described(r.made_with); })
      .def("make", [](const TransformRow &r, const nb::args &args, const nb::kwargs &kwargs) {
        const Given given(args, kwargs);
        return std::make_shared<Transform>(r, given.positional, given.named);
      });
  m.def("transforms", transforms::transform_rows, nb::rv_policy::reference);
}

}  // namespace saltern::python
