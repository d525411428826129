// The demo program and what can go wrong with it: data, options, checkpoints. On a few pictures of noise.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/apps/run_program.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

std::string big_endian(uint32_t v) {
  return {static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8), static_cast<char>(v)};
}

// Two classes of pictures: bright ones and dark ones.
void write_data(const ScratchFolder &folder, const std::string &part, uint32_t count) {
  std::string images = std::string("\0\0\x08\3", 4) + big_endian(count) + big_endian(28) + big_endian(28);
  std::string labels = std::string("\0\0\x08\1", 4) + big_endian(count);
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t p = 0; p < 28 * 28; ++p) images += static_cast<char>(i % 2 * 128 + (p * 37 + i * 11) % 100);
    labels += static_cast<char>(i % 2);
  }
  folder.write(part + "-images-idx3-ubyte", images);
  folder.write(part + "-labels-idx1-ubyte", labels);
}

class Training : public testing::Test {
 protected:
  Training() {
    write_data(folder, "train", 10);
    write_data(folder, "t10k", 4);
  }
  // Of 5 steps an epoch, 10 in all.
  Said train(const std::string &options = "") { return run("--epochs 2 --batch 2 " + options); }
  Said run(const std::string &options) {
    const std::string here = std::filesystem::path(checkpoints).parent_path().string();
    return run_program("fashion_mnist", "train --threads 1 --data " + here + " --output " + here + " " + options);
  }

  // The only one; empty where there is none.
  std::string checkpoint() const {
    std::string found;
    for (const auto &entry : std::filesystem::directory_iterator(checkpoints)) found = entry.path().string();
    return found;
  }

  ScratchFolder folder;
  const std::string checkpoints = folder.file("checkpoints");
};

TEST_F(Training, StoppedAnywhereAndResumedLeavesTheSameCheckpoint) {
  ASSERT_EQ(train().code, 0);
  const std::string whole = bytes_of_file(checkpoint());
  for (const char *steps : {"1", "5", "7"}) {  // 5 is the end of an epoch: its accuracy counts
    ASSERT_EQ(train(std::string("--stop-after ") + steps).code, 0);
    ASSERT_NE(bytes_of_file(checkpoint()), whole);
    ASSERT_EQ(train("--resume").code, 0);
    EXPECT_TRUE(bytes_of_file(checkpoint()) == whole) << steps;
  }
}

TEST_F(Training, GoesOnOnlyWithTheOptionsAndTheDataItBeganWith) {
  ASSERT_EQ(train("--stop-after 3").code, 0);
  const std::string before = bytes_of_file(checkpoint());
  struct Case {
    const char *options, *culprit;
  };
  for (const auto &[option, culprit] :
       {Case{"--epochs 2 --batch 5", "batch 2, not 5"}, Case{"--epochs 3 --batch 2", "epochs 2, not 3"},
        Case{"--epochs 2 --batch 2 --seed 7", "seed 1, not 7"}, Case{"--epochs 2 --batch 2 --rate 0.5", "rate 0.0"}}) {
    const Said said = run(std::string("--resume ") + option);
    EXPECT_EQ(said.code, 2) << option;
    EXPECT_TRUE(contains(said.all, checkpoint())) << option;
    EXPECT_TRUE(contains(said.all, culprit));
  }
  write_data(folder, "train", 8);
  EXPECT_TRUE(contains(train("--resume").all, "pictures 10, not 8"));
  EXPECT_TRUE(bytes_of_file(checkpoint()) == before);
}

TEST_F(Training, ALossThatIsNotFiniteEndsItAndLeavesTheCheckpoint) {
  std::filesystem::create_directory(checkpoints);
  const std::string good = folder.write("checkpoints/step-000003.safetensors", "what was there");
  const Said said = train("--rate 1e30");
  EXPECT_EQ(said.code, 1);
  EXPECT_TRUE(contains(said.all, "step "));
  EXPECT_TRUE(contains(said.all, "layer '"));
  EXPECT_EQ(bytes_of_file(good), "what was there");
}

TEST_F(Training, ToResumeNothingIsSaid) {
  const Said said = train("--resume --stop-after 1");
  EXPECT_EQ(said.code, 0);
  EXPECT_TRUE(contains(said.all, "there is no checkpoint in " + checkpoints));
}

TEST_F(Training, ACheckpointWithoutItsPartsIsNamedWithThePart) {
  ASSERT_EQ(train("--stop-after 3").code, 0);
  const std::string path = checkpoint(), good = bytes_of_file(path);
  for (const auto &[part, broken, culprit] : {std::tuple(R"("history.loss")", R"("history.lost")", "'history.loss'"),
                                              std::tuple(R"("step":"3")", R"("step":"x")", "step 'x'"),
                                              std::tuple(R"("step":"3")", R"("stop":"3")", "'step'"),
                                              std::tuple(R"("batch":"2")", R"("catch":"2")", "'batch'")}) {
    std::string bytes = good;
    const size_t at = bytes.find(part);
    ASSERT_NE(at, std::string::npos) << part;
    folder.write("checkpoints/step-000003.safetensors", bytes.replace(at, std::string(part).size(), broken));
    const Said said = train("--resume");
    EXPECT_EQ(said.code, 2) << part;
    EXPECT_TRUE(contains(said.all, path));
    EXPECT_TRUE(contains(said.all, culprit));
  }
}

TEST_F(Training, DataWithoutPicturesIsNamed) {
  for (const char *part : {"t10k", "train"}) {
    write_data(folder, part, 0);
    const Said said = train();
    EXPECT_EQ(said.code, 2) << part;
    EXPECT_TRUE(contains(said.all, std::string(part) + "-images-idx3-ubyte"));
  }
}

}  // namespace
}  // namespace saltern
