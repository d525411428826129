// A kernel whose declaration has no schedule gets one, stays right for any extents, and leaves the plain loop nest.

#include "autoscheduler/halide_autoscheduler.h"

#include <gtest/gtest.h>

#include "generators/kernel.h"
#include "schedules/forms/padding.h"
#include "tests/errors.h"
#include "tests/random_buffer.h"

namespace saltern {
namespace {

using generators::Build;

// A layer that somebody wrote without thinking of schedules: softplus of a matrix product.
const generators::Kernel own_layer("own_layer",
                                   [](Build &k) {
                                     const forms::Tensor a = k.input("a", 2), b = k.input("b", 2);
                                     const Halide::Expr scale = k.real("scale");
                                     Halide::Var i("i"), j("j");
                                     Halide::RDom r(0, a.extent(0));
                                     Halide::Func product("product"), y("softplus");
                                     product(j, i) = 0.0f;
                                     product(j, i) += a(r, i) * b(j, r);
                                     y(j, i) = Halide::log(1.0f + Halide::exp(scale * product(j, i)));
                                     k.output("y", forms::Tensor(y, {b.extent(0), a.extent(1)}));
                                   },
                                   {{{64, 96}, {128, 64}, 0.5}});

// As the library's kernels are built.
Build built(Build::Schedule schedule, std::optional<generators::Call> exact = std::nullopt) {
  Build build = own_layer.build(host_target(), schedule, std::move(exact));
  if (!build.is_scheduled()) autoscheduler::schedule_by_halide(build.pipeline(), host_target());
  return build;
}

Halide::Buffer<float> result(Build::Schedule schedule, bool exact, int m, int n, int k) {
  const generators::Call call = {{k, m}, {n, k}, 0.5};
  Build build = built(schedule, exact ? std::make_optional(call) : std::nullopt);
  const auto a = random_buffer({k, m}, 1), b = random_buffer({n, k}, 2);
  Halide::Buffer<float> y(n, m);
  y.fill(NAN);
  Halide::Callable callable = build.pipeline().compile_to_callable(build.arguments(), host_target());
  const int code = exact ? callable(a, b, y) : callable(a, b, 0.5f, y);
  EXPECT_EQ(code, 0);
  return y;
}

TEST(HalideAutoscheduler, AKernelWithoutAScheduleIsRightForAnyExtents) {
  struct Size {
    int m, n, k;
  };
  for (const Size &s : {Size{1, 1, 1}, Size{7, 5, 3}, Size{96, 128, 64}, Size{33, 65, 17}, Size{2, 300, 1}}) {
    const auto want = result(Build::Schedule::plain, false, s.m, s.n, s.k);
    EXPECT_LE(relative_difference(result(Build::Schedule::own, false, s.m, s.n, s.k), want), 1e-5) << s.m << " " << s.n;
    EXPECT_LE(relative_difference(result(Build::Schedule::own, true, s.m, s.n, s.k), want), 1e-5) << s.m << " " << s.n;
  }
}

// SALTERN_AUTOSCHEDULER for as long as it lives.
struct Chosen {
  explicit Chosen(const char *name) { setenv("SALTERN_AUTOSCHEDULER", name, 1); }
  ~Chosen() { unsetenv("SALTERN_AUTOSCHEDULER"); }
};

TEST(HalideAutoscheduler, Adams2019IsRightForAnyExtents) {
  const Chosen adams("Adams2019");
  EXPECT_EQ(autoscheduler::chosen_halide_autoscheduler(), "Adams2019");
  struct Size {
    int m, n, k;
  };
  for (const Size &s : {Size{1, 1, 1}, Size{96, 128, 64}, Size{33, 65, 17}}) {
    const auto want = result(Build::Schedule::plain, false, s.m, s.n, s.k);
    EXPECT_LE(relative_difference(result(Build::Schedule::own, false, s.m, s.n, s.k), want), 1e-5) << s.m << " " << s.n;
    EXPECT_LE(relative_difference(result(Build::Schedule::own, true, s.m, s.n, s.k), want), 1e-5) << s.m << " " << s.n;
  }
}

class Schedule : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(HalideAutoscheduler, Schedule, testing::Values("Mullapudi2016", "Adams2019"),
                         [](const auto &info) { return info.param; });

TEST_P(Schedule, IsVectorisedAndParallel) {
  const Chosen chosen(GetParam());
  const Build build = built(Build::Schedule::own);
  bool vectorised = false, parallel = false;
  for (auto &[name, function] : Halide::Internal::find_transitive_calls(build.pipeline().outputs()[0].function()))
    for (const Halide::Internal::Dim &d : function.definition().schedule().dims()) {
      vectorised |= d.for_type == Halide::Internal::ForType::Vectorized;
      parallel |= d.for_type == Halide::Internal::ForType::Parallel;
    }
  EXPECT_TRUE(vectorised);
  EXPECT_TRUE(parallel);
}

TEST(HalideAutoscheduler, AnUnknownOneIsAnErrorThatNamesItAndWhoAskedForIt) {
  {
    const Chosen nobody("Nobody2030");
    expect_error([] { autoscheduler::chosen_halide_autoscheduler(); },
                 {"SALTERN_AUTOSCHEDULER", "Nobody2030", "Adams2019"});
  }
  const Build build = own_layer.build(host_target(), Build::Schedule::plain);
  const std::string direct =
      error_of([&] { autoscheduler::schedule_by_halide(build.pipeline(), host_target(), "Nobody2031"); });
  EXPECT_TRUE(contains(direct, "Nobody2031"));
  EXPECT_FALSE(contains(direct, "SALTERN_AUTOSCHEDULER"));
}

}  // namespace
}  // namespace saltern
