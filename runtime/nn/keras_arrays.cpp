// Keras' ops that make tensors, and that move their parts, where PyTorch has them not or otherwise: rows `keras.NAME`, with
// Keras' arguments.

#include <cmath>

#include "runtime/layers/binary.h"
#include "runtime/layers/movement.h"
#include "runtime/layers/unary.h"
#include "runtime/nn/composed.h"
#include "runtime/nn/families.h"
#include "runtime/nn/promotion.h"

namespace saltern::nn {

namespace {

Type type_or(const Arguments &a, Type otherwise) { return a.has("dtype") ? type_named(a.word("dtype")) : otherwise; }
bool is_whole(const Argument &a) { return a.as<int64_t>() != nullptr; }

Tensor typed(const Shape &shape, const std::vector<double> &values, Type type) {
  return to_type(Tensor::of<double>(shape, values), type).value();
}

// ---- Of one number, and of ones about a diagonal.

Function::Body filled(double value) {
  return [value](const Arguments &a) -> Argument {
    return Tensor::full(a.integers("shape"), value, type_or(a, Type::f32));
  };
}
Function::Body filled_like(double value) {
  return [value](const Arguments &a) -> Argument {
    const Variable x = a.variable("x");
    return Tensor::full(x.shape(), value, type_or(a, x.value().type()));
  };
}

// Ones at columns from row + k to row + k, or from the first on.
Argument about_diagonal(const Arguments &a, int64_t rows, int64_t columns, int64_t k, bool below) {
  std::vector<double> all;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) all.push_back(j == i + k || (below && j < i + k) ? 1 : 0);
  return typed({rows, columns}, all, type_or(a, Type::f32));
}
Function::Body triangle(bool below) {
  return [below](const Arguments &a) -> Argument {
    const int64_t n = a.integer("N");
    return about_diagonal(a, n, a.has("M") ? a.integer("M") : n, a.integer("k"), below);
  };
}

const Function made[] = {
    {"keras.zeros", "shape, dtype=None", filled(0)},
    {"keras.ones", "shape, dtype=None", filled(1)},
    {"keras.empty", "shape, dtype=None", filled(0)},
    {"keras.full", "shape, fill_value, dtype=None",
     [](const Arguments &a) -> Argument {
       return to_type(composed("broadcast_to", {a.variable("fill_value"), a["shape"]}), type_or(a, Type::f32));
     }},
    {"keras.zeros_like", "x, dtype=None", filled_like(0)},
    {"keras.ones_like", "x, dtype=None", filled_like(1)},
    {"keras.empty_like", "x, dtype=None", filled_like(0)},
    {"keras.full_like", "x, fill_value, dtype=None",
     [](const Arguments &a) -> Argument {
       const Variable x = a.variable("x");
       return to_type(composed("broadcast_to", {a.variable("fill_value"), x.shape()}), type_or(a, x.value().type()));
     }},
    {"keras.eye", "N, M=None, k=0, dtype=None", triangle(false)},
    {"keras.tri", "N, M=None, k=0, dtype=None", triangle(true)},
    {"keras.identity", "n, dtype=None",
     [](const Arguments &a) -> Argument { return about_diagonal(a, a.integer("n"), a.integer("n"), 0, false); }},
    {"keras.arange", "start, stop=None, step=None, dtype=None",
     [](const Arguments &a) -> Argument {
       const double first = a.has("stop") ? a.real("start") : 0, end = a.real(a.has("stop") ? "stop" : "start");
       const double step = a.has("step") ? a.real("step") : 1;
       if (step == 0) a.refuse("step", "any number but 0");
       const bool whole =
           is_whole(a["start"]) && (is_whole(a["stop"]) || !a.has("stop")) && (is_whole(a["step"]) || !a.has("step"));
       std::vector<double> all;
       for (int64_t i = 0; i < static_cast<int64_t>(std::ceil((end - first) / step)); ++i)
         all.push_back(first + static_cast<double>(i) * step);
       return typed({static_cast<int64_t>(all.size())}, all, type_or(a, whole ? Type::i32 : Type::f32));
     }},
};

// ---- Between two ends, which may be tensors, along a new axis.

struct Spaced {
  Variable values, step;
};
Spaced spaced(const Arguments &a, const Variable &start, const Variable &stop) {
  const int64_t count = a.integer("num");
  if (count < 0) a.refuse("num", "at least 0");
  const double parts = static_cast<double>(count - (a.flag("endpoint") ? 1 : 0));
  const Variable step = (stop - start) / std::max(parts, 1.0);
  Shape shape(step.shape().size() + 1, 1);
  shape[0] = count;
  std::vector<double> all;
  for (int64_t i = 0; i < count; ++i) all.push_back(static_cast<double>(i));
  const Variable steps = typed(shape, all, step.value().type());
  return {composed("movedim", {start + steps * step, 0, a["axis"]}), step};
}
Variable end_of(const Arguments &a, const char *name) { return as_real(a.variable(name)); }
Variable in_its_type(const Arguments &a, const Variable &y) { return to_type(y, type_or(a, y.value().type())); }
const char *const of_spaces = "start, stop, num=50, endpoint=True, dtype=None, axis=0";

const Function between[] = {
    {"keras.linspace", "start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0",
     [](const Arguments &a) -> Argument {
       const Spaced s = spaced(a, end_of(a, "start"), end_of(a, "stop"));
       const Variable y = in_its_type(a, s.values);
       return a.flag("retstep") ? Argument(Argument::List{y, s.step}) : Argument(y);
     }},
    {"keras.geomspace", of_spaces,
     [](const Arguments &a) -> Argument {
       return in_its_type(a, exp(spaced(a, log(end_of(a, "start")), log(end_of(a, "stop"))).values));
     }},
    {"keras.logspace", "start, stop, num=50, endpoint=True, base=10, dtype=None, axis=0",
     [](const Arguments &a) -> Argument {
       const double by = std::log(a.real("base"));
       return in_its_type(a, exp(spaced(a, end_of(a, "start"), end_of(a, "stop")).values * by));
     }},
};

// ---- Parts, and what is put in their place.

Shape starts_of(const Arguments &a, size_t rank) {
  const Shape starts =
      a["start_indices"].as<Variable>() ? a.variable("start_indices").value().integers() : a.integers("start_indices");
  if (starts.size() != rank) a.refuse("start_indices", "one for each dimension");
  return starts;
}
// Rows (n, k) of places as k columns.
Argument columns(const Variable &indices) { return call("unbind", {indices, 1}); }

// x(d..., e...) with rows e... written, or reduced with what was there, where indices(n, k) of d... say.
Variable scattered(const Arguments &a, const Variable &x, const Variable &indices, const Variable &rows) {
  if (indices.shape().size() != 2 || indices.shape()[1] > x.value().rank())
    a.refuse("indices", "rows of as many places as the tensor has dimensions, or fewer");
  if (!a.signature().has("reduction") || !a.has("reduction")) return composed("index_put", {x, columns(indices), rows});
  const auto width = static_cast<size_t>(indices.shape()[1]);
  Shape flat(x.shape().begin() + static_cast<std::ptrdiff_t>(width), x.shape().end());
  flat.insert(flat.begin(), -1);
  Variable at = slice(indices, 1, 0, 1);
  for (size_t d = 1; d < width; ++d)
    at = composed("add", {call("mul", {at, x.shape()[d]}), slice(indices, 1, static_cast<int64_t>(d), 1)});
  at = reshape(at, {-1});
  const std::string &how = a.word("reduction", {"add", "mul", "max", "min"});
  const Variable all = reshape(x, flat);
  return reshape(how == "add" ? composed("index_add", {all, 0, at, rows})
                              : composed("index_reduce", {all, 0, at, rows, how == "mul" ? "prod" : "a" + how}),
                 x.shape());
}

const Function parts[] = {
    {"keras.slice", "inputs, start_indices, shape",
     [](const Arguments &a) -> Argument {
       Variable x = a.variable("inputs");
       const Shape starts = starts_of(a, x.shape().size()), shape = a.integers("shape");
       if (shape.size() != starts.size()) a.refuse("shape", "an extent for each dimension");
       for (size_t d = 0; d < shape.size(); ++d) x = slice(x, static_cast<int64_t>(d), starts[d], shape[d]);
       return x;
     }},
    {"keras.slice_update", "inputs, start_indices, updates",
     [](const Arguments &a) -> Argument {
       const Variable x = a.variable("inputs"), part = a.variable("updates");
       const Shape starts = starts_of(a, x.shape().size());
       if (part.shape().size() != starts.size()) a.refuse("updates", "as many dimensions as the input has");
       // Along each dimension what is there stands beside the part, which grows.
       Variable y = part;
       for (size_t d = 0; d < starts.size(); ++d) {
         Variable whole = x;
         for (size_t e = d + 1; e < starts.size(); ++e)
           whole = slice(whole, static_cast<int64_t>(e), starts[e], part.shape()[e]);
         const auto axis = static_cast<int64_t>(d);
         y = composed("slice_scatter", {whole, y, axis, starts[d], starts[d] + part.shape()[d]});
       }
       return y;
     }},
    {"keras.scatter", "indices, values, shape",
     [](const Arguments &a) -> Argument {
       const Variable values = a.variable("values");
       return scattered(a, Tensor::zeros(a.integers("shape"), values.value().type()), a.variable("indices"), values);
     }},
    {"keras.scatter_update", "inputs, indices, updates, reduction=None",
     [](const Arguments &a) -> Argument {
       return scattered(a, a.variable("inputs"), a.variable("indices"), a.variable("updates"));
     }},
    {"keras.take", "x, indices, axis=None",
     [](const Arguments &a) -> Argument {
       const Variable x = a.variable("x"), at = a.variable("indices");
       if (!a.has("axis")) return call("take", {x, at});
       const int d = dimension(a.integer("axis"), x.value().rank(), a.owner());
       Shape shape = x.shape();
       shape.erase(shape.begin() + d);
       shape.insert(shape.begin() + d, at.shape().begin(), at.shape().end());
       return reshape(composed("index_select", {x, d, reshape(at, {-1})}), shape);
     }},
    {"keras.append", "x1, x2, axis=None",
     [](const Arguments &a) -> Argument {
       const Operands o = promoted(a, "x1", "x2");
       if (a.has("axis")) return concat({o.a, o.b}, a.integer("axis"));
       return concat({reshape(o.a, {-1}), reshape(o.b, {-1})}, 0);
     }},
    {"keras.select", "condlist, choicelist, default=0",
     [](const Arguments &a) -> Argument {
       const std::vector<Variable> conditions = a.variables("condlist"), choices = a.variables("choicelist");
       if (conditions.empty() || conditions.size() != choices.size()) a.refuse("condlist", "one for each choice");
       Argument y = a["default"];
       for (size_t i = conditions.size(); i-- > 0;) y = call("where", {conditions[i], choices[i], y});
       return y;
     }},
    {"keras.unravel_index", "indices, shape",
     [](const Arguments &a) -> Argument {
       Variable rest = a.variable("indices");
       const Shape shape = a.integers("shape");
       Argument::List all;
       for (size_t d = shape.size(); d-- > 0;) {
         all.insert(all.begin(), call("remainder", {rest, shape[d]}));
         rest = composed("floor_divide", {rest, shape[d]});
       }
       return all;
     }},
    {"keras.vander", "x, N=None, increasing=False",
     [](const Arguments &a) -> Argument {
       const Variable x = a.variable("x");
       if (x.shape().size() != 1) a.refuse("x", "a vector");
       const int64_t count = a.has("N") ? a.integer("N") : x.shape()[0];
       std::vector<double> powers;
       for (int64_t i = 0; i < count; ++i)
         powers.push_back(static_cast<double>(a.flag("increasing") ? i : count - 1 - i));
       return call("pow", {reshape(x, {-1, 1}), typed({count}, powers, x.value().type())});
     }},
    {"keras.stop_gradient", "variable",
     [](const Arguments &a) -> Argument { return a.variable("variable").detached(); }},
};

// ---- Other types.

using namespace formula;

const nn::Function view("keras.view", "x, dtype=None", by_formula([](const Arguments &a) {
                          const Value x = a.value("x");
                          const Type type = type_or(a, x.type());
                          return inlined(x.extents(), [&](const Axes &at) { return bits_as(type, x.at(at)); });
                        }),
                        [](const Arguments &a) -> Argument {
                          const Type of = a.variable("x").value().type();
                          if (facts(type_or(a, of)).bytes() != facts(of).bytes())
                            a.refuse("dtype", "a type of as many bits as the tensor's");
                          return {};
                        });

// What is beyond the bounds of a type is its bound. The largest of 64 bits are between real numbers.
const nn::Function saturate_cast("keras.saturate_cast", "x, dtype", [](const Arguments &a) {
  const Variable x = a.variable("x");
  const Type type = type_named(a.word("dtype"));
  const TypeFacts &f = facts(type);
  if (is_real(type) || type == Type::boolean) return to_type(x, type);
  const bool is_signed = f.kind == TypeFacts::Kind::integer;
  const double most = std::ldexp(1, is_signed ? f.bits - 1 : f.bits), least = is_signed ? -most : 0;
  const double top = std::nextafter(most, 0) > most - 1 ? most - 1 : std::nextafter(most, 0);
  const Variable wide = to_type(x, Type::f64);
  return to_type(composed("clamp", {wide, least, top}), type);
});

}  // namespace

const void *keras_arrays() { return made; }

}  // namespace saltern::nn
