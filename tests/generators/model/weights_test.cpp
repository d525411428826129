// A compiled model with its weights in a file of their own computes the same as one that has them inside, and says what
// is wrong with a file that is not the right one.

#include <gtest/gtest.h>

#include "generators/model/compile.h"
#include "tests/compiled_program.h"
#include "tests/errors.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

using generators::compile_model;
using generators::CompiledModel;
using generators::TemporaryFolder;

// Writes what a model gives to the file "out", and what went wrong when it was created to "error".
constexpr const char *program = R"(
#define _POSIX_C_SOURCE 200112L
#include "net.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static net_model *create(int count, char **arguments, char *error, size_t error_bytes);

int main(int count, char **arguments) {
  char error[300] = "";
  FILE *said = fopen("error", "w"), *out = fopen("out", "wb");
  net_model *model = create(count, arguments, error, sizeof error);
  fputs(error, said);
  fclose(said);
  if (!model) return 0;
  float *x = malloc(net_input(0)->bytes), *y = malloc(net_output(0)->bytes);
  for (size_t i = 0; i < net_input(0)->elements; ++i) x[i] = (float)(i % 7) - 3;
  const void *inputs[] = {x};
  void *outputs[] = {y};
  if (net_run(model, inputs, outputs)) return 4;
  fwrite(y, 1, net_output(0)->bytes, out);
  net_destroy(model);
  return fclose(out);
}
)";

// From the file that the argument names; with another argument from that file in memory, so many bytes off.
constexpr const char *from_file = R"(
static net_model *create(int count, char **arguments, char *error, size_t error_bytes) {
  if (net_create_from_file(NULL, "/no/such/file", NULL, 0)) return NULL; /* nobody wants to know why */
  if (count < 3) return net_create_from_file(NULL, count == 2 ? arguments[1] : NULL, error, error_bytes);
  FILE *in = fopen(arguments[1], "rb");
  const size_t off = (size_t)atoi(arguments[2]), room = 1 << 20;
  void *memory = NULL;
  if (!in || posix_memalign(&memory, 64, room)) exit(2);
  const size_t bytes = fread((char *)memory + off, 1, room - off, in);
  return net_create_from_memory(NULL, (char *)memory + off, bytes, error, error_bytes);
}
)";

constexpr const char *from_inside = R"(
static net_model *create(int count, char **arguments, char *error, size_t error_bytes) {
  (void)count, (void)arguments, (void)error, (void)error_bytes;
  return net_create(NULL);
}
)";

Graph small_net(float bound) {
  GraphBuilder b({2, 12});
  b.constant("w", {9, 12}, -bound, bound);
  return b.finish({b.graph.add_node("dense", {"x", "w", b.constant("bias", {9})}, "y", {2, 9})});
}

class WeightsFile : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder;
    generators::CompileOptions options = {"net", folder->path(), {"sse41"}};
    options.weights_file = true;
    made = new CompiledModel(compile_model(small_net(1), options));
    write_text(folder->file("main.c"), std::string(program) + from_file);
    build_program(folder->path(), {"libnet.a"});
  }
  static void TearDownTestSuite() {
    delete made;
    delete folder;
  }

  // What is wrong with a file of these bytes; empty if the model runs.
  static std::string complaint(const std::string &bytes, const std::vector<std::string> &more = {}) {
    write_text(folder->file("given"), bytes);
    std::vector<std::string> command = {"./main", "given"};
    command.insert(command.end(), more.begin(), more.end());
    generators::run_program(command, folder->path());
    return bytes_of_file(folder->file("error"));
  }

  inline static TemporaryFolder *folder = nullptr;
  inline static CompiledModel *made = nullptr;
};

TEST_F(WeightsFile, GivesTheSameBitsAsWeightsInside) {
  EXPECT_EQ(complaint(bytes_of_file(made->weights_file)), "");
  const std::string mapped = bytes_of_file(folder->file("out"));
  EXPECT_EQ(complaint(bytes_of_file(made->weights_file), {"0"}), "");
  EXPECT_EQ(bytes_of_file(folder->file("out")), mapped);

  const TemporaryFolder inside;
  compile_model(small_net(1), {"net", inside.path(), {"sse41"}});
  write_text(inside.file("main.c"), std::string(program) + from_inside);
  build_program(inside.path(), {"libnet.a"});
  generators::run_program({"./main"}, inside.path());
  EXPECT_EQ(bytes_of_file(inside.file("out")), mapped);
  EXPECT_FALSE(mapped.empty());
}

TEST_F(WeightsFile, AWrongFileIsAnErrorThatSaysWhatIsWrong) {
  const std::string good = bytes_of_file(made->weights_file);
  EXPECT_EQ(good.size(), 64 + static_cast<size_t>(made->weights_bytes));
  EXPECT_TRUE(contains(complaint(""), "given is not a file of Saltern's weights"));
  EXPECT_TRUE(contains(complaint(std::string(1000, 'x')), "given is not a file of Saltern's weights"));
  EXPECT_TRUE(contains(complaint(good.substr(0, good.size() - 1)), "given is cut short"));
  EXPECT_TRUE(contains(complaint(good + "x"), "given is cut short, or has something behind its end"));
  std::string newer = good;
  newer[8] = 99;
  EXPECT_TRUE(contains(complaint(newer), "another version"));
  const TemporaryFolder other;
  generators::CompileOptions options = {"net", other.path(), {"sse41"}};
  options.weights_file = true;
  const std::string stale = bytes_of_file(compile_model(small_net(2), options).weights_file);
  EXPECT_EQ(stale.size(), good.size());
  EXPECT_TRUE(contains(complaint(stale), "another compilation"));
  EXPECT_TRUE(contains(complaint(good, {"4"}), "aligned to 64"));
  generators::run_program({"./main", "/no/such/file"}, folder->path());
  EXPECT_TRUE(contains(bytes_of_file(folder->file("error")), "/no/such/file cannot be read"));
  generators::run_program({"./main", "."}, folder->path());
  EXPECT_TRUE(contains(bytes_of_file(folder->file("error")), "is not a file"));
  generators::run_program({"./main"}, folder->path());
  EXPECT_TRUE(contains(bytes_of_file(folder->file("error")), "null pointer"));
}

}  // namespace
}  // namespace saltern
