// `saltern --plugin`: a model with a plug-in's operator runs, compiles and is verified; without it, it is not supported.

#include "runtime/onnx/export.h"
#include "tests/apps/run_program.h"
#include "tests/imported_model.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

TEST(Plugin, AModelWithItsOperatorIsVerified) {
  const ScratchFolder folder;
  const std::string path = folder.file("model.onnx");
  Model m = model_of("input x f32 [2, 3]\nnode Swish6(x) of my.domain -> y f32 [2, 3]\noutput y\n");
  m.opsets["my.domain"] = 1;
  save_onnx(path, m);
  EXPECT_EQ(run_program("saltern", "verify " + path).code, 3);
  EXPECT_EQ(run_program("saltern", std::string("--plugin " EXAMPLE_PLUGIN " verify ") + path).code, 0);
  EXPECT_EQ(run_program("saltern", "verify --plugin " EXAMPLE_PLUGIN " " + path).code, 0);
  EXPECT_EQ(run_program("saltern", "--plugin /nowhere/lib.so verify " + path).code, 2);
}

}  // namespace
}  // namespace saltern
