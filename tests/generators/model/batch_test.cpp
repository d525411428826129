// A model compiled for a batch of any size gives each sample what it gives it alone; where samples are not independent,
// it says which node mixes them.

#include <gtest/gtest.h>

#include "generators/model/compile.h"
#include "generators/model/samples.h"
#include "runtime/onnx/operators/lowering.h"
#include "tests/compiled_program.h"
#include "tests/errors.h"

namespace saltern {
namespace {

using generators::check_samples_are_independent;
using generators::compile_batched_model;
using generators::compile_model;

constexpr const char *batches = R"(
#include "net.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  enum { most = 9 };
  const size_t counts[] = {0, 1, 3, 4, 7, 9}, in = net_input(0)->elements, out = net_output(0)->elements;
  float *x = malloc(most * in * sizeof *x), *y = malloc(most * out * sizeof *y), *alone = malloc(most * out * sizeof *y);
  const void *inputs[] = {x};
  void *outputs[] = {y};
  net_model *model = net_create(NULL);
  for (size_t i = 0; i < most * in; ++i) x[i] = (float)(i * 7 % 23) / 11 - 1;
  for (size_t s = 0; s < most; ++s) {
    const void *from[] = {x + s * in};
    void *to[] = {alone + s * out};
    if (net_run(model, from, to)) return 2;
  }
  for (size_t c = 0; c < sizeof counts / sizeof counts[0]; ++c) {
    memset(y, 255, most * out * sizeof *y);
    if (net_run_batch(model, counts[c], inputs, outputs)) return fprintf(stderr, "%s\n", net_error(model));
    for (size_t i = 0; i < counts[c] * out; ++i) {
      const float d = y[i] - alone[i];
      if (!(d < 1e-5f && d > -1e-5f)) return fprintf(stderr, "sample %zu of %zu: %g, alone %g\n", i / out, counts[c], y[i], alone[i]);
    }
    for (size_t i = counts[c] * out * sizeof *y; i < most * out * sizeof *y; ++i)
      if (((unsigned char *)y)[i] != 255) return fprintf(stderr, "written behind the batch of %zu\n", counts[c]);
  }
  if (!net_run_batch(model, 2, NULL, outputs) || !strstr(net_error(model), "null pointer")) return 3;
  net_destroy(model);
  return 0;
}
)";

// The same net for any number of samples: images, a sum, a dense layer on what was flattened, a matrix for each sample.
Graph net_of(int64_t samples) {
  GraphBuilder b({samples, 3, 8, 8});
  const std::string h = b.apply("relu", {b.conv2d("x", {6})});
  const std::string sum = b.apply("add", {h, b.batch_norm(b.conv2d(h, {6}))});
  const std::string pooled = b.pool("average_pool2d", b.apply("multiply", {sum, b.constant("gain", {6, 1, 1})}), 2, 2);
  const std::string rows =
      b.graph.add_node("reshape", {pooled}, "rows", {samples, 6, 16}, {{"shape", Shape{samples, 6, 16}}});
  const std::string turned =
      b.graph.add_node("transpose", {rows}, "turned", {samples, 16, 6}, {{"order", Shape{0, 2, 1}}});
  const std::string mixed = b.graph.add_node("matmul", {rows, turned}, "mixed", {samples, 6, 6});
  const std::string y = b.dense(b.flatten(mixed), 5);
  return b.finish({b.apply("softmax", {y}, {{"axis", int64_t{-1}}})});
}

TEST(BatchedModel, ABatchOfAnySizeGivesWhatSamplesGiveAlone) {
  const generators::TemporaryFolder folder;
  compile_batched_model(net_of(4), net_of(1), {"net", folder.path(), {"sse41"}});
  write_text(folder.file("main.c"), batches);
  build_program(folder.path(), {"libnet.a"});
  EXPECT_NO_THROW(generators::run_program({"./main"}, folder.path()));
}

TEST(BatchedModel, BothSizesShareTheWeights) {
  const generators::TemporaryFolder folder, single;
  const auto both = compile_batched_model(net_of(4), net_of(1), {"net", folder.path(), {"sse41"}});
  const auto one = compile_model(net_of(1), {"net", single.path(), {"sse41"}});
  EXPECT_EQ(both.weights_bytes, one.weights_bytes);
}

using Make = std::function<void(GraphBuilder &b, int64_t samples)>;

std::string refusal(const Make &make) {
  const auto graph = [&](int64_t samples) {
    GraphBuilder b({samples, 6});
    make(b, samples);
    return b.finish({"y"});
  };
  try {
    check_samples_are_independent(graph(4), graph(1));
  } catch (const Unsupported &e) {
    return e.what();
  }
  return "";
}

formula::Expression x(const formula::Expression &row, const formula::Expression &column) {
  return formula::load(0, Type::f32, {row, column});
}

Make formula_of(const std::function<formula::Expression(int64_t samples)> &element) {
  return [=](GraphBuilder &b, int64_t samples) {
    b.graph.add_node("formula", {"x"}, "y", {samples, 6}, {{"element", element(samples)}});
  };
}

// x as it runs on along a dimension.
Make running_along(int64_t along) {
  return [=](GraphBuilder &b, int64_t samples) {
    const formula::Expression next = formula::carried(Type::f32) + x(formula::axis(0), formula::axis(1));
    b.graph.add_node("scan", {"x"}, "y", {samples, 6},
                     {{"along", along}, {"before", formula::constant(Type::f32, 0)}, {"element", next}});
  };
}

TEST(BatchedModel, WhatKeepsSamplesApartIsAccepted) {
  using formula::axis;
  EXPECT_EQ(refusal(running_along(1)), "");
  EXPECT_EQ(refusal(formula_of([](int64_t) { return x(axis(0), 5 - axis(1)) * 2; })), "");
  EXPECT_EQ(refusal(formula_of([](int64_t) {
              return formula::reduce(formula::Function::sum, {6}, [](const auto &s) { return x(axis(0), s[0]); });
            })),
            "");
  // At one sample, broadcasting writes a constant index.
  EXPECT_EQ(refusal(formula_of([](int64_t samples) {
              return x(samples == 1 ? formula::constant_integer(Type::i64, 0) : axis(0), axis(1));
            })),
            "");
  EXPECT_EQ(refusal([](GraphBuilder &b, int64_t samples) {
              const Shape folded = {samples * 2, 3};
              b.graph.add_node("reshape", {"x"}, "halves", folded, {{"shape", folded}});
              b.graph.add_node("softmax", {"halves"}, "y", folded, {{"axis", int64_t{1}}});
            }),
            "");
  EXPECT_EQ(refusal([](GraphBuilder &b, int64_t samples) {
              b.graph.add_node("slice", {"x"}, "part", {samples, 4},
                               {{"axis", int64_t{1}}, {"begin", int64_t{1}}, {"count", int64_t{4}}});
              b.graph.add_node("sum", {"part"}, "mean", {samples, 1}, {{"axes", Shape{1}}, {"scale", 0.25}});
              b.graph.add_node("expand", {"mean"}, "y", {samples, 6}, {{"shape", Shape{samples, 6}}});
            }),
            "");
}

TEST(BatchedModel, WhatMixesSamplesIsRefusedByName) {
  using formula::axis;
  const auto zero = [] { return formula::constant_integer(Type::i64, 0); };
  const std::vector<Make> mixing = {
      running_along(0),
      [](GraphBuilder &b, int64_t samples) {
        b.graph.add_node("softmax", {"x"}, "y", {samples, 6}, {{"axis", int64_t{0}}});
      },
      [](GraphBuilder &b, int64_t samples) {
        b.graph.add_node("transpose", {"x"}, "turned", {6, samples}, {{"order", Shape{1, 0}}});
        b.graph.add_node("reshape", {"turned"}, "y", {samples, 6}, {{"shape", Shape{samples, 6}}});
      },
      [](GraphBuilder &b, int64_t samples) {
        b.graph.add_node("matmul", {"x", "x"}, "y", {samples, samples});
      },
      [](GraphBuilder &b, int64_t) {
        b.graph.add_node("sum", {"x"}, "y", {1, 6}, {{"axes", Shape{-2}}, {"scale", 1.0}});
      },
      formula_of([=](int64_t) { return x(zero(), axis(1)); }),                        // the first sample's for all
      formula_of([](int64_t samples) { return x(samples - 1 - axis(0), axis(1)); }),  // another sample's
      formula_of([](int64_t) { return x(axis(0), axis(1)) + formula::cast(Type::f32, axis(0)); }),  // the place itself
      formula_of([](int64_t samples) { return x(axis(0), axis(1)) * static_cast<double>(samples); }),
      formula_of([](int64_t samples) {
        return formula::reduce(formula::Function::sum, {samples}, [](const auto &s) { return x(s[0], axis(1)); });
      }),
  };
  for (size_t i = 0; i < mixing.size(); ++i) {
    const std::string why = refusal(mixing[i]);
    EXPECT_TRUE(contains(why, i == 2 ? "'turned'" : "'y'")) << "case " << i;
  }
  EXPECT_TRUE(contains(refusal([](GraphBuilder &b, int64_t samples) {
                         b.constant("rows", {samples, 6});
                         b.graph.add_node("add", {"x", "rows"}, "y", {samples, 6});
                       }),
                       "'rows'"));
  EXPECT_TRUE(contains(refusal([](GraphBuilder &b, int64_t) {
                         b.input("other", {3, 2});
                         b.graph.add_node("relu", {"x"}, "y", b.graph.value("x").shape);
                       }),
                       "'other'"));
}

}  // namespace
}  // namespace saltern
