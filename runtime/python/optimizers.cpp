// The rows of optimizers and schedules, which runtime/python/saltern/optim gives their names.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "runtime/nn/argument.h"
#include "runtime/optim/averages.h"
#include "runtime/optim/clipping.h"
#include "runtime/optim/lbfgs.h"
#include "runtime/optim/loss_scale.h"
#include "runtime/optim/schedules.h"
#include "runtime/python/bindings.h"

namespace nb = nanobind;

namespace saltern::python {

namespace {

// None is the default, in a list NaN is (options.h).
Attribute attribute(nb::handle value) {
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  if (nb::isinstance<nb::int_>(value)) return nb::cast<int64_t>(nb::int_(value));
  if (!nb::isinstance<nb::list>(value) && !nb::isinstance<nb::tuple>(value)) return nb::cast<double>(nb::float_(value));
  Reals all;
  for (nb::handle each : value)
    all.push_back(each.is_none() ? std::numeric_limits<double>::quiet_NaN() : nb::cast<double>(nb::float_(each)));
  return all;
}

Attributes attributes(const nb::dict &options) {
  Attributes all;
  for (const auto &[key, value] : options) {
    const std::string name = nb::cast<std::string>(key);
    try {
      if (!value.is_none()) all.set(name, attribute(value));
    } catch (const std::exception &) {
      throw nn::ArgumentError("'" + name + "' is a " + nb::cast<std::string>(nb::str(nb::handle(value.type()))) +
                              "; expected numbers, flags or words");
    }
  }
  return all;
}

nb::object object(const Attribute &a) {
  if (const auto *flag = std::get_if<int64_t>(&a)) return nb::bool_(*flag != no);
  if (const auto *number = std::get_if<double>(&a)) return nb::float_(*number);
  if (const auto *numbers = std::get_if<Reals>(&a)) return nb::tuple(nb::cast(*numbers));
  return nb::cast(std::get<std::string>(a));
}

// As help() has it.
nb::tuple described(const Option &o) {
  return nb::make_tuple(o.name, !o.otherwise, o.otherwise ? object(*o.otherwise) : nb::object(nb::none()),
                        o.by_name_only);
}

nb::list described(const Options &options) {
  nb::list all;
  for (const Option &o : options) all.append(described(o));
  return all;
}

nb::list arguments(const OptimizerRow &row) {
  Options all = {row.rate};
  all.insert(all.end(), row.options.begin(), row.options.end());
  return described(all);
}

// By the names that PyTorch has for them.
std::vector<std::string> slot_names(const Update &update, const Variable &p) {
  const OptimizerRow *row = find_optimizer(update.operation);
  std::vector<std::string> all;
  for (const Slot &slot : row->slots(completed(row->name, row->options, update.attributes), p.shape()))
    all.push_back(slot.python);
  return all;
}

std::vector<std::pair<std::string, Variable>> slots(const Update &update, const Variable &p) {
  const std::vector<std::string> names = slot_names(update, p);
  std::vector<std::pair<std::string, Variable>> all;
  for (const auto &[name, tensor] : slots_of(update, p.value())) all.emplace_back(names[all.size()], tensor);
  return all;
}

void apply(const Update &update, const Variable &p, const Variable &gradient, const Variable &rate,
           const Variable &steps, const std::vector<Variable> &slots) {
  std::vector<Tensor> in = {p.value(), Tensor(), rate.value(), steps.value()};
  for (const Variable &s : slots) in.push_back(s.value());
  update_in_place(update, gradient, in);
}

using Lists = std::vector<Reals>;
Lists listed(const std::deque<Reals> &all) { return {all.begin(), all.end()}; }

}  // namespace

void bind_optimizers(nb::module_ &m) {
  nb::class_<Update>(m, "Update")
      .def("slot_names", slot_names)
      .def("slots", slots, "What it keeps for a parameter, by name, as it begins.")
      .def("apply", apply, nb::arg("parameter"), nb::arg("gradient"), nb::arg("rate"), nb::arg("steps"),
           nb::arg("slots"), "Writes over parameter, steps and slots.");
  nb::class_<OptimizerRow>(m, "OptimizerRow")
      .def_ro("name", &OptimizerRow::name)
      .def_prop_ro("arguments", arguments)
      .def("update",
           [](const OptimizerRow &row, const nb::dict &options) { return update_of(row.name, attributes(options)); });
  m.def("optimizers", optimizer_rows, nb::rv_policy::reference);

  const auto options_of = [](const ScheduleRow &row, const nb::dict &given) {
    return completed(row.name, row.options, attributes(given));
  };
  nb::class_<ScheduleRow>(m, "ScheduleRow")
      .def_ro("name", &ScheduleRow::name)
      .def_prop_ro("arguments", [](const ScheduleRow &row) { return described(row.options); })
      .def("at", [=](const ScheduleRow &row, const nb::dict &o, double base,
                     double step) { return row.at(options_of(row, o), base, step); })
      .def("next", [=](const ScheduleRow &row, const nb::dict &o, double base, double now,
                       double step) { return next_rate(row, options_of(row, o), base, now, step); })
      .def("momentum", [=](const ScheduleRow &row, const nb::dict &o, double step) -> std::optional<double> {
        const Attributes a = options_of(row, o);
        if (!row.momentum || a.integer("cycle_momentum") == no) return std::nullopt;
        return row.momentum(a, step);
      });
  m.def("schedules", schedule_rows, nb::rv_policy::reference);

  nb::class_<Plateau>(m, "Plateau")
      .def("__init__", [](Plateau *p, const nb::dict &options) { new (p) Plateau(attributes(options)); })
      .def_static("arguments", [] { return described(Plateau::options()); })
      .def("step", nb::overload_cast<double>(&Plateau::step))
      .def("reduced", &Plateau::reduced)
      .def_rw("best", &Plateau::best)
      .def_rw("bad_epochs", &Plateau::bad_epochs)
      .def_rw("cooling", &Plateau::cooling);

  m.def("total_norm", total_norm, nb::arg("tensors"), nb::arg("order"));
  m.def("scale_gradients", scale_gradients, nb::arg("parameters"), nb::arg("factor"));
  m.def("clip_gradient_value", clip_gradient_value, nb::arg("parameters"), nb::arg("most"));
  m.def(
      "blend_into", [](const Variable &to, const Variable &p, double part) { blend_into(to.value(), p.value(), part); },
      nb::arg("average"), nb::arg("p"), nb::arg("part"));

  nb::class_<LossScale>(m, "LossScale")
      .def("__init__",
           [](LossScale *s, double scale, int64_t growth_steps) {
             new (s) LossScale{scale, growth_steps};
           })
      .def_rw("scale", &LossScale::scale)
      .def_rw("good_steps", &LossScale::good_steps)
      .def("scaled", &LossScale::scaled)
      .def("unscale", &LossScale::unscale);

  nb::class_<Lbfgs::State>(m, "LbfgsState")
      .def_rw("n_iter", &Lbfgs::State::iterations)
      .def_rw("func_evals", &Lbfgs::State::evaluations)
      .def_rw("d", &Lbfgs::State::direction)
      .def_rw("prev_flat_grad", &Lbfgs::State::last_gradient)
      .def_rw("t", &Lbfgs::State::length)
      .def_rw("prev_loss", &Lbfgs::State::last_loss)
      .def_rw("H_diag", &Lbfgs::State::scale)
      .def_prop_rw(
          "old_dirs", [](const Lbfgs::State &s) { return listed(s.changes); },
          [](Lbfgs::State &s, const Lists &all) { s.changes.assign(all.begin(), all.end()); })
      .def_prop_rw(
          "old_stps", [](const Lbfgs::State &s) { return listed(s.steps); },
          [](Lbfgs::State &s, const Lists &all) { s.steps.assign(all.begin(), all.end()); });
  nb::class_<Lbfgs>(m, "Lbfgs")
      .def("__init__", [](Lbfgs *l, const std::vector<Variable> &parameters,
                          const nb::dict &options) { new (l) Lbfgs(parameters, attributes(options)); })
      .def("set_rate", &Lbfgs::set_rate)
      .def("step",
           [](Lbfgs &l, const nb::callable &closure) {
             return l.step([&] { return nb::cast<double>(nb::float_(closure())); });
           })
      .def_ro("state", &Lbfgs::state, nb::rv_policy::reference_internal);
}

}  // namespace saltern::python
