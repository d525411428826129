// The demo program: training that was stopped and resumed ends with the same bits as training that was not.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/apps/run_program.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

std::string idx(std::vector<int> extents, int seed, int below) {
  std::string bytes = {0, 0, 8, static_cast<char>(extents.size())};
  int count = 1;
  for (int e : extents) {
    bytes += {0, 0, static_cast<char>(e / 256), static_cast<char>(e % 256)};
    count *= e;
  }
  for (int i = 0; i < count; ++i) bytes += static_cast<char>((i * 7 + i / 5 * seed) % below);
  return bytes;
}

// Small data: 80 pictures to train on and 20 to test, nothing of sense on them.
class FashionMnist : public testing::Test {
 protected:
  void SetUp() override {
    folder.write("train-images-idx3-ubyte", idx({80, 28, 28}, 3, 251));
    folder.write("train-labels-idx1-ubyte", idx({80}, 1, 10));
    folder.write("t10k-images-idx3-ubyte", idx({20, 28, 28}, 11, 251));
    folder.write("t10k-labels-idx1-ubyte", idx({20}, 1, 10));
    int code;
    read_all("gzip " + folder.file("*-ubyte"), code);
    ASSERT_EQ(code, 0);
  }

  // 8 steps an epoch, 16 in all.
  Said train(const std::string &output, const std::string &options = "") {
    return run_program("fashion_mnist", "train --epochs 2 --batch 10 --data " + folder.file("") + " --output " +
                                            folder.file(output) + " " + options);
  }

  const ScratchFolder folder;
};

TEST_F(FashionMnist, StoppedAndResumedTrainingGivesTheSameBits) {
  const Said whole = train("whole");
  ASSERT_EQ(whole.code, 0) << whole.all;
  const std::string model = bytes_of_file(folder.file("whole/model.safetensors")),
                    state = bytes_of_file(folder.file("whole/checkpoints/step-000016.safetensors"));
  ASSERT_NE(model, "");
  EXPECT_TRUE(bytes_of_file(folder.file("whole/checkpoint.safetensors")) == state);
  // In the first epoch, at its end, and in the second.
  for (const std::string steps : {"3", "8", "13"}) {
    const std::string parts = "parts" + steps;
    ASSERT_EQ(train(parts, "--stop-after " + steps).code, 0) << steps;
    EXPECT_EQ(bytes_of_file(folder.file(parts + "/model.safetensors")), "") << "a stopped training leaves no model";
    EXPECT_EQ(bytes_of_file(folder.file(parts + "/checkpoints/step-000016.safetensors")), "") << steps;
    ASSERT_EQ(train(parts, "--resume --threads 1").code, 0) << steps;
    EXPECT_TRUE(bytes_of_file(folder.file(parts + "/model.safetensors")) == model) << steps;
    EXPECT_TRUE(bytes_of_file(folder.file(parts + "/checkpoints/step-000016.safetensors")) == state) << steps;
  }
}

TEST_F(FashionMnist, ToStopAfterTheLastStepIsToTrainToTheEnd) {
  ASSERT_EQ(train("whole").code, 0);
  ASSERT_EQ(train("stopped", "--stop-after 16").code, 0);
  EXPECT_TRUE(bytes_of_file(folder.file("stopped/model.safetensors")) ==
              bytes_of_file(folder.file("whole/model.safetensors")));
}

TEST_F(FashionMnist, ABadCheckpointIsAnErrorThatNamesIt) {
  std::filesystem::create_directory(folder.file("checkpoints"));
  folder.write("checkpoints/step-000003.safetensors", "nonsense");
  const Said said = train("", "--resume");
  EXPECT_EQ(said.code, 2);
  EXPECT_TRUE(contains(said.all, "checkpoints/step-000003.safetensors"));
}

}  // namespace
}  // namespace saltern
