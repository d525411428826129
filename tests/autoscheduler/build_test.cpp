// A build with a tuning database compiles its best knobs, if they were found on a CPU like this one; what comes out is
// another kernel with the same results.

#include <gtest/gtest.h>

#include "autoscheduler/database.h"
#include "generators/kernel.h"
#include "generators/model/toolchain.h"
#include "tests/scratch_folder.h"

namespace saltern::autoscheduler {
namespace {

using generators::run_program;

// Computes a product with the kernel and with plain loops; fails where they differ.
constexpr const char *user = R"(
#include <HalideRuntime.h>
#include <cmath>
#include <vector>
extern "C" int saltern_matmul_sse41_argv(void **);
struct Matrix {
  int rows, columns;
  std::vector<float> data;
  halide_dimension_t dimensions[3];
  halide_buffer_t buffer = {};
  Matrix(int r, int c, int seed) : rows(r), columns(c), data(r * c), dimensions{{0, c, 1}, {0, r, c}, {0, 1, r * c}} {
    for (size_t i = 0; i < data.size(); ++i) data[i] = seed ? float((i * 37 + seed) % 23) / 8 - 1 : NAN;
    buffer.host = reinterpret_cast<uint8_t *>(data.data());
    buffer.type = halide_type_of<float>();
    buffer.dimensions = 3;
    buffer.dim = dimensions;
  }
};
int main() {
  const int m = 37, n = 29, k = 41;
  Matrix a(m, k, 1), b(k, n, 2), y(m, n, 0);
  void *arguments[] = {&a.buffer, &b.buffer, &y.buffer};
  if (saltern_matmul_sse41_argv(arguments)) return 1;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l) sum += double(a.data[i * k + l]) * double(b.data[l * n + j]);
      if (!(std::fabs(y.data[i * n + j] - sum) < 1e-3)) return 2;
    }
}
)";

class Build : public testing::Test {
 protected:
  const Knobs other = {{"rows", 2}, {"column_vectors", 1}};
  const generators::TemporaryFolder folder;

  // The object of matmul for the least CPU target, built with a database or without.
  std::string object(const std::string &database = "") {
    std::vector<std::string> command = {SALTERN_GENERATE_MATMUL, "matmul", folder.path()};
    if (!database.empty()) command.push_back(database);
    run_program(command, folder.path());
    return bytes_of_file(folder.file("saltern_matmul_sse41.o"));
  }
  // A database in which `other` is the best of matmul's first timing.
  std::string database(const std::string &cpu) const {
    const std::string path = folder.file("tuning.sqlite");
    std::filesystem::remove(path);
    Database d(path, cpu);
    const Call call = *generators::find_kernel("matmul").typical();
    d.record("matmul", call, "sse41", {other, 1.0, 0.9});
    d.record("matmul", call, "sse41", {{{"rows", 3}, {"column_vectors", 1}}, 2.0, 0.4});
    return path;
  }
};

TEST_F(Build, UsesTheBestKnobsOfThisCpuAndStaysRight) {
  const std::string own = object(), tuned = object(database(cpu_model()));
  EXPECT_FALSE(own == tuned);
  std::ofstream(folder.file("user.cpp")) << user;
  run_program({"c++", "-std=c++17", "-I" SALTERN_HALIDE_INCLUDE, "user.cpp", "saltern_matmul_sse41.o",
               SALTERN_HALIDE_RUNTIME, "-lpthread", "-ldl", "-o", "user"},
              folder.path());
  run_program({"./user"}, folder.path());  // throws where it fails
}

TEST_F(Build, LeavesAloneWhatWasFoundOnAnotherCpu) {
  const std::string own = object();
  EXPECT_TRUE(own == object(database("some other CPU")));
}

TEST_F(Build, WithAFileThatIsNoDatabaseFailsAndNamesIt) {
  const ScratchFolder scratch;
  const std::string path = scratch.write("junk.sqlite", std::string(5000, 'x'));
  EXPECT_TRUE(contains(error_of([&] { object(path); }), path));
}

}  // namespace
}  // namespace saltern::autoscheduler
