// The denoiser on a small budget: it learns from one kind of pictures, and cleans others, of any size, grey and in colours.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/data/png.h"
#include "runtime/tensor/random.h"
#include "tests/apps/run_program.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

double distance(const Tensor &a, const Tensor &b) {
  double sum = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    const double d = a.data<uint8_t>()[i] - static_cast<double>(b.data<uint8_t>()[i]);
    sum += d * d;
  }
  return std::sqrt(sum / static_cast<double>(a.size()));
}

// A bright rectangle on a dark ground, of another shade in each channel.
struct Pictures {
  Tensor clean, noisy;

  explicit Pictures(int64_t channels)
      : clean(Tensor::empty({40, 53, channels}, Type::u8)), noisy(Tensor::empty({40, 53, channels}, Type::u8)) {
    Random random(7);
    for (int64_t i = 0; i < clean.size(); ++i) {
      const int64_t y = i / channels / 53, x = i / channels % 53, c = i % channels;
      const int level = (y > 10 && y < 30 && x > 8 && x < 40) ? 180 - 10 * static_cast<int>(c) : 60;
      clean.data<uint8_t>()[i] = static_cast<uint8_t>(level);
      noisy.data<uint8_t>()[i] = static_cast<uint8_t>(std::clamp(level + std::lround(40 * random.normal()), 0L, 255L));
    }
  }
};

class Denoiser : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = std::make_unique<ScratchFolder>();
    trained =
        run_program("denoiser", "train --epochs 2 --json --data " SALTERN_SOURCE_DIR "/apps/fashion_mnist/sample -o " +
                                    folder->file("out"));
  }
  static void TearDownTestSuite() { folder.reset(); }

  static Said clean(const std::string &from, const std::string &to) {
    return run_program("denoiser", "clean " + folder->file("out/model.safetensors") + " " + from + " " + to);
  }

  static inline std::unique_ptr<ScratchFolder> folder;
  static inline Said trained;
};

TEST_F(Denoiser, LearnsToTakeNoiseAway) {
  ASSERT_EQ(trained.code, 0) << trained.all;
  const nlohmann::json facts = nlohmann::json::parse(trained.out, nullptr, false);
  EXPECT_NEAR(facts["noisy_decibels"].get<double>(), 13.98, 0.01);  // 10 log10(1 / 0.2^2)
  EXPECT_GT(facts["cleaned_decibels"].get<double>(), facts["noisy_decibels"].get<double>() + 3);
  EXPECT_EQ(read_png(folder->file("out/pictures.png")).extent(2), 3);
}

TEST_F(Denoiser, CleansPicturesOfAnySizeGreyAndInColours) {
  for (int64_t channels : {1, 3}) {
    const Pictures p(channels);
    const std::string noisy = folder->file("noisy.png"), cleaned = folder->file("clean.png");
    write_png(noisy, p.noisy);
    const Said said = clean(noisy, cleaned);
    ASSERT_EQ(said.code, 0) << said.all;
    const Tensor found = read_png(cleaned);
    ASSERT_EQ(found.shape(), p.clean.shape());
    EXPECT_LT(distance(found, p.clean), 0.6 * distance(p.noisy, p.clean)) << channels;
  }
}

TEST_F(Denoiser, BadInputIsNamed) {
  const std::string text = folder->write("text.png", "no picture"), out = folder->file("x.png");
  const Said bad = clean(text, out);
  EXPECT_EQ(bad.code, 2);
  EXPECT_TRUE(contains(bad.all, text));
  EXPECT_EQ(bytes_of_file(out), "");
  const Said no_model = run_program("denoiser", "clean " + text + " " + text + " " + out);
  EXPECT_EQ(no_model.code, 2);
  EXPECT_EQ(run_program("denoiser", "").code, 2);
  EXPECT_EQ(run_program("denoiser", "train --noise -1").code, 2);
}

}  // namespace
}  // namespace saltern
