// A compiled model takes its memory when it is created. Running it allocates nothing, on one thread or on several.

#include <gtest/gtest.h>

#include "generators/model/compile.h"
#include "tests/compiled_graph.h"

namespace saltern {
namespace {

using generators::CompiledModel;
using generators::KernelMemory;

// Every way to the heap is counted; main() fails where a run took one.
constexpr const char *counting = R"(
#include "net.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int taken;
#define COUNTED __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED)
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void *malloc(size_t bytes) { return COUNTED, __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { return COUNTED, __libc_calloc(count, bytes); }
void *realloc(void *memory, size_t bytes) { return COUNTED, __libc_realloc(memory, bytes); }
void *memalign(size_t alignment, size_t bytes) { return COUNTED, __libc_memalign(alignment, bytes); }
void *aligned_alloc(size_t alignment, size_t bytes) { return COUNTED, __libc_memalign(alignment, bytes); }
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  return COUNTED, (*memory = __libc_memalign(alignment, bytes)) ? 0 : 12;
}

static int backwards(void *context, int (*task)(void *closure, int i), void *closure, int count) {
  (void)context;
  for (int i = count - 1; i >= 0; --i)
    if (task(closure, i)) return -1;
  return 0;
}

int main(void) {
  const void *inputs[net_INPUTS];
  void *first[net_OUTPUTS], *again[net_OUTPUTS];
  const net_options all[] = {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 2}, {0, 0, 0, 0, 5}, {0, 0, backwards, 0, 0}};
  for (int i = 0; i < net_INPUTS; ++i) {
    float *data = (float *)malloc(net_input(i)->bytes);
    for (size_t e = 0; e < net_input(i)->elements; ++e) data[e] = (float)(e % 19) / 9 - 1;
    inputs[i] = data;
  }
  for (int i = 0; i < net_OUTPUTS; ++i) first[i] = malloc(net_output(i)->bytes), again[i] = malloc(net_output(i)->bytes);
  if (taken != net_INPUTS + 2 * net_OUTPUTS) return fprintf(stderr, "allocations are not counted\n");
  for (size_t o = 0; o < sizeof all / sizeof all[0]; ++o) {
    taken = 0;
    net_model *model = net_create(&all[o]);
    if (!model || !taken) return 2;
    for (int times = 0; times < 20; ++times) {
      taken = 0;
      if (net_run(model, inputs, o ? again : first)) return fprintf(stderr, "%s\n", net_error(model));
      if (taken) return fprintf(stderr, "%d allocations in a run on %d threads\n", taken, all[o].threads);
      for (int i = 0; o && i < net_OUTPUTS; ++i)
        if (memcmp(first[i], again[i], net_output(i)->bytes)) return fprintf(stderr, "other results\n");
    }
    net_destroy(model);
  }
  return 0;
}
)";

// Layers whose kernels keep something beside their output: packed operands, padded images, rows between the links of a
// chain.
Graph with_temporaries() {
  GraphBuilder b({1, 32, 60, 60});
  b.input("a", {2, 150, 170});
  b.input("b", {2, 170, 90});
  const std::string product = b.graph.add_node("matmul", {"a", "b"}, "product", {2, 150, 90});
  const std::string grouped = b.conv2d("x", {64, 5, 1, 2, 1, 2});
  const std::string wide = b.conv2d("x", {24, 7, 1, 3});
  const std::string each = b.conv2d("x", {32, 5, 1, 2, 1, 32});
  // Two products of one task each, which run at the same time.
  b.input("c", {1, 80, 90});
  b.input("d", {1, 90, 100});
  const std::string left = b.graph.add_node("matmul", {"c", "d"}, "left", {1, 80, 100});
  const std::string right = b.graph.add_node("matmul", {"c", "d"}, "right", {1, 80, 100});
  const std::string chain = b.conv2d(b.conv2d(b.conv2d("x", {320, 1, 1, 0}), {320, 3, 1, 1, 1, 320}), {24, 1, 1, 0});
  return b.finish(
      {product, b.apply("softmax", {b.flatten(grouped)}, {{"axis", int64_t{-1}}}), wide, each, chain, left, right});
}

TEST(CompiledModelMemory, ARunAllocatesNothing) {
  const generators::TemporaryFolder folder;
  EXPECT_EQ(most_lanes(with_temporaries()), 2);
  const CompiledModel made = generators::compile_model(with_temporaries(), {"net", folder.path(), {"avx2", "sse41"}});
  EXPECT_GT(made.kernel_memory.caller, 0) << "no kernel of this test has a temporary on the heap";
  EXPECT_GT(made.kernel_memory.task, 0);
  write_text(folder.file("main.c"), counting);
  build_program(folder.path(), {"libnet.a"});
  EXPECT_NO_THROW(generators::run_program({"./main"}, folder.path()));
}

}  // namespace
}  // namespace saltern
