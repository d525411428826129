// What a program can ask of a compiled model: memory, loops and threads of its own. And a CPU that cannot run it is an
// error, not a crash.

#include <gtest/gtest.h>

#include "generators/model/compile.h"
#include "tests/compiled_program.h"

namespace saltern {
namespace {

// Each claim is a function; the program's argument names one. A claim that does not hold is printed, with its line.
constexpr const char *claims = R"(
#define _GNU_SOURCE
#include <dirent.h>
#include "net.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define expect(claim) \
  do { if (!(claim)) { fprintf(stderr, "line %d: not so: %s\n", __LINE__, #claim); exit(1); } } while (0)

static float *input, *plain, *output;
static int run(net_model *model) {
  const void *inputs[] = {input};
  void *outputs[] = {output};
  memset(output, 255, net_output(0)->bytes);
  return net_run(model, inputs, outputs);
}
static int same_bits(void) { return !memcmp(output, plain, net_output(0)->bytes); }

static struct { int allocated, released; size_t bytes; void *memory; } seen;
static void *allocate(void *context, size_t bytes, size_t alignment) {
  expect(context == &seen);
  ++seen.allocated;
  seen.bytes = bytes;
  return posix_memalign(&seen.memory, alignment, bytes) ? NULL : seen.memory;
}
static void *allocate_nothing(void *context, size_t bytes, size_t alignment) {
  (void)context, (void)bytes, (void)alignment;
  return NULL;
}
static void release(void *context, void *memory) {
  expect(context == &seen && memory == seen.memory);
  ++seen.released;
  free(memory);
}

static void memory_comes_from_the_callers_allocator(void) {
  net_options o = {allocate, release, NULL, &seen, 0};
  net_model *model = net_create(&o);
  expect(model && seen.allocated == 1 && seen.bytes == net_memory_bytes(&o) && seen.bytes >= net_workspace_bytes());
  expect(!run(model) && same_bits());
  expect(seen.released == 0);
  net_destroy(model);
  expect(seen.released == 1 && seen.allocated == 1);
  o.allocate = allocate_nothing;
  expect(!net_create(&o));
  net_destroy(NULL);
}

static int loops, tasks;
static int backwards(void *context, int (*task)(void *closure, int i), void *closure, int count) {
  expect(context == &loops);
  ++loops;
  for (int i = count - 1; i >= 0; --i, ++tasks) {
    const int result = task(closure, i);
    if (result) return result;
  }
  return 0;
}
static int refuse(void *context, int (*task)(void *closure, int i), void *closure, int count) {
  (void)context, (void)task, (void)closure, (void)count;
  return -77;
}

static void loops_run_as_the_caller_runs_them(void) {
  net_options o = {NULL, NULL, backwards, &loops, 4};
  net_model *model = net_create(&o);
  expect(model && !run(model) && same_bits());
  expect(loops > 0 && tasks > loops);
  net_destroy(model);
}

static void a_loop_that_fails_is_an_error(void) {
  net_options o = {NULL, NULL, refuse, NULL, 0};
  net_model *model = net_create(&o);
  expect(model && run(model) != 0 && strstr(net_error(model), "-77"));
  net_destroy(model);
}

static int threads_now(void) {
  char line[200];
  int count = -1;
  FILE *status = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, status)) sscanf(line, "Threads: %d", &count);
  fclose(status);
  return count;
}

static void any_number_of_threads_gives_the_same_bits(void) {
  const int counts[] = {0, 1, 2, 3, 5};
  for (int i = 0; i < 5; ++i) {
    net_options o = {NULL, NULL, NULL, NULL, counts[i]};
    net_model *model = net_create(&o);
    expect(model);
    for (int times = 0; times < 50; ++times) {
      expect(!run(model) && same_bits());
      if (times % 10 == 9) usleep(5000); /* the threads fall asleep, and are woken */
    }
    expect(threads_now() == (counts[i] > 1 ? counts[i] : 1));
    net_destroy(model);
    /* The system may count a thread a little longer than it lives. */
    for (int wait = 0; wait < 1000 && threads_now() > 1; ++wait) usleep(1000);
    expect(threads_now() == 1);
  }
}

static void inputs_and_outputs_are_found_by_name(void) {
  expect(net_abi_version() == net_ABI_VERSION);
  expect(net_input_number("x") == 0 && !strcmp(net_input(0)->name, "x") && net_output_number(net_output(0)->name) == 0);
  expect(net_input_number("y") == -1 && net_output_number("x") == -1 && net_input_number(NULL) == -1);
  expect(!strcmp(net_input(0)->type, "f32") && net_input(0)->rank == 4 && net_input(0)->shape[3] == 40);
  expect(net_memory_bytes(NULL) >= net_workspace_bytes());
}

static int threads_of_process(void) {
  DIR *tasks = opendir("/proc/self/task");
  int count = -2; /* "." and ".." */
  while (readdir(tasks)) ++count;
  closedir(tasks);
  return count;
}

static void handles_share_the_threads_of_the_process(void) {
  const net_options two = {NULL, NULL, NULL, NULL, 2}, three = {NULL, NULL, NULL, NULL, 3};
  net_model *a = net_create(&two);
  expect(a && threads_of_process() == 2);
  net_model *b = net_create(&three);
  expect(b && threads_of_process() == 3);
  expect(!run(a) && same_bits() && !run(b) && same_bits());
  net_destroy(a);
  expect(!run(b) && same_bits());
  net_destroy(b);
  net_destroy(net_create(&two)); /* never ran */
  expect(threads_of_process() == 1);
}

typedef int (*can_use)(int words, const uint64_t *features);
can_use halide_set_custom_can_use_target_features(can_use);
static int nothing(int words, const uint64_t *features) {
  (void)words, (void)features;
  return 0;
}

static void a_lesser_cpu_is_an_error_that_names_the_target(void) {
  halide_set_custom_can_use_target_features(nothing);
  net_model *model = net_create(NULL);
  expect(model && run(model) != 0 && strstr(net_error(model), "sse41"));
  net_destroy(model);
}

int main(int count, char **arguments) {
  const struct { const char *name; void (*claim)(void); } all[] = {
#define CLAIM(name) {#name, name}
      CLAIM(memory_comes_from_the_callers_allocator), CLAIM(loops_run_as_the_caller_runs_them),
      CLAIM(a_loop_that_fails_is_an_error), CLAIM(any_number_of_threads_gives_the_same_bits),
      CLAIM(inputs_and_outputs_are_found_by_name), CLAIM(handles_share_the_threads_of_the_process), CLAIM(a_lesser_cpu_is_an_error_that_names_the_target)};
  input = malloc(net_input(0)->bytes);
  plain = malloc(net_output(0)->bytes);
  output = malloc(net_output(0)->bytes);
  for (size_t i = 0; i < net_input(0)->elements; ++i) input[i] = (float)(i % 17) / 8 - 1;
  net_model *model = net_create(NULL);
  expect(model && !run(model));
  memcpy(plain, output, net_output(0)->bytes);
  net_destroy(model);
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
    if (count == 2 && !strcmp(arguments[1], all[i].name)) {
      all[i].claim();
      return 0;
    }
  return 3;
}
)";

class Options : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new generators::TemporaryFolder;
    GraphBuilder b({1, 3, 40, 40});
    const std::string h = b.apply("relu", {b.conv2d("x", {32})});
    generators::compile_model(b.finish({b.pool("max_pool2d", b.conv2d(h, {48}), 2, 2)}),
                              {"net", folder->path(), {"sse41"}});
    write_text(folder->file("main.c"), claims);
    build_program(folder->path(), {"libnet.a"});
  }
  static void TearDownTestSuite() { delete folder; }

  static void expect_that(const std::string &claim) {
    try {
      generators::run_program({"./main", claim}, folder->path());
    } catch (const Error &e) {
      ADD_FAILURE() << e.what();
    }
  }

  inline static generators::TemporaryFolder *folder = nullptr;
};

TEST_F(Options, MemoryComesFromTheCallersAllocator) { expect_that("memory_comes_from_the_callers_allocator"); }
TEST_F(Options, LoopsRunAsTheCallerRunsThem) { expect_that("loops_run_as_the_caller_runs_them"); }
TEST_F(Options, ALoopThatFailsIsAnError) { expect_that("a_loop_that_fails_is_an_error"); }
TEST_F(Options, AnyNumberOfThreadsGivesTheSameBits) { expect_that("any_number_of_threads_gives_the_same_bits"); }
TEST_F(Options, InputsAndOutputsAreFoundByName) { expect_that("inputs_and_outputs_are_found_by_name"); }
TEST_F(Options, HandlesShareTheThreadsOfTheProcess) { expect_that("handles_share_the_threads_of_the_process"); }
TEST_F(Options, ALesserCpuIsAnErrorThatNamesTheTarget) {
  expect_that("a_lesser_cpu_is_an_error_that_names_the_target");
}

}  // namespace
}  // namespace saltern
