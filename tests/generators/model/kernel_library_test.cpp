// Library kernels compiled ahead of time for a target: a C program of the header and the library runs them, on PoCL for
// OpenCL, and gives what the plain algorithm gives; for CUDA the library has code that assembles.

#include "generators/model/kernel_library.h"

#include <gtest/gtest.h>

#include "tests/errors.h"
#include "tests/ptx.h"
#include "tests/scratch_folder.h"
#include "tests/shell.h"

namespace saltern {
namespace {

using generators::compile_kernels;

// max over 2 x 2 windows and softmax of the result's channels, which are 3.
const char *const program = R"(
#include "some.h"
#include <stdio.h>

static halide_buffer_t buffer(void *host, int code, int rank, halide_dimension_t *dim) {
  halide_buffer_t b = {0};
  b.host = host;
  b.flags = some_buffer_host_dirty;
  b.type.code = (uint8_t)code;
  b.type.bits = 32;
  b.type.lanes = 1;
  b.dimensions = rank;
  b.dim = dim;
  return b;
}

int main(void) {
  float x[2 * 2 * 3], y[3] = {-1, -1, -1}, p[3] = {-1, -1, -1};
  int32_t place[3];
  for (int i = 0; i < 12; ++i) x[i] = (float)(i * 7 % 12);
  halide_dimension_t of_x[] = {{0, 3, 1, 0}, {0, 2, 3, 0}, {0, 2, 6, 0}, {0, 1, 12, 0}};
  halide_dimension_t of_y[] = {{0, 3, 1, 0}, {0, 1, 3, 0}, {0, 1, 3, 0}, {0, 1, 3, 0}};
  halide_buffer_t bx = buffer(x, 2, 4, of_x), by = buffer(y, 2, 4, of_y), bi = buffer(place, 0, 4, of_y);
  if (some_max_pool2d(&bx, 2, 2, 2, 1, 0, 0, 2, 1, 0, 0, &by, &bi) != 0) return 1;
  /* What was computed stays where it is for the next one. */
  halide_buffer_t rows = by, bp = buffer(p, 2, 2, of_y);
  rows.dimensions = 2;
  const int on_device = (by.flags & some_buffer_device_dirty) != 0;
  if (some_softmax(&rows, &bp) != 0) return 2;
  if (halide_copy_to_host(0, &bp) != 0 || halide_copy_to_host(0, &by) != 0) return 3;
  printf("%d: %g %g %g, %.5f %.5f %.5f\n", on_device, y[0], y[1], y[2], p[0], p[1], p[2]);
  halide_device_free(0, &bx);
  halide_device_free(0, &by);
  halide_device_free(0, &bi);
  halide_device_free(0, &bp);
  return 0;
}
)";

std::string said_by_program(const std::string &target) {
  const ScratchFolder folder;
  const std::string out = folder.file("out");
  const auto made = compile_kernels({"some", out, {"softmax", "max_pool2d"}, target});
  EXPECT_EQ(made.library, out + "/libsome.a");
  EXPECT_EQ(made.header, out + "/some.h");
  int code = -1;
  const std::string built =
      read_all("cc -std=c99 -Wall -Wextra -Werror -I " + out + " -o " + folder.file("main") + " " +
                   folder.write("main.c", program) + " " + made.library + " -lm -lpthread -ldl 2>&1",
               code);
  EXPECT_EQ(code, 0) << built;
  const std::string said = read_all(folder.file("main") + " 2>&1", code);
  EXPECT_EQ(code, 0) << said;
  return said;
}

// x is 0 7 2 / 9 4 11 over 6 1 8 / 3 10 5; of 9 10 11 the softmax is 1 e e^2 / (1 + e + e^2).
TEST(KernelLibrary, RunsOnOpenClInAProgramOfC) {
  EXPECT_EQ(said_by_program("opencl"), "1: 9 10 11, 0.09003 0.24473 0.66524\n");
}
TEST(KernelLibrary, RunsOnTheCpuInAProgramOfC) {
  EXPECT_EQ(said_by_program("sse41"), "0: 9 10 11, 0.09003 0.24473 0.66524\n");
}

TEST(KernelLibrary, HasCodeForCuda) {
  const ScratchFolder folder;
  const auto made = compile_kernels({"some", folder.file("out"), {"softmax"}, "cuda"});
  const std::string ptx = ptx_in(made.library);
  ASSERT_NE(ptx.find(".entry"), std::string::npos);
  ASSERT_STRNE(SALTERN_PTXAS, "") << "ptxas was not found: cmake/setup.sh installs it (the wheel nvidia-cuda-nvcc)";
  EXPECT_TRUE(assembled(folder, ptx, "sm_80").good);
}

TEST(KernelLibrary, NamesWhatThereIsNot) {
  const ScratchFolder folder;
  expect_error([&] { compile_kernels({"some", folder.file("out"), {"softmin"}, "opencl"}); }, {"softmin"});
  expect_error([&] { compile_kernels({"some", folder.file("out"), {"softmax"}, "vulkan"}); }, {"vulkan", "opencl"});
  expect_error([&] { compile_kernels({"not a name", folder.file("out"), {"softmax"}, "opencl"}); }, {"not a name"});
}

}  // namespace
}  // namespace saltern
