// A small ResNet on pictures that it makes: the same bytes for the same seed, what augmentation does to a picture, that it learns,
// and that training which was resumed is the training that was not stopped.

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/cifar_resnet/augmentation.h"
#include "runtime/data/cifar.h"
#include "runtime/data/png.h"
#include "tests/apps/run_program.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

// A picture whose pixel (y, x) has the value 1 + 5 y + x, in three channels that differ by hundreds.
Batch one_picture(int64_t epoch) {
  Batch b;
  b.epoch = epoch;
  b.samples = {0};
  b.images = Tensor::empty({1, 3, 5, 5}, Type::f32, Layout::channels_last);
  for (int64_t c = 0; c < 3; ++c)
    for (int64_t y = 0; y < 5; ++y)
      for (int64_t x = 0; x < 5; ++x) b.images.at<float>({0, c, y, x}) = static_cast<float>(100 * c + 1 + 5 * y + x);
  return b;
}

TEST(Augmentation, PicturesAreMirroredAndMovedAndBlackComesIn) {
  std::set<std::vector<double>> seen;
  const Batch before = one_picture(0);
  for (int64_t epoch = 0; epoch < 200; ++epoch) {
    Batch b = one_picture(epoch), again = one_picture(epoch);
    mirrored_and_moved(5, 1, 3)(b);
    mirrored_and_moved(5, 1, 3)(again);
    ASSERT_EQ(b.images.reals(), again.images.reals());
    seen.insert(b.images.reals());
    // By the middle, which is never moved out, one knows how it was moved; then every pixel is told.
    int64_t down = 9, right = 9;
    for (int64_t y = 0; y < 5; ++y)
      for (int64_t x = 0; x < 5; ++x)
        if (b.images.at<float>({0, 0, y, x}) == 13) down = y - 2, right = x - 2;
    ASSERT_LE(std::abs(down), 1);
    ASSERT_LE(std::abs(right), 1);
    const bool mirror = b.images.at<float>({0, 0, 2 + down, 1 + right}) == 14;
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t y = 0; y < 5; ++y)
        for (int64_t x = 0; x < 5; ++x) {
          const int64_t from_y = y - down, moved = x - right, from_x = mirror ? 4 - moved : moved;
          const bool is_inside = from_y >= 0 && from_y < 5 && moved >= 0 && moved < 5;
          ASSERT_EQ(b.images.at<float>({0, c, y, x}),
                    is_inside ? before.images.at<float>({0, c, from_y, from_x}) : 0.0F);
        }
  }
  EXPECT_EQ(seen.size(), 18U);  // 3 x 3 places, mirrored or not
}

class CifarResnet : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = std::make_unique<ScratchFolder>();
    made = run_program("cifar_resnet", "make --train 300 --test 100 " + folder->file("data"));
  }
  static void TearDownTestSuite() { folder.reset(); }
  static Said train(const std::string &to, const std::string &options) {
    return run_program("cifar_resnet", "train --json --width 8 --data " + folder->file("data") + " -o " +
                                           folder->file(to) + " " + options);
  }

  static inline std::unique_ptr<ScratchFolder> folder;
  static inline Said made;
};

TEST_F(CifarResnet, MadePicturesAreInTheFormatAndTheSameForTheSameSeed) {
  ASSERT_EQ(made.code, 0) << made.all;
  const Dataset train = load_cifar({folder->file("data/data_batch_1.bin")});
  ASSERT_EQ(train.size(), 300);
  std::vector<int64_t> counts(10);
  for (int64_t label : train.labels.integers()) ++counts[static_cast<size_t>(label)];
  EXPECT_EQ(counts, std::vector<int64_t>(10, 30));
  const std::string first = bytes_of_file(folder->file("data/data_batch_1.bin"));
  ASSERT_EQ(run_program("cifar_resnet", "make --train 300 --test 100 " + folder->file("again")).code, 0);
  EXPECT_TRUE(bytes_of_file(folder->file("again/data_batch_1.bin")) == first);
  ASSERT_EQ(run_program("cifar_resnet", "make --seed 2 --train 300 --test 100 " + folder->file("again")).code, 0);
  EXPECT_FALSE(bytes_of_file(folder->file("again/data_batch_1.bin")) == first);
  // Those to test on are others.
  EXPECT_EQ(first.find(bytes_of_file(folder->file("data/test_batch.bin")).substr(1, 3072)), std::string::npos);
}

TEST_F(CifarResnet, Learns) {
  const Said said = train("learned", "--epochs 6 --batch 16");
  ASSERT_EQ(said.code, 0) << said.all;
  const nlohmann::json facts = nlohmann::json::parse(said.out, nullptr, false);
  EXPECT_GT(facts["test_accuracy"].get<double>(), 0.3) << "by chance, 0.1";
  for (const char *picture : {"predictions.png", "training.png"})
    EXPECT_EQ(read_png(folder->file(std::string("learned/") + picture)).extent(2), 3) << picture;
  EXPECT_TRUE(contains(bytes_of_file(folder->file("learned/report.html")), "moon"));
}

TEST_F(CifarResnet, ResumedTrainingEndsWithTheSameBitsForAnyNumberOfThreads) {
  ASSERT_EQ(train("whole", "--epochs 2 --batch 60 --threads 1").code, 0);
  // As if it had been killed in the second epoch: the checkpoint of the first is what is left.
  std::filesystem::create_directories(folder->file("part/checkpoints"));
  std::filesystem::copy_file(folder->file("whole/checkpoints/step-000005.safetensors"),
                             folder->file("part/checkpoints/step-000005.safetensors"));
  const Said said = train("part", "--epochs 2 --batch 60 --resume --threads 2");
  ASSERT_EQ(said.code, 0) << said.all;
  EXPECT_TRUE(bytes_of_file(folder->file("part/model.safetensors")) ==
              bytes_of_file(folder->file("whole/model.safetensors")));
}

TEST_F(CifarResnet, BadInputIsNamed) {
  EXPECT_EQ(train("none", "--width 0").code, 2);
  const std::string bad = folder->file("bad");
  std::filesystem::create_directories(bad);
  const std::string arguments = "train --data " + bad + " -o " + folder->file("none");
  const Said nothing = run_program("cifar_resnet", arguments);
  EXPECT_EQ(nothing.code, 2);
  EXPECT_TRUE(contains(nothing.all, bad + "/data_batch_1.bin"));
  folder->write("bad/data_batch_1.bin", "short");
  const Said cut = run_program("cifar_resnet", arguments);
  EXPECT_EQ(cut.code, 2);
  EXPECT_TRUE(contains(cut.all, "data_batch_1.bin has 5 bytes"));
}

}  // namespace
}  // namespace saltern
