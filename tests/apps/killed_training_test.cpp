// Training that is killed (kill -9) again and again, and resumed, ends with the same bits as training that is not. KILLS says
// how often: 8 here, 200 by `make kill-training`.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "runtime/tensor/random.h"
#include "tests/apps/run_program.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

void write_pictures(const ScratchFolder &folder, const std::string &part, uint8_t count) {
  const char number = static_cast<char>(count);
  std::string images = {0, 0, 8, 3, 0, 0, 0, number, 0, 0, 0, 28, 0, 0, 0, 28}, labels = {0, 0, 8, 1, 0, 0, 0, number};
  for (int i = 0; i < count; ++i) {
    for (int p = 0; p < 28 * 28; ++p) images += static_cast<char>((p * 37 + i * 11) % 251);
    labels += static_cast<char>(i % 10);
  }
  folder.write(part + "-images-idx3-ubyte", images);
  folder.write(part + "-labels-idx1-ubyte", labels);
}

std::vector<std::string> arguments(const ScratchFolder &data, const std::string &output, int epochs) {
  return {SALTERN_PROGRAM_DIRECTORY "/fashion_mnist",
          "train",
          "--resume",
          "--json",
          "--checkpoint-every",
          "2",
          "--epochs",
          std::to_string(epochs),
          "--batch",
          "8",
          "--data",
          data.file(""),
          "--output",
          output};
}

// The exit code; -1 where it was killed, which happens so many seconds after its start.
int run_for(const std::vector<std::string> &words, double seconds) {
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char *> all;
    for (const std::string &w : words) all.push_back(const_cast<char *>(w.c_str()));
    all.push_back(nullptr);
    const int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, 1);
    dup2(nothing, 2);
    execv(all[0], all.data());
    _exit(127);
  }
  int status = 0;
  for (const auto begin = Clock::now(); std::chrono::duration<double>(Clock::now() - begin).count() < seconds;) {
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// All files but those with seconds; none is half-written.
void expect_same(const std::string &whole, const std::string &killed, int kills) {
  for (const auto &entry : fs::recursive_directory_iterator(whole)) {
    const std::string name = fs::relative(entry.path(), whole).string();
    if (entry.is_directory() || name == "training.json" || name == "report.html") continue;
    EXPECT_TRUE(bytes_of_file(entry.path().string()) == bytes_of_file(killed + "/" + name)) << name << ", " << kills;
  }
  for (const auto &entry : fs::recursive_directory_iterator(killed))
    EXPECT_EQ(entry.path().string().find(".writing"), std::string::npos) << entry.path();
}

TEST(KilledTraining, EndsWithTheSameBits) {
  const char *asked = std::getenv("KILLS");
  const int kills = asked ? std::atoi(asked) : 8, epochs = 6;
  const ScratchFolder folder;
  write_pictures(folder, "train", 96);
  write_pictures(folder, "t10k", 10);
  const std::string whole = folder.file("whole"), killed = folder.file("killed");
  const auto begin = Clock::now();
  ASSERT_EQ(run_for(arguments(folder, whole, epochs), 600), 0);
  const double epoch = std::chrono::duration<double>(Clock::now() - begin).count() / epochs;

  Random random(static_cast<uint64_t>(kills));
  int count = 0, trainings = 0;
  while (count < kills || fs::exists(killed)) {
    const double seconds = count < kills ? 1.2 * epoch * static_cast<double>(random.uniform()) : 600;
    const int code = run_for(arguments(folder, killed, epochs), seconds);
    if (code == -1) {
      ++count;
      continue;
    }
    ASSERT_EQ(code, 0) << "after " << count << " kills";
    expect_same(whole, killed, count);
    fs::remove_all(killed);
    ++trainings;
  }
  std::cout << trainings << " trainings killed " << count << " times\n";
}

TEST(KilledTraining, AFullDiskIsAnErrorThatNamesTheFolder) {
  const ScratchFolder folder;
  write_pictures(folder, "train", 16);
  write_pictures(folder, "t10k", 4);
  const std::string output = folder.file("out");
  const Said said = run_program("fashion_mnist", "train --epochs 2 --data " + folder.file("") + " --output " + output,
                                "trap '' XFSZ; ulimit -f 200;");  // of 1024 bytes: a part of a checkpoint
  EXPECT_EQ(said.code, 2);
  EXPECT_TRUE(contains(said.all, "cannot write checkpoints to the folder " + output + "/checkpoints"));
  EXPECT_TRUE(fs::is_empty(output + "/checkpoints"));
}

}  // namespace
}  // namespace saltern
