// What is done to data on its way into a net, and small layers of shapes; with Keras' names.

#include <cmath>

#include "runtime/layers/binary.h"
#include "runtime/layers/movement.h"
#include "runtime/nn/families.h"
#include "runtime/nn/images.h"
#include "runtime/nn/losses.h"

namespace saltern::nn {

namespace {

using namespace formula;

// ---- Numbers.

const LayerRow rescaling("Rescaling", "scale, offset=0.0",
                         {"input", [](Layer &self, const Arguments &in) -> Argument {
                            const Arguments &a = self.made_with();
                            return call("add", {call("mul", {in["input"], a["scale"]}), a["offset"]});
                          }});
const LayerRow unit_normalization("UnitNormalization", "dim=1, eps=1e-12", calls("normalize"));

// Steps x(n, t, d) whose every number is the mask's value are zeros.
const Function masked_steps("masked_steps", "input, mask_value=0.0", by_formula([](const Arguments &a) {
                              const Value x = a.value("input");
                              const Value counts = named(
                                  "counts",
                                  greatest(where(x == a.real("mask_value"), formula::constant_value(x.type(), 0), 1),
                                           {x.rank() - 1}));
                              return where(counts == 1, x, 0);
                            }));
const LayerRow masking("Masking", "mask_value=0.0", calls("masked_steps"));

// Which of the bins between boundaries, which belong to the bin above them.
const Function discretized("discretized", "input, bin_boundaries", by_formula([](const Arguments &a) {
                             const Value x = a.value("input");
                             Value bin = cast(Type::i64, x < x);
                             for (double bound : a.reals("bin_boundaries")) bin = bin + cast(Type::i64, x >= bound);
                             return bin;
                           }),
                           [](const Arguments &a) -> Argument {
                             const std::vector<double> all = a.reals("bin_boundaries");
                             if (!std::is_sorted(all.begin(), all.end())) a.refuse("bin_boundaries", "the least first");
                             return {};
                           });
const LayerRow discretization("Discretization", "bin_boundaries", calls("discretized"));

// Numbers of tokens as ones at their places: of each by itself, of all of a sample, or how often each is there.
const Function encoded("encoded_categories", "input, num_tokens, output_mode='multi_hot', count_weights=None",
                       by_formula([](const Arguments &a) -> Value {
                         const Value x = a.value("input"), weights = a.value_if_given("count_weights");
                         const Type type = weights.defined() ? weights.type() : Type::f32;
                         const std::string &mode = a.word("output_mode", {"one_hot", "multi_hot", "count"});
                         const bool each = mode == "one_hot" || x.rank() == 0;
                         std::vector<Expression> extents = x.extents();
                         if (!each) extents.pop_back();
                         extents.emplace_back(a.integer("num_tokens"));
                         const auto is_it = [&](Axes at, const Expression &token) {
                           const Expression is = cast(type, cast(Type::i64, x.at(at)) == token);
                           return weights.defined() ? is * weights.at(at) : is;
                         };
                         return compute("encoded", extents, [&](Axes at) {
                           const Expression token = at.back();
                           at.pop_back();
                           if (each) return is_it(at, token);
                           const auto reduction =
                               mode == "count" ? formula::Function::sum : formula::Function::greatest;
                           return reduce_open(reduction, {x.extent(-1)}, [&](const Axes &s) {
                             Axes from = at;
                             from.push_back(s[0]);
                             return is_it(from, token);
                           });
                         });
                       }),
                       [](const Arguments &a) -> Argument {
                         expect_indices(a, "input", a.integer("num_tokens"));
                         if (a.has("count_weights") && a.word("output_mode") != "count")
                           a.refuse("count_weights", "none, unless output_mode is 'count'");
                         if (a.has("count_weights") &&
                             a.variable("count_weights").shape() != a.variable("input").shape())
                           a.refuse("count_weights", "one for each token");
                         return {};
                       });
const LayerRow category_encoding("CategoryEncoding", "num_tokens, output_mode='multi_hot'",
                                 calls("encoded_categories", "input, count_weights=None"));

// ---- Images.

const LayerRow resizing("Resizing", "height, width, interpolation='bilinear', antialias=False",
                        {"input", [](Layer &self, const Arguments &in) -> Argument {
                           const Arguments &a = self.made_with();
                           return call("interpolate", {in["input"], {a["height"], a["width"]}},
                                       {{"mode", a["interpolation"]}, {"antialias", a["antialias"]}});
                         }});

// Fewer elements at the edges: one number for all, one for each axis, or two, before and behind, for each axis. Of one axis
// two numbers are these.
Shape cut_off(const Arguments &a, size_t axes) {
  const auto *list = a["cropping"].as<Argument::List>();
  const bool in_pairs = list && !list->empty() && list->at(0).as<Argument::List>();
  Shape edges;
  if (in_pairs || (axes == 1 && list && list->size() == 2)) {
    const Argument::List pairs = in_pairs ? *list : Argument::List{*list};
    if (pairs.size() != axes) a.refuse("cropping", "a pair for each axis");
    for (const Argument &pair : pairs) {
      const auto *both = pair.as<Argument::List>();
      if (!both || both->size() != 2 || !both->at(0).as<int64_t>() || !both->at(1).as<int64_t>())
        a.refuse("cropping", "pairs of integers");
      edges.insert(edges.end(), {*both->at(0).as<int64_t>(), *both->at(1).as<int64_t>()});
    }
  } else {
    for (int64_t e : a.integers("cropping", axes)) edges.insert(edges.end(), {e, e});
  }
  for (int64_t e : edges)
    if (e < 0) a.refuse("cropping", "at least 0");
  return edges;
}

struct Cropping {
  explicit Cropping(int axes)
      : row(with_axes("Cropping", axes), "cropping=1",
            {"input",
             [axes](Layer &self, const Arguments &in) -> Argument {
               const Images x(in, "input", axes);
               const Shape edges = cut_off(self.made_with(), static_cast<size_t>(axes));
               Shape pads;
               for (size_t d = static_cast<size_t>(axes); d-- > 0;)
                 pads.insert(pads.end(), {-edges[2 * d], -edges[2 * d + 1]});
               return x.as_given(variable_of(call("pad", {x.batch(), pads})));
             }},
            [axes](Layer &self) { cut_off(self.made_with(), static_cast<size_t>(axes)); }) {}
  LayerRow row;
};
const Cropping croppings[] = {Cropping(1), Cropping(2), Cropping(3)};

// ---- Vectors.

// x(n, d) -> (n, count, d)
const LayerRow repeat_vector(
    "RepeatVector", "n",
    {"input",
     [](Layer &self, const Arguments &in) -> Argument {
       const Variable x = in.variable("input");
       if (x.shape().size() != 2) in.refuse("input", "vectors (n, d)");
       const int64_t batch = x.shape()[0], width = x.shape()[1];
       return call("expand", {reshape(x, {batch, 1, width}), {batch, self.made_with().integer("n"), width}});
     }},
    [](Layer &self) {
      if (self.made_with().integer("n") < 1) self.made_with().refuse("n", "1 or more");
    });

// A product by letters: EinsumDense("abc,cd->abd", (64, 10), bias_shape=10).
const LayerRow einsum_dense(
    "EinsumDense", "equation, weight_shape, bias_shape=None",
    {"input",
     [](Layer &self, const Arguments &in) -> Argument {
       const Argument y = call("einsum", {self.made_with()["equation"], {in["input"], self.parameter("weight")}});
       return self.has_parameter("bias") ? call("add", {y, self.parameter("bias")}) : y;
     }},
    [](Layer &self) {
      const Arguments &a = self.made_with();
      const Shape shape = a.integers("weight_shape");
      for (int64_t e : shape)
        if (e < 1) a.refuse("weight_shape", "extents of 1 or more");
      const int64_t last = shape.empty() ? 1 : shape.back();
      const double ends = static_cast<double>(elements(shape) / last + last);
      self.parameter("weight", uniform_parameter(shape, std::sqrt(6 / ends)));
      self.parameter("bias", a.has("bias_shape") ? constant_parameter(a.integers("bias_shape"), 0) : Variable());
    });

}  // namespace

const void *preparations() { return &rescaling; }

}  // namespace saltern::nn
