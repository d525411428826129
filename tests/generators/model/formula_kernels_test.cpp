// Where a kernel comes from: exact kernels of the model compiler, library kernels, kernels that are compiled just in time
// and the interpreter give the same, forward and backward.

#include "generators/model/formula_kernels.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "algorithms/movement.h"
#include "algorithms/normalisation.h"
#include "algorithms/probabilities.h"
#include "generators/model/compiled_graph.h"
#include "runtime/autograd/backward.h"
#include "runtime/formula/computation.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/gradients.h"
#include "runtime/graph/graph_net.h"
#include "runtime/graph/trace.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/layers.h"
#include "runtime/tensor/random.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"
#include "tests/shell.h"

namespace saltern {
namespace {

using Variables = std::vector<Variable>;

const Operation own_softmax("own_softmax", [](Value x) { return algorithms::softmax(x, 1); });
const Operation own_layer_norm("own_layer_norm", [](Value x, Value scale, Value shift) {
  return algorithms::layer_norm(x, scale, shift, 1e-5);
});
const Operation own_tanh("own_scaled_tanh", [](Value x, Value scale) { return scale * tanh(x); });
const Operation own_group_norm("own_group_norm_of_4", [](Value x, Value scale, Value shift) {
  return algorithms::group_norm(x, scale, shift, 4, 1e-5);
});
const Operation own_instance_norm("own_instance_norm", [](Value x, Value scale, Value shift) {
  return algorithms::instance_norm(x, scale, shift, 1e-5);
});
const Operation own_embedding("own_embedding",
                              [](Value table, Value places) { return algorithms::embedding(table, places); });

Tensor drawn(const Shape &shape, Layout layout = Layout::row_major) {
  static Random random(11);
  return random.normal_tensor(shape, layout);
}

// The same by operations that have library kernels.
Variable library_group_norm(const Variable &x, const Variable &scale, const Variable &shift) {
  const Shape &s = x.shape();
  const Variable rows = reshape(x, {s[0] * 4, -1}), d = rows - mean(rows, {1});
  const Variable y = reshape(d / sqrt(mean(d * d, {1}) + 1e-5), s);
  return y * reshape(scale, {s[1], 1}) + reshape(shift, {s[1], 1});
}
Variable library_embedding(const Variable &table, const Variable &places) {
  const Tensor chosen = Tensor::zeros({places.shape()[0], table.shape()[0]});
  for (int64_t i = 0; i < chosen.extent(0); ++i) chosen.at<float>({i, places.value().data<int64_t>()[i]}) = 1;
  return matmul(Variable(chosen), table);
}

struct Case {
  std::string name;
  const Operation &formula;
  std::function<Variable(const Variables &)> library;
  std::vector<Tensor> inputs;
};

std::vector<Case> cases() {
  return {
      {"softmax", own_softmax, [](const Variables &v) { return softmax(v[0]); }, {drawn({5, 37})}},
      {"layer_norm",
       own_layer_norm,
       [](const Variables &v) {
         return apply_one(*find_operation("layer_norm"), v, {{"axis", int64_t{1}}, {"epsilon", 1e-5}});
       },
       {drawn({6, 33}), drawn({33}), drawn({33})}},
      {"scaled_tanh", own_tanh, [](const Variables &v) { return v[1] * tanh(v[0]); }, {drawn({3, 5, 7}), drawn({7})}},
      {"group_norm",
       own_group_norm,
       [](const Variables &v) { return library_group_norm(v[0], v[1], v[2]); },
       {drawn({2, 8, 19}), drawn({8}), drawn({8})}},
      {"embedding",
       own_embedding,
       [](const Variables &v) { return library_embedding(v[0], v[1]); },
       {drawn({6, 5}), Tensor::of<int64_t>({8}, {0, 3, 5, 3, 1, 0, 3, 2})}},
  };
}

// The inputs as leaves, and those among them that have gradients.
struct Leaves {
  Variables all, wanted;
  explicit Leaves(const std::vector<Tensor> &inputs) {
    for (const Tensor &t : inputs) {
      all.emplace_back(t, has_gradient(t.type()));
      if (has_gradient(t.type())) wanted.push_back(all.back());
    }
  }
};

// y, and what its gradient dy gives to each input of real numbers.
std::vector<Tensor> by_tape(const std::function<Variable(const Variables &)> &f, const std::vector<Tensor> &inputs,
                            const Tensor &dy) {
  const Leaves leaves(inputs);
  const Variable y = f(leaves.all);
  GradientOptions options;
  options.dy = Variable(dy);
  std::vector<Tensor> results = {y.value()};
  for (const Variable &d : gradients(y, leaves.wanted, options)) results.push_back(d.value());
  return results;
}

std::vector<Tensor> by_formula(const Operation &formula, const std::vector<Tensor> &inputs, const Tensor &dy,
                               JustInTime how) {
  set_just_in_time(how);
  const ComputationCounts before = computation_counts();
  std::vector<Tensor> results = by_tape([&](const Variables &v) { return apply_one(formula, v); }, inputs, dy);
  const ComputationCounts after = computation_counts();
  const bool compiled = how != JustInTime::never;
  EXPECT_EQ(after.just_in_time - before.just_in_time, compiled ? 2 : 0) << last_just_in_time_failure();
  EXPECT_EQ(after.interpreter - before.interpreter, compiled ? 0 : 2);
  set_just_in_time(JustInTime::where_it_pays);
  return results;
}

// With exact kernels.
std::vector<Tensor> by_compiled_model(const Case &c, const Tensor &dy) {
  NamedVariables inputs, outputs;
  std::vector<std::string> wanted;
  std::map<std::string, Tensor> given = {{"d_y", dy}};
  {
    const Recording recording;
    const Leaves leaves(c.inputs);
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      inputs.emplace_back("x" + std::to_string(i), leaves.all[i]);
      given[inputs.back().first] = c.inputs[i];
      if (has_gradient(c.inputs[i].type())) wanted.push_back(inputs.back().first);
    }
    outputs.emplace_back("y", apply_one(c.formula, leaves.all));
  }
  const Graph graph = trace(inputs, outputs, {}), with = with_gradients(graph, "y", wanted);
  std::vector<Tensor> results = {generators::CompiledGraph(graph).run(given).at("y")};
  const std::map<std::string, Tensor> made = generators::CompiledGraph(with).run(given);
  for (const std::string &x : wanted) results.push_back(made.at("d_" + x));
  return results;
}

void expect_close(const std::vector<Tensor> &got, const std::vector<Tensor> &want, const std::string &what) {
  SCOPED_TRACE(what);
  ASSERT_FALSE(got.empty());
  for (size_t r = 0; r < got.size(); ++r) {
    ASSERT_EQ(got[r].shape(), want.at(r).shape());
    const std::vector<double> a = got[r].reals(), b = want[r].reals();
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(a[i], b[i], 5e-6 * std::max(1.0, std::fabs(b[i]))) << "result " << r << " at " << i;
  }
}

// The tests' own cache.
class FormulaKernels : public testing::Test {
 protected:
  FormulaKernels() { setenv("SALTERN_CACHE", cache().c_str(), 1); }
  ~FormulaKernels() override { set_just_in_time(JustInTime::where_it_pays); }
  static std::string cache() {
    static const ScratchFolder folder;
    return folder.file("cache");
  }
};

class WhereAKernelComesFrom : public FormulaKernels, public testing::WithParamInterface<size_t> {};

INSTANTIATE_TEST_SUITE_P(All, WhereAKernelComesFrom, testing::Range<size_t>(0, cases().size()),
                         [](const auto &info) { return cases()[info.param].name; });

TEST_P(WhereAKernelComesFrom, MakesNoDifference) {
  const Case c = cases()[GetParam()];
  const Tensor dy = drawn(apply_one(c.formula, Leaves(c.inputs).all).shape());
  const std::vector<Tensor> want = by_formula(c.formula, c.inputs, dy, JustInTime::never);
  expect_close(by_formula(c.formula, c.inputs, dy, JustInTime::always), want, "just in time");
  expect_close(by_tape(c.library, c.inputs, dy), want, "library");
  expect_close(by_compiled_model(c, dy), want, "exact");
}

TEST_F(FormulaKernels, ServeAGraphsFormulaNodes) {
  Graph g;
  g.add_input("x", {4, 9});
  const formula::Expression x = formula::load(0, Type::f32, {formula::axis(0), formula::axis(1)});
  g.outputs = {g.add_node("formula", {"x"}, "y", {4, 9}, {{"element", exp(x) * 2 + x}}, Type::f32)};
  const Tensor given = drawn({4, 9});
  set_just_in_time(JustInTime::never);
  const Tensor want = run(g, {{"x", given}}).at("y");
  set_just_in_time(JustInTime::always);
  const int64_t before = computation_counts().just_in_time;
  expect_close({run(g, {{"x", given}}).at("y")}, {want}, "formula node");
  EXPECT_EQ(computation_counts().just_in_time, before + 1) << last_just_in_time_failure();
}

TEST_F(FormulaKernels, KeepImagesAsTheyLie) {
  const Tensor image = drawn({2, 5, 4, 3}, Layout::channels_last), scale = drawn({5}), shift = drawn({5});
  const Tensor dy = drawn({2, 5, 4, 3});
  const std::vector<Tensor> got = by_formula(own_instance_norm, {image, scale, shift}, dy, JustInTime::always);
  for (size_t i : {0, 1}) EXPECT_TRUE(got[i].has_layout(Layout::channels_last));
  const Tensor rows = image.in_layout(Layout::row_major);
  expect_close(got, by_formula(own_instance_norm, {rows, scale, shift}, dy, JustInTime::never), "images");
}

TEST_F(FormulaKernels, TakeOperandsThatLieAnywhere) {
  const Tensor all = drawn({6, 9}), part = all.slice(1, 1, 7).slice(0, 1, 4), scale = drawn({9}).slice(0, 1, 7);
  const Tensor dy = drawn({4, 7});
  expect_close(by_formula(own_tanh, {part, scale}, dy, JustInTime::always),
               by_formula(own_tanh, {part.clone(), scale.clone()}, dy, JustInTime::never), "parts of tensors");
}

TEST_F(FormulaKernels, DropWhatIsScatteredOutside) {
  const Tensor table = drawn({4, 3}), places = Tensor::of<int64_t>({5}, {-1, 2, 4, int64_t{1} << 32, 2});
  const Tensor dy = drawn({5, 3});
  const std::vector<Tensor> got = by_formula(own_embedding, {table, places}, dy, JustInTime::always);
  const std::vector<Tensor> want = by_formula(own_embedding, {table, places}, dy, JustInTime::never);
  EXPECT_EQ(got.at(1).reals(), want.at(1).reals());
}

TEST_F(FormulaKernels, GiveTheSameBitsWithAnyNumberOfThreads) {
  const std::vector<Tensor> inputs = {drawn({33, 64, 50}), drawn({64}), drawn({64})};
  const Tensor dy = drawn({33, 64, 50});
  const int threads_before = threads();
  std::vector<std::vector<double>> bits;
  for (int count : {1, 2, 3}) {
    set_threads(count);
    for (const Tensor &t : by_formula(own_group_norm, inputs, dy, JustInTime::always)) bits.push_back(t.reals());
  }
  set_threads(threads_before);
  for (size_t i = 4; i < bits.size(); ++i) EXPECT_EQ(bits[i], bits[i % 4]);
}

// Only sizes decide, not what ran before.
TEST_F(FormulaKernels, AreMadeWhereTheyPay) {
  const auto made_by = [](const Shape &shape) {
    const ComputationCounts before = computation_counts();
    apply_one(own_tanh, {Variable(drawn(shape)), Variable(drawn({shape.back()}))});
    const ComputationCounts after = computation_counts();
    EXPECT_EQ(after.interpreter + after.just_in_time - before.interpreter - before.just_in_time, 1);
    return after.just_in_time - before.just_in_time;
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(made_by({64, 64}), 0);
    EXPECT_EQ(made_by({1024, 1024}), 1) << last_just_in_time_failure();
  }
}

std::vector<std::filesystem::path> kernels_in(const std::string &cache) {
  std::vector<std::filesystem::path> found;
  for (const auto &e : std::filesystem::recursive_directory_iterator(cache + "/formulas"))
    if (e.path().extension() == ".so") found.push_back(e.path());
  return found;
}

// One that is too small to pay by itself, in a chain of so many that are equal, as turns of a recurrence are.
TEST_F(FormulaKernels, CountEqualFormulasOfAGraph) {
  set_just_in_time(JustInTime::where_it_pays);
  for (const int turns : {2, 200}) {
    Graph g;
    g.add_input("x", {32, 256});
    const formula::Expression x = formula::load(0, Type::f32, {formula::axis(0), formula::axis(1)});
    std::string last = "x";
    for (int t = 0; t < turns; ++t)
      last = g.add_node("formula", {last}, "y" + std::to_string(t), {32, 256}, {{"element", x * x * 0.5f - x}});
    g.outputs = {last};
    GraphNet net(g, {});
    const int64_t before = computation_counts().just_in_time;
    net(Variable(drawn({32, 256})));
    EXPECT_EQ(computation_counts().just_in_time - before, turns == 2 ? 0 : turns) << last_just_in_time_failure();
  }
}

TEST_F(FormulaKernels, AreForABatchOfAnySize) {
  const ScratchFolder folder;
  setenv("SALTERN_CACHE", folder.file("cache").c_str(), 1);
  for (const Shape &shape : {Shape{7, 4, 19}, Shape{6, 4, 19}, Shape{2, 4, 19}, Shape{33, 4, 19}}) {
    const std::vector<Tensor> inputs = {drawn(shape), drawn({shape.back()}), drawn({shape.back()})};
    const Tensor dy = drawn(shape);
    expect_close(by_formula(own_layer_norm, inputs, dy, JustInTime::always),
                 by_formula(own_layer_norm, inputs, dy, JustInTime::never), to_string(shape));
  }
  EXPECT_EQ(kernels_in(folder.file("cache")).size(), 2u) << "forward, backward";
}

const Operation never_compiled("own_never_compiled", [](Value x) { return x * x + x; });

TEST_F(FormulaKernels, LeaveToTheInterpreterWhatCannotBeCompiled) {
  const char *variable = "CC";
  setenv(variable, "/no/such/compiler", 1);
  set_just_in_time(JustInTime::always);
  const Variable x(drawn({2, 3}));
  const ComputationCounts before = computation_counts();
  const Tensor got = never_compiled(x).value();
  unsetenv(variable);
  EXPECT_EQ(computation_counts().interpreter, before.interpreter + 1);
  EXPECT_TRUE(contains(last_just_in_time_failure(), "/no/such/compiler")) << last_just_in_time_failure();
  set_just_in_time(JustInTime::never);
  EXPECT_EQ(got.reals(), never_compiled(x).value().reals());
}

// ---- The cache: what other processes find there.

constexpr const char *cache_of_others = "SALTERN_TEST_CACHE";

// The test below has other processes do this, with a cache that they share.
TEST_F(FormulaKernels, ComputeWithTheCacheThatIsGiven) {
  const ScratchFolder own;
  const char *shared = std::getenv(cache_of_others);
  setenv("SALTERN_CACHE", shared ? shared : own.file("cache").c_str(), 1);
  set_just_in_time(JustInTime::always);
  const Variable x(Tensor::full({3, 4}, 0.5)), scale(Tensor::full({4}, 2));
  const auto before = computation_counts().just_in_time;
  for (double y : apply_one(own_tanh, {x, scale}).value().reals()) EXPECT_NEAR(y, 2 * std::tanh(0.5), 1e-6);
  EXPECT_EQ(computation_counts().just_in_time, before + 1) << last_just_in_time_failure();
}

TEST_F(FormulaKernels, AreFoundByOtherProcessesAndMadeAgainWhereDamaged) {
  namespace fs = std::filesystem;
  const ScratchFolder folder;
  const std::string cache = folder.file("cache"), self = fs::read_symlink("/proc/self/exe").string();
  const auto another_process = [&] {
    int code = 0;
    const std::string said = read_all(
        std::string(cache_of_others) + "=" + cache + " " + self + " --gtest_filter=*ComputeWithTheCacheThatIsGiven",
        code);
    EXPECT_EQ(code, 0) << said;
    EXPECT_TRUE(contains(said, "[  PASSED  ] 1 test"));
  };
  const auto kernel = [&] {
    const std::vector<fs::path> found = kernels_in(cache);
    EXPECT_EQ(found.size(), 1u);
    return found.at(0);
  };
  another_process();
  const fs::path library = kernel();
  const auto written = fs::last_write_time(library);
  const std::string whole = bytes_of_file(library.string());
  another_process();
  EXPECT_EQ(kernel(), library);
  EXPECT_EQ(fs::last_write_time(library), written) << "it was compiled again";

  std::string damaged = whole;
  damaged[damaged.size() / 2] ^= 1;
  std::ofstream(library, std::ios::binary) << damaged;
  another_process();
  EXPECT_EQ(kernel(), library);
  EXPECT_NE(bytes_of_file(library.string()), damaged);
}

}  // namespace
}  // namespace saltern
