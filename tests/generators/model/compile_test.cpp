// Graphs compiled into a library with a C header, linked into a C program by the C compiler alone, give what plain
// loops give.

#include <gtest/gtest.h>

#include <filesystem>

#include "generators/model/compile.h"
#include "runtime/kernels/instruction_set.h"
#include "tests/compiled_program.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

namespace fs = std::filesystem;
using generators::compile_model;
using generators::CompiledModel;
using generators::TemporaryFolder;

// A program that reads the inputs of a model from the file "in" and writes its outputs to "out"; @ is the name.
constexpr const char *caller = R"(
#include "@.h"
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  const void *inputs[@_INPUTS];
  void *outputs[@_OUTPUTS];
  FILE *in = fopen("in", "rb"), *out = fopen("out", "wb");
  @_model *model = @_create(NULL);
  if (!model || !in || !out || @_abi_version() != @_ABI_VERSION) return 2;
  for (int i = 0; i < @_INPUTS; ++i) {
    void *data = malloc(@_input(i)->bytes);
    if (fread(data, 1, @_input(i)->bytes, in) != @_input(i)->bytes) return 3;
    inputs[i] = data;
  }
  for (int i = 0; i < @_OUTPUTS; ++i) outputs[i] = malloc(@_output(i)->bytes);
  for (int twice = 0; twice < 2; ++twice)
    if (@_run(model, inputs, outputs)) {
      fprintf(stderr, "%s\n", @_error(model));
      return 4;
    }
  for (int i = 0; i < @_OUTPUTS; ++i) fwrite(outputs[i], 1, @_output(i)->bytes, out);
  if (@_input(@_INPUTS) || @_output(-1)) return 5;
  if (!@_run(model, NULL, outputs) || !@_error(model)[0]) return 6;
  @_destroy(model);
  return fclose(out);
}
)";

std::vector<double> expected(const Graph &graph, const std::map<std::string, Tensor> &inputs) {
  const NaiveValues values = run_naively(graph, inputs);
  std::vector<double> all;
  for (const std::string &o : graph.outputs) all.insert(all.end(), values.at(o).data.begin(), values.at(o).data.end());
  return all;
}

void expect_right(const Graph &graph, const TemporaryFolder &folder) {
  const auto inputs = random_inputs(graph);
  write_text(folder.file("main.c"), for_model(caller, "net"));
  build_program(folder.path(), {"libnet.a"});
  const std::vector<float> got = run_compiled(graph, inputs, folder);
  // Each output by itself, so that small ones count as much as large ones.
  const NaiveValues want = run_naively(graph, inputs);
  size_t at = 0;
  for (const std::string &o : graph.outputs) {
    const size_t count = want.at(o).data.size();
    ASSERT_LE(at + count, got.size());
    const std::vector<float> part(got.begin() + static_cast<std::ptrdiff_t>(at),
                                  got.begin() + static_cast<std::ptrdiff_t>(at + count));
    EXPECT_LE(relative_difference(part, want.at(o).data), 2e-5) << o;
    at += count;
  }
  EXPECT_EQ(at, got.size());
}

// Many small nets side by side in one model: compiling is what takes time.
Graph awkward_sizes() {
  GraphBuilder b;
  std::vector<std::string> outputs;
  const auto input = [&](const Shape &shape) { return b.input("x" + std::to_string(b.graph.inputs.size()), shape); };
  struct Case {
    Shape input;
    GraphBuilder::Conv conv;
  };
  for (const Case &c : std::vector<Case>{
           {{1, 1, 1, 1}, {1, 1, 1, 0}},
           {{1, 3, 7, 5}, {10}},
           {{2, 5, 9, 11}, {17, 3, 2, 1}},
           {{1, 16, 8, 13}, {32, 5, 1, 2}},
           {{1, 4, 15, 15}, {16, 3, 1, 2, 2}},
           {{3, 7, 6, 6}, {48, 1, 1, 0, 1, 1, false}},
       })
    outputs.push_back(b.apply("relu", {b.conv2d(input(c.input), c.conv)}));
  for (const Shape &s : std::vector<Shape>{{1, 1}, {1, 37}, {5, 64}, {33, 17}})
    outputs.push_back(b.apply("sigmoid", {b.dense(input(s), 31)}));
  for (const Shape &s : std::vector<Shape>{{1, 1, 2, 2}, {2, 5, 7, 9}, {1, 16, 8, 8}}) {
    const std::string x = input(s);
    outputs.push_back(b.pool("max_pool2d", x, 2, 2));
    outputs.push_back(b.pool("max_pool2d", x, 3, 2, 1));
    outputs.push_back(b.pool("average_pool2d", x, 2, 1));
    for (bool count_padding : {true, false}) outputs.push_back(b.pool("average_pool2d", x, 3, 2, 1, count_padding));
    outputs.push_back(b.apply("subtract", {b.batch_norm(x), b.constant("row" + x, {s[3]})}));
  }
  for (const Shape &s : std::vector<Shape>{{1, 1}, {3, 10}, {2, 17}})
    outputs.push_back(b.apply("softmax", {input(s)}, {{"axis", int64_t{-1}}}));
  outputs.push_back(b.flatten(input({2, 3, 4, 5})));
  return b.finish(outputs);
}

class OnEveryTarget : public testing::TestWithParam<std::string> {};

TEST_P(OnEveryTarget, AwkwardSizesGiveWhatPlainLoopsGive) {
  const TemporaryFolder folder;
  compile_model(awkward_sizes(), {"net", folder.path(), {GetParam()}});
  expect_right(awkward_sizes(), folder);
}

std::vector<std::string> targets_here() {
  std::vector<std::string> names;
  for (InstructionSet set : available_instruction_sets()) names.emplace_back(name(set));
  return names;
}

INSTANTIATE_TEST_SUITE_P(CompiledModel, OnEveryTarget, testing::ValuesIn(targets_here()),
                         [](const auto &info) { return info.param; });

TEST(CompiledModel, ResidualAndFlattenedImageAreFused) {
  GraphBuilder b({2, 3, 8, 10});
  const std::string h = b.apply("relu", {b.conv2d("x", {16})});
  const std::string sum = b.apply("relu", {b.apply("add", {h, b.batch_norm(b.conv2d(h, {16}))})});
  const std::string y = b.apply("relu", {b.dense(b.flatten(sum), 10)});
  const Graph g = b.finish({b.dense(y, 4), sum});
  const TemporaryFolder folder;
  const CompiledModel made = compile_model(g, {"net", folder.path(), {"sse41"}});
  EXPECT_EQ(made.steps, 4);  // two convolutions and two dense layers: all else went into them
  expect_right(g, folder);
}

// The demo's classifier, for all targets.
TEST(CompiledModel, ClassifierIsSmallAndItsEqualLayersShareKernels) {
  GraphBuilder b({1, 1, 28, 28});
  const auto block = [&](const std::string &x, int64_t channels) { return b.apply("relu", {b.conv2d(x, {channels})}); };
  const std::string half = b.pool("max_pool2d", block(block(block("x", 32), 32), 32), 2, 2);
  const std::string quarter = b.pool("max_pool2d", block(block(half, 64), 64), 2, 2);
  const Graph g = b.finish({b.apply("softmax", {b.dense(b.flatten(quarter), 10)}, {{"axis", int64_t{-1}}})});
  const TemporaryFolder folder;
  const CompiledModel made = compile_model(g, {"net", folder.path()});
  EXPECT_EQ(made.steps, 9);
  EXPECT_EQ(made.kernels, 8);
  EXPECT_LT(made.code_bytes, 700 * 1000);  // three targets, and four kernels of transforms on each
  RecordProperty("code_bytes", std::to_string(made.code_bytes));
  expect_right(g, folder);
}

TEST(CompiledModel, TwoModelsInOneProgram) {
  GraphBuilder a({1, 3, 9, 9}), b({1, 12});
  const Graph g = a.finish({a.conv2d("x", {20})}), h = b.finish({b.dense("x", 7)});
  const TemporaryFolder folder;
  compile_model(g, {"first", folder.path(), {"sse41"}});
  compile_model(h, {"second", folder.path(), {"sse41"}});
  // One program with both callers; each in turn is its main().
  const auto renamed = [](const std::string &name) {
    std::string text = for_model(caller, name);
    return text.replace(text.find("int main("), 9, "int " + name + "_main(");
  };
  for (const auto &[name, graph] : {std::pair{"first", g}, std::pair{"second", h}}) {
    write_text(folder.file("main.c"), "int first_main(void);\nint second_main(void);\n" + renamed("first") +
                                          "int main(void) { return " + name + "_main(); }\n");
    write_text(folder.file("second.c"), "int second_main(void);\n" + renamed("second"));
    build_program(folder.path(), {"second.c", "libfirst.a", "libsecond.a"});
    const auto inputs = random_inputs(graph);
    EXPECT_LE(relative_difference(run_compiled(graph, inputs, folder), expected(graph, inputs)), 2e-5) << name;
  }
  // Both on one pool of threads.
  write_text(folder.file("main.c"), R"(
#include <dirent.h>
#include "first.h"
#include "second.h"
int main(void) {
  const first_options f = {0, 0, 0, 0, 3};
  const second_options s = {0, 0, 0, 0, 3};
  int threads = -2; /* "." and ".." */
  if (!first_create(&f) || !second_create(&s)) return 1;
  for (DIR *tasks = opendir("/proc/self/task"); readdir(tasks);) ++threads;
  return threads == 3 ? 0 : 2;
}
)");
  build_program(folder.path(), {"libfirst.a", "libsecond.a"});
  EXPECT_NO_THROW(generators::run_program({"./main"}, folder.path()));
}

// All files of a folder, by name.
std::map<std::string, std::string> files_in(const std::string &folder) {
  std::map<std::string, std::string> all;
  for (const fs::directory_entry &e : fs::directory_iterator(folder))
    all[e.path().filename().string()] = bytes_of_file(e.path().string());
  return all;
}

TEST(CompiledModel, TheSameBytesEveryTime) {
  GraphBuilder b({1, 3, 9, 9});
  const Graph g = b.finish({b.pool("max_pool2d", b.apply("relu", {b.conv2d("x", {20})}), 2, 2)});
  const TemporaryFolder cache;
  std::map<std::string, std::string> first;
  struct How {
    int jobs;
    bool cached;
  };
  for (const How &how : {How{1, false}, How{2, false}, How{2, true}, How{1, true}}) {  // the last takes from the cache
    for (const bool weights_file : {false, true}) {
      if (weights_file && !how.cached) continue;  // the same kernels
      const TemporaryFolder folder;
      generators::CompileOptions o = {"net", folder.path(), {"avx2", "sse41"}};
      o.jobs = how.jobs;
      o.cache = how.cached ? cache.path() : "";
      o.weights_file = weights_file;
      o.shared = !weights_file;
      o.main = true;
      compile_model(g, o);
      for (const auto &[name, bytes] : files_in(folder.path())) {
        const std::string which = name + (weights_file ? " with weights apart" : "");
        EXPECT_TRUE(first.emplace(which, bytes).first->second == bytes)
            << which << " has other bytes, jobs " << how.jobs;
        EXPECT_EQ(bytes.find(fs::temp_directory_path().string() + "/saltern"), std::string::npos) << which;
      }
    }
  }
  EXPECT_EQ(first.size(), 10u);  // header, driver, program, library; a shared library or the weights
}

TEST(CompiledModel, ErrorsNameTheCulprit) {
  const TemporaryFolder folder;
  GraphBuilder b({1, 3, 9, 9});
  const Graph good = b.finish({b.conv2d("x", {4})});
  EXPECT_TRUE(contains(error_of([&] { compile_model(good, {"a b", folder.path()}); }), "'a b'"));
  EXPECT_TRUE(contains(error_of([&] { compile_model(good, {"net", folder.path(), {"z80"}}); }), "'z80'"));
  EXPECT_TRUE(contains(error_of([&] { compile_model(good, {"net", "/dev/null/x"}); }), "/dev/null/x"));

  Graph unknown = good;
  unknown.nodes[0].operation = "fold_paper";
  EXPECT_TRUE(contains(error_of([&] { compile_model(unknown, {"net", folder.path()}); }), "fold_paper"));
  Graph wrong = good;
  wrong.values[wrong.outputs[0]].shape = {1, 4, 9, 8};
  EXPECT_TRUE(contains(error_of([&] { compile_model(wrong, {"net", folder.path()}); }), "[1, 4, 9, 8]"));

  setenv("CC", "no-such-compiler", 1);
  const std::string missing = error_of([&] { compile_model(good, {"net", folder.path()}); });
  unsetenv("CC");
  EXPECT_NE(missing.find("no-such-compiler"), std::string::npos) << missing;
  EXPECT_TRUE(fs::is_empty(folder.path())) << "a failed compilation leaves nothing behind";
}

}  // namespace
}  // namespace saltern
