// What a tape records can be used: every operation of the table runs from a saved graph, compiles and is written as
// ONNX, all with the same results. Whoever adds an operation adds its row here, or says why a saved net cannot have it.

#include <gtest/gtest.h>

#include "runtime/graph/gradients.h"
#include "runtime/graph/trace.h"
#include "runtime/layers.h"
#include "runtime/nn/function.h"
#include "runtime/onnx/export.h"
#include "runtime/onnx/lower_model.h"
#include "runtime/onnx/operators/lowering.h"
#include "runtime/operations.h"
#include "tests/compiled_graph.h"

namespace saltern {
namespace {

using Variables = std::vector<Variable>;

struct Case {
  std::vector<Shape> inputs;
  std::function<Variable(const Variables &)> apply;
};

// ---- Shapes that no vector divides.

using Argument = const Variable &;

Case one(Variable (*f)(Argument), bool of_positive = false) {
  return {{{3, 5, 7}}, [f, of_positive](const Variables &in) { return f(of_positive ? exp(in[0]) : in[0]); }};
}

Case two(Variable (*f)(Argument, Argument), bool of_positive = false) {
  return {{{3, 5, 7}, {5, 1}},
          [f, of_positive](const Variables &in) { return f(of_positive ? exp(in[0]) : in[0], in[1]); }};
}

Case image(const std::function<Variable(const Variable &)> &f) {
  return {{{2, 3, 7, 9}}, [f](const Variables &in) { return f(in[0]); }};
}

Case rows(const std::function<Variable(const Variables &)> &f) { return {{{6, 10}, {10}, {10}}, f}; }

// A function with PyTorch's name, of tensors by place and options by name: its first result.
Case called(const std::string &function, const std::vector<Shape> &inputs, const nn::Named &options = {}) {
  return {inputs, [=](const Variables &in) {
            const nn::Argument y = nn::call(function, {in.begin(), in.end()}, options);
            const auto *all = y.as<nn::Argument::List>();
            return nn::variable_of(all ? all->front() : y);
          }};
}

// An operation that functions use for other types and more axes than kernels have. (Of three axes, what a function in ONNX
// makes of windows has nine, and graphs have eight.)
Case of_windows(const std::string &operation, const std::vector<Shape> &inputs, Attributes more) {
  const Attributes two_axes = {{"strides", Shape{2, 2}}, {"dilations", Shape{1, 1}}, {"pads", Shape{1, 0, 0, 1}}};
  for (const auto &[name, value] : two_axes) more.set(name, value);
  more.set("groups", int64_t{1});
  return {inputs, [=](const Variables &in) { return apply_one(*find_operation(operation), in, more); }};
}

Variable labels() { return Variable(Tensor::of<int64_t>({6}, {3, 9, 0, 2, -5, 7})); }

const std::map<std::string, Case> &cases() {
  static const Attributes epsilon = {{"epsilon", 1e-3}};
  static const std::map<std::string, Case> table = {
      {"absolute", one(absolute)},
      {"add", two(add)},
      {"adaptive_average_pool", called("adaptive_avg_pool2d", {{2, 3, 7, 9}}, {{"output_size", {3, 4}}})},
      {"adaptive_maxima", called("adaptive_max_pool2d", {{2, 3, 7, 9}}, {{"output_size", {3, 4}}})},
      {"average_pool",
       called("avg_pool2d", {{2, 3, 5, 8}}, {{"kernel_size", 3}, {"padding", 1}, {"ceil_mode", true}})},
      {"average_pool2d", image([](Argument x) {
         return average_pool2d(x, 3, {2, 1});
       })},
      {"batch_norm",
       {{{6, 10}, {10}, {10}, {10}, {10}},
        [](const Variables &in) {
          return apply_one(operations::batch_norm, {in[0], in[1], exp(in[2]), in[3], in[4]}, epsilon);
        }}},
      {"columns", called("unfold", {{2, 3, 7, 9}}, {{"kernel_size", {2, 3}}, {"padding", 1}, {"stride", 2}})},
      {"concat",
       {{{3, 5, 7}, {3, 2, 7}},
        [](const Variables &in) {
          return concat({in[0], in[1]}, 1);
        }}},
      {"conv2d", {{{2, 3, 7, 9}, {4, 3, 3, 3}}, [](const Variables &in) { return conv2d(in[0], in[1]); }}},
      {"convolution", of_windows("convolution", {{2, 3, 7, 9}, {5, 3, 2, 3}, {5}}, {{"positions", Shape{4, 4}}})},
      {"cosine", one(cosine)},
      {"cross_entropy", rows([](const Variables &in) {
         return apply_one(operations::cross_entropy, {in[0], labels()}, {{"ignore", int64_t{-5}}});
       })},
      {"dense", {{{6, 10}, {4, 10}, {4}}, [](const Variables &in) { return linear(in[0], in[1], in[2]); }}},
      {"divide", {{{3, 5, 7}, {5, 1}}, [](const Variables &in) { return divide(in[0], exp(in[1])); }}},
      {"erf", one(erf)},
      {"exp", one(exp)},
      {"expand",
       {{{5, 1}},
        [](const Variables &in) {
          return expand(in[0], {3, 5, 7});
        }}},
      {"fractional_maxima",
       called("fractional_max_pool2d", {{2, 3, 7, 9}},
              {{"kernel_size", 2}, {"output_size", 4}, {"_random_samples", Tensor::full({2, 3, 2}, 0.3)}})},
      {"from_columns",
       called("fold", {{2, 18, 16}},
              {{"output_size", {7, 9}}, {"kernel_size", {2, 3}}, {"stride", 2}, {"padding", {1, 0}}})},
      {"gelu", one(gelu)},
      {"gru",
       {{{4, 3, 5}, {3, 6}, {18, 5}, {18, 6}, {18}, {18}},
        [](const Variables &in) {
          return apply_one(operations::gru, in, {{"backwards", int64_t{1}}, {"bias", int64_t{1}}});
        }}},
      {"layer_norm", rows([](const Variables &in) {
         return apply_one(operations::layer_norm, in, epsilon.with("axis", int64_t{1}));
       })},
      {"leaky_relu", one(leaky_relu)},
      {"log", one(log, true)},
      {"log_softmax", image([](Argument x) { return log_softmax(x, 1); })},
      {"lstm",
       {{{4, 3, 5}, {3, 6}, {3, 6}, {24, 5}, {24, 6}},
        [](const Variables &in) {
          return apply_one(operations::lstm, in, {{"backwards", int64_t{0}}, {"bias", int64_t{0}}});
        }}},
      {"matmul", {{{2, 5, 6}, {6, 7}}, [](const Variables &in) { return matmul(in[0], in[1]); }}},
      {"max_pool2d", image([](Argument x) {
         return max_pool2d(x, 3, {2, 1});
       })},
      {"maxima",
       called("max_pool2d", {{2, 3, 6, 9}},
              {{"kernel_size", 3}, {"stride", 2}, {"padding", 1}, {"ceil_mode", true}})},
      {"maximum", two(maximum)},
      {"minimum", two(minimum)},
      {"multiply", two(multiply)},
      {"negate", one(negate)},
      {"pixels_shuffled", called("pixel_shuffle", {{2, 8, 3, 5}}, {{"upscale_factor", 2}})},
      {"pixels_unshuffled", called("pixel_unshuffle", {{2, 3, 6, 9}}, {{"downscale_factor", 3}})},
      {"power", two(power, true)},
      {"power_pool", called("lp_pool2d", {{2, 3, 7, 9}}, {{"norm_type", 2}, {"kernel_size", 3}, {"stride", 2}})},
      {"reciprocal", one(reciprocal, true)},
      {"relu", one(relu)},
      {"reshape", image([](Argument x) {
         return reshape(x, {6, -1});
       })},
      {"resize_image", called("interpolate", {{2, 3, 7, 9}}, {{"size", {10, 5}}, {"mode", "bicubic"}})},
      {"rms_norm", rows([](const Variables &in) {
         return apply_one(operations::rms_norm, {in[0], in[1]}, epsilon.with("axis", int64_t{1}));
       })},
      {"rnn",
       {{{4, 3, 5}, {3, 6}, {6, 5}, {6, 6}, {6}, {6}},
        [](const Variables &in) {
          return apply_one(operations::rnn, in,
                           {{"backwards", int64_t{0}}, {"bias", int64_t{1}}, {"nonlinearity", std::string("tanh")}});
        }}},
      {"sigmoid", one(sigmoid)},
      {"silu", one(silu)},
      {"sine", one(sine)},
      {"slice", image([](Argument x) { return slice(x, 2, 1, 4); })},
      {"softmax", image([](Argument x) { return softmax(x, 2); })},
      {"sqrt", one(sqrt, true)},
      {"square", one(square)},
      {"subtract", two(subtract)},
      {"sum", image([](Argument x) {
         return mean(x, {1, 3});
       })},
      {"tanh", one(tanh)},
      {"transpose", image([](Argument x) {
         return transpose(x, {3, 1, 0, 2});
       })},
      {"transposed_convolution",
       of_windows("transposed_convolution", {{2, 3, 3, 4}, {3, 4, 2, 3}, {4}},
                  {{"shape", Shape{2, 4, 5, 8}}, {"positions", Shape{3, 4}}})},
  };
  return table;
}

// Why a saved net has no such operation; null where it can have it.
const char *left_out(const std::string &name) {
  if (name == "attention") return "the model compiler makes it";
  // Those of functions with arguments of their own (runtime/nn) have tests in tests/python.
  if (const Operation *o = find_operation(name); o && !o->has_kernels && cases().count(name) == 0)
    return "it is a formula, and traced as one";
  if (name == "integer_conv2d" || name == "integer_dense") return "quantized operators of ONNX are made of it";
  if (name == "formula" || name == "scatter_sum" || name == "scan") return "a node says by itself what it computes";
  // linalg.svd, fft.transform and others.
  if (name.find('.') != std::string::npos) return "it is a routine of the host, which compiled models have not";
  if (name == "max_unpool") return "it scatters, which no operator of an exported net does";
  // conv2d_gradient_x is a transposed convolution, too.
  if (name == "conv2d_gradient_x") return "tests/generators/model_test.cpp has it";
  if (name.find("_gradient") != std::string::npos) return "gradients are of training";
  if (name == "lstm_by_kernels" || name == "gru_by_kernels") return "graphs have the formulas of lstm and gru";
  if (name == "in_channels_last") return "it is an order of memory, which graphs have not";
  if (name == "max_pool2d_pick") return "the gradient of a gradient is of training";
  for (const Operation *update : operations::updates())
    if (name == update->name) return "tests/runtime/optim/optimizers_test.cpp has all updates";
  for (const char *training : {"batch_norm_training", "dropout"})
    if (name == training) return "it is of training steps: tests/generators/model/training_test.cpp has it";
  return nullptr;
}

// ---- Nets of several.

const std::map<std::string, Case> &nets() {
  static const std::map<std::string, Case> table = {
      {"global_average",
       {{{2, 3, 7, 9}, {4, 3, 3, 3}, {5, 4}},
        [](const Variables &in) {
          const Variable pooled = mean(relu(conv2d(in[0], in[1])), {2, 3});
          return linear(reshape(pooled, {2, 4}), in[2]);
        }}},
      {"edges", called("pad", {{2, 3, 5, 7}}, {{"pad", {1, 2, 3, -1}}, {"mode", "reflect"}})},
      {"grids", called("grid_sample", {{1, 2, 5, 4}, {1, 3, 7, 2}}, {{"padding_mode", "border"}})},
      {"scalars", {{{6, 10}}, [](const Variables &in) { return tanh(0.5 * sum(in[0])) + mean(in[0]); }}},
      {"centred",
       {{{6, 10}},
        [](const Variables &in) {
          return in[0] - expand(mean(in[0], {1}), {6, 10});
        }}},
      // Whether a window's rows are inside depends on none of its places.
      {"one_row_of_windows",
       {{{2, 3, 2, 5}},
        [](const Variables &in) {
          return max_pool2d(in[0], 3, {2, 1});
        }}},
      {"loss", rows([](const Variables &in) {
         return cross_entropy(in[0], Variable(Tensor::of<int32_t>({6}, {3, 9, 0, 2, 5, 7})));
       })},
  };
  return table;
}

Graph graph_of(const std::map<std::string, Case> &table) {
  const Recording recording;
  NamedVariables inputs, outputs;
  for (const auto &[name, c] : table) {
    Variables in;
    for (const Shape &shape : c.inputs) {
      in.emplace_back(Tensor::full(shape, 0.5));
      inputs.emplace_back(name + ".x" + std::to_string(in.size()), in.back());
    }
    outputs.emplace_back(name + ".y", c.apply(in));
  }
  return trace(inputs, outputs, {});
}

void expect_usable(const std::map<std::string, Case> &table) {
  const Graph graph = graph_of(table);
  expect_right_when_compiled(graph);
  const auto inputs = random_inputs(graph);
  expect_close(run(lower_model(onnx_of(graph)), inputs), run(graph, inputs));
}

TEST(Operations, EveryOneHasACaseOrAReasonWhyNot) {
  for (const Operation *o : all_operations())
    EXPECT_TRUE((left_out(o->name) != nullptr) != (cases().count(o->name) > 0)) << o->name;
  for (const auto &[name, c] : cases()) EXPECT_NE(find_operation(name), nullptr) << name;
}

TEST(Operations, EachRunsCompilesAndIsOnnxWithTheSameResults) { expect_usable(cases()); }

TEST(Operations, NetsOfSumsMeansAndRepetitionsDoToo) { expect_usable(nets()); }

// Of the real inputs of each, by a seed; nets are losses, which need none.
Graph with_all_gradients(const std::map<std::string, Case> &table) {
  Graph graph = graph_of(table);
  for (const auto &[name, c] : table) {
    std::vector<std::string> wanted;
    for (size_t i = 1; i <= c.inputs.size(); ++i) wanted.push_back(name + ".x" + std::to_string(i));
    graph = with_gradients(graph, name + ".y", wanted);
  }
  return graph;
}

TEST(Operations, GradientsOfEachCompile) {
  expect_right_when_compiled(with_all_gradients(cases()));
  expect_right_when_compiled(with_all_gradients(nets()));
}

}  // namespace
}  // namespace saltern
