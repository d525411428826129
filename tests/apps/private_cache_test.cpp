// `saltern run --compiled` loads only what it has made itself: without a cache of the user's it keeps nothing, and a
// cache that others write to or that is damaged is not trusted.

#include <gtest/gtest.h>

#include "runtime/tensor/npz.h"
#include "tests/apps/run_program.h"
#include "tests/apps/small_models.h"

namespace saltern {
namespace {

namespace fs = std::filesystem;

class PrivateCache : public testing::Test {
 protected:
  PrivateCache() {
    save_onnx(folder.file("model.onnx"), scores_model());
    write_npz(folder.file("in.npz"), {{"x", x}, {"b", b}});
    fs::create_directory(temporary);
  }
  Said compiled_run(const std::string &cache) {
    const std::string none = "env -u HOME -u XDG_CACHE_HOME -u SALTERN_CACHE TMPDIR=" + temporary + " ";
    return run_program("saltern",
                       "run " + folder.file("model.onnx") + " --inputs " + folder.file("in.npz") + " --outputs " +
                           folder.file("out.npz") + " --compiled --threads 1",
                       none + (cache.empty() ? "" : "SALTERN_CACHE=" + cache));
  }
  void expect_right(const std::string &cache) {
    fs::remove(folder.file("out.npz"));
    const Said said = compiled_run(cache);
    ASSERT_EQ(said.code, 0) << said.all;
    EXPECT_EQ(read_npz(folder.file("out.npz")).at("scores").reals(), scores_of(x, b).reals());
  }

  const ScratchFolder folder;
  const std::string temporary = folder.file("temporary");
  const Tensor x = counting({2, 3}), b = counting({4});
};

TEST_F(PrivateCache, WithoutAHomeNothingIsKeptAndNothingIsTaken) {
  // Where libraries were once looked for, by anybody.
  fs::create_directories(temporary + "/saltern-cache");
  fs::permissions(temporary + "/saltern-cache", fs::perms::none);
  expect_right("");
  fs::remove(temporary + "/saltern-cache");
  EXPECT_TRUE(fs::is_empty(temporary));
}

TEST_F(PrivateCache, ThatOthersMayWriteToIsRefusedByName) {
  const std::string cache = folder.file("cache");
  fs::create_directory(cache);
  fs::permissions(cache, fs::perms::all);
  const Said said = compiled_run(cache);
  EXPECT_EQ(said.code, 2) << said.all;
  EXPECT_TRUE(contains(said.all, cache));
  EXPECT_TRUE(fs::is_empty(cache));
}

TEST_F(PrivateCache, ADamagedLibraryIsMadeAgain) {
  const std::string cache = folder.file("cache");
  expect_right(cache);
  std::string library;
  for (const auto &e : fs::recursive_directory_iterator(cache))
    if (e.path().filename() == "libmodel.so") library = e.path().string();
  const std::string whole = bytes_of_file(library);
  ASSERT_FALSE(whole.empty());
  std::string flipped = whole;
  for (size_t i = 64; i < whole.size(); i += 101) flipped[i] = static_cast<char>(flipped[i] ^ 16);
  for (const std::string &damaged : {std::string(), whole.substr(0, whole.size() / 2), flipped}) {
    std::ofstream(library, std::ios::binary) << damaged;
    expect_right(cache);
    EXPECT_EQ(bytes_of_file(library), whole);
  }
  EXPECT_TRUE(fs::is_empty(temporary));
}

}  // namespace
}  // namespace saltern
