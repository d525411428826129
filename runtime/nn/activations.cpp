// Functions of numbers, and of rows of them, each with its layer. Those that the library has kernels of use these.

#include "algorithms/functions.h"
#include "algorithms/probabilities.h"
#include "runtime/layers/binary.h"
#include "runtime/layers/softmax.h"
#include "runtime/layers/unary.h"
#include "runtime/nn/families.h"
#include "runtime/nn/layer.h"
#include "runtime/nn/promotion.h"

namespace saltern::nn {

namespace {

using namespace formula;

// A function of one tensor, and its layer: the function takes "input" and the options, the layer the options.
struct Activation {
  Activation(const std::string &name, const std::string &layer, const std::string &options, const ByFormula &of)
      : function(name, with_input(options), of), row(layer, options, calls(name)) {}
  // By kernels of the library.
  Activation(const std::string &name, const std::string &layer, const std::string &options,
             Variable (*f)(const Variable &))
      : function(name, with_input(options), [f](const Arguments &a) { return f(a.variable("input")); }),
        row(layer, options, calls(name)) {}

  static std::string with_input(const std::string &options) { return options.empty() ? "input" : "input, " + options; }

  Function function;
  LayerRow row;
};

// What a function does with whole numbers is what PyTorch's does.
enum class Whole { refused, kept, made_real };

void expect_real(const Arguments &a, Type type) {
  if (!is_real(type)) a.refuse("input", "a tensor of real numbers");
}

// Of each number, by a formula.
template <typename F>
ByFormula each(const F &f, Whole whole = Whole::refused) {
  return by_formula([f, whole](const Arguments &a) -> Value {
    const Value x = a.value("input");
    if (whole == Whole::refused) expect_real(a, x.type());
    return f(whole == Whole::made_real && !is_real(x.type()) ? cast(Type::f32, x) : x, a);
  });
}

const Activation relu("relu", "ReLU", "inplace=False", saltern::relu);
const Activation sigmoid("sigmoid", "Sigmoid", "", [](const Variable &x) { return saltern::sigmoid(as_real(x)); });
const Activation tanh_of("tanh", "Tanh", "", [](const Variable &x) { return saltern::tanh(as_real(x)); });
const Activation silu("silu", "SiLU", "inplace=False", saltern::silu);

const Operation gelu_by_tanh("gelu_by_tanh", algorithms::gelu_tanh);
const Function gelu("gelu", "input, approximate='none'", [](const Arguments &a) {
  const Variable x = a.variable("input");
  return a.word("approximate", {"none", "tanh"}) == "tanh" ? gelu_by_tanh(x) : saltern::gelu(x);
});
const LayerRow gelu_layer("GELU", "approximate='none'", calls("gelu"));

// The library's kernel has the slope that is the default.
const Operation sloped("leaky_relu_of_slope",
                       [](const Value &x, const Value &s) { return algorithms::leaky_relu(x, s); });
const Function leaky_relu("leaky_relu", "input, negative_slope=0.01, inplace=False", [](const Arguments &a) {
  const Variable x = a.variable("input");
  expect_real(a, x.type());
  const double slope = a.real("negative_slope");
  return slope == 0.01 ? saltern::leaky_relu(x) : sloped(x, scalar(slope, x));
});
const LayerRow leaky_relu_layer("LeakyReLU", "negative_slope=0.01, inplace=False", calls("leaky_relu"));

const Activation elu("elu", "ELU", "alpha=1.0, inplace=False",
                     each([](const Value &x, const Arguments &a) { return algorithms::elu(x, a.real("alpha")); }));
const Activation selu("selu", "SELU", "inplace=False", each([](const Value &x, const Arguments &) {
                        return algorithms::selu(x, 1.6732632423543772, 1.0507009873554805);
                      }));
const Activation celu("celu", "CELU", "alpha=1.0, inplace=False",
                      each([](const Value &x, const Arguments &a) { return algorithms::celu(x, a.real("alpha")); }));
const Activation hardshrink("hardshrink", "Hardshrink", "lambd=0.5", each([](const Value &x, const Arguments &a) {
                              return where(x == x, algorithms::shrink(x, a.real("lambd"), 0), x);
                            }));
const Activation softshrink("softshrink", "Softshrink", "lambd=0.5", each([](const Value &x, const Arguments &a) {
                              return where(x == x, algorithms::shrink(x, a.real("lambd"), a.real("lambd")), x);
                            }));
const Activation tanhshrink("tanhshrink", "Tanhshrink", "",
                            each([](const Value &x, const Arguments &) { return x - tanh(x); }, Whole::made_real));
const Activation hardsigmoid("hardsigmoid", "Hardsigmoid", "inplace=False", each([](const Value &x, const Arguments &) {
                               return algorithms::hard_sigmoid(x, 1.0 / 6, 0.5);
                             }));
const Activation hardswish("hardswish", "Hardswish", "inplace=False",
                           each([](const Value &x, const Arguments &) { return algorithms::hard_swish(x); }));
const Activation hardtanh("hardtanh", "Hardtanh", "min_val=-1.0, max_val=1.0, inplace=False",
                          each([](const Value &x,
                                  const Arguments &a) { return min(max(x, a.real("min_val")), a.real("max_val")); },
                               Whole::kept));
const Activation relu6("relu6", "ReLU6", "inplace=False",
                       each([](const Value &x, const Arguments &) { return min(algorithms::relu(x), 6); },
                            Whole::kept));
const Activation mish("mish", "Mish", "inplace=False",
                      each([](const Value &x, const Arguments &) { return algorithms::mish(x); }));
const Activation softsign("softsign", "Softsign", "",
                          each([](const Value &x, const Arguments &) { return algorithms::softsign(x); },
                               Whole::made_real));
const Activation logsigmoid("logsigmoid", "LogSigmoid", "",
                            each([](const Value &x, const Arguments &) { return -algorithms::softplus(-x); }));
const Activation softplus("softplus", "Softplus", "beta=1.0, threshold=20.0",
                          each([](const Value &x, const Arguments &a) {
                            const Value scaled = x * a.real("beta");
                            return where(scaled > a.real("threshold"), x,
                                         algorithms::softplus(scaled) / a.real("beta"));
                          }));
const Activation threshold("threshold", "Threshold", "threshold, value, inplace=False",
                           each([](const Value &x,
                                   const Arguments &a) { return where(x > a.real("threshold"), x, a.real("value")); },
                                Whole::kept));

// ---- Of rows. Without a dimension, PyTorch takes the first of few and the second of many.

int64_t row_dimension(const Arguments &a) {
  if (a.has("dim")) return a.integer("dim");
  const size_t rank = a.variable("input").shape().size();
  return rank == 0 || rank == 1 || rank == 3 ? 0 : 1;
}

const char *const of_rows = "input, dim=None, _stacklevel=3, dtype=None";

// A single number is a row of one.
Function::Body along_rows(Variable (*f)(const Variable &, int64_t), double scale = 1) {
  return [f, scale](const Arguments &a) {
    const Variable given = a.variable("input"), x = scale == 1 ? given : given * scale;
    const int64_t d = row_dimension(a);
    return given.shape().empty() ? reshape(f(reshape(x, {1}), d), {}) : f(x, d);
  };
}

const Function softmax("softmax", of_rows, along_rows(saltern::softmax));
const Function log_softmax("log_softmax", of_rows, along_rows(saltern::log_softmax));
const Function softmin("softmin", of_rows, along_rows(saltern::softmax, -1));
const LayerRow softmax_layer("Softmax", "dim=None", calls("softmax"));
const LayerRow log_softmax_layer("LogSoftmax", "dim=None", calls("log_softmax"));
const LayerRow softmin_layer("Softmin", "dim=None", calls("softmin"));
const LayerRow softmax_of_channels("Softmax2d", "", {"input", [](Layer &, const Arguments &in) {
                                                       const Variable x = in.variable("input");
                                                       if (x.shape().size() != 3 && x.shape().size() != 4)
                                                         in.refuse("input", "an image, (C, H, W) or (N, C, H, W)");
                                                       return Argument(saltern::softmax(x, -3));
                                                     }});

const Activation glu("glu", "GLU", "dim=-1", by_formula([](const Arguments &a) {
                       const Value x = a.value("input");
                       const int axis = dimension(a.integer("dim"), x.rank(), a.owner());
                       std::vector<Expression> half = x.extents();
                       const Expression count = quotient(half[static_cast<size_t>(axis)], 2);
                       half[static_cast<size_t>(axis)] = count;
                       const auto part = [&](const Expression &from) {
                         return inlined(half, [&](Axes at) {
                           at[static_cast<size_t>(axis)] = at[static_cast<size_t>(axis)] + from;
                           return x.at(at);
                         });
                       };
                       return part(0) * algorithms::sigmoid(part(count));
                     }));

const Function prelu("prelu", "input, weight", by_formula([](const Arguments &a) {
                       const Value x = a.value("input"), w = a.value("weight");
                       if (w.rank() == 0) return algorithms::leaky_relu(x, w);
                       const bool by_channels = !is_number(w.extent(0), 1);
                       const Value slope = inlined(x.extents(), [&](const Axes &at) {
                         return by_channels ? w(at[x.rank() == 1 ? 0 : 1]) : w(0);
                       });
                       return algorithms::leaky_relu(x, slope);
                     }));
const LayerRow prelu_layer("PReLU", "num_parameters=1, init=0.25", calls("prelu"), [](Layer &self) {
  const Arguments &a = self.made_with();
  self.parameter("weight", constant_parameter({a.integer("num_parameters")}, a.real("init")));
});

const LayerRow identity("Identity", "*, anything=None",
                        {"input", [](Layer &, const Arguments &in) { return in["input"]; }});

}  // namespace

const void *activations() { return &relu; }

}  // namespace saltern::nn
