// Training that was stopped and resumed beside training that was not; folders and disks that cannot be written to.

#include "runtime/training/checkpoints.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>

#include "runtime/nn/all.h"
#include "runtime/training/early_stopping.h"
#include "runtime/training/trainer.h"
#include "tests/scratch_folder.h"

namespace saltern {
namespace {

namespace fs = std::filesystem;

std::set<std::string> files_in(const std::string &folder) {
  std::set<std::string> names;
  for (const auto &entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

// One process: a net with dropout and running statistics, and all that a trainer can keep. 4 steps an epoch, 12 in all.
struct OneRun {
  Tensor x = Random(3).uniform_tensor({21, 5}, -1, 1), y = Random(4).uniform_tensor({21, 2}, -1, 1);
  Sequential net;
  std::unique_ptr<AdamW> optimizer;
  std::unique_ptr<Trainer> trainer;

  OneRun(const std::string &folder, bool resume, int64_t stop_after = 0, int64_t epochs = 3) {
    nn::manual_seed(9);
    net = Sequential(nn::Linear(5, 7), nn::BatchNorm1d(7), nn::Dropout(0.4), nn::Tanh(), nn::Linear(7, 2));
    optimizer = std::make_unique<AdamW>(net);
    TrainerOptions options;
    options.epochs = epochs;
    options.rate = [](int64_t step) { return 0.05 / static_cast<double>(step + 1); };
    options.average = 0.9;
    options.accumulate = 2;
    options.clip_norm = 1;
    options.seed = 4;
    options.steps_a_point = 3;
    options.metrics = {std::make_shared<MeanLoss>(mean_squared_error, "error")};
    options.checkpoints = {folder, 2, 1, "val_loss", resume};
    trainer = std::make_unique<Trainer>(net, mean_squared_error, *optimizer, options);
    const auto stop = std::make_shared<Functions>();
    stop->step_end = [=](Trainer &t, int64_t step, const Logs &) {
      if (step == stop_after) t.stop();
    };
    trainer->add(stop);
    trainer->add(std::make_shared<EarlyStopping>(Monitor{}, 3));
  }
  void fit() {
    BatchOptions o;
    o.size = 3;
    trainer->fit(batches_of(x, y, o), batches_of(x, y, o));
  }
};

TEST(Checkpoints, ResumedTrainingEndsWithTheSameBits) {
  const ScratchFolder folder;
  OneRun whole(folder.file("whole"), false);
  whole.fit();
  const std::string name = "/step-000012.safetensors", wanted = bytes_of_file(folder.file("whole") + name);
  ASSERT_NE(wanted, "");
  for (int64_t step = 1; step <= 12; ++step) {
    const std::string parts = folder.file("parts" + std::to_string(step));
    OneRun(parts, false, step).fit();
    OneRun second(parts, true);
    second.fit();
    EXPECT_EQ(second.trainer->resumed_at(), step);
    EXPECT_TRUE(bytes_of_file(parts + name) == wanted) << step;
    EXPECT_TRUE(second.trainer->history() == whole.trainer->history()) << step;
    EXPECT_TRUE(bytes_of_file(parts + "/best.safetensors") == bytes_of_file(folder.file("whole/best.safetensors")));
  }
}

TEST(Checkpoints, TheLastOnesAndTheBestStay) {
  const ScratchFolder folder;
  OneRun run(folder.file(""), false);
  run.fit();
  EXPECT_EQ(files_in(folder.file("")),
            (std::set<std::string>{"best.safetensors", "step-000011.safetensors", "step-000012.safetensors"}));
  const std::vector<double> losses = run.trainer->history().epochs.at("val_loss");
  const Checkpoint best = load_checkpoint(folder.file("best.safetensors"));
  EXPECT_EQ(best.tensors.at("best").reals()[0], *std::min_element(losses.begin(), losses.end()));
}

TEST(Checkpoints, ATrainingThatBeginsAnewDropsThoseOfTheOneBefore) {
  const ScratchFolder folder;
  OneRun(folder.file(""), false).fit();
  OneRun(folder.file(""), false, 3).fit();
  EXPECT_EQ(files_in(folder.file("")),
            (std::set<std::string>{"best.safetensors", "step-000002.safetensors", "step-000003.safetensors"}));
}

TEST(Checkpoints, MoreEpochsGoOn) {
  const ScratchFolder folder;
  OneRun whole(folder.file("whole"), false, 0, 5);
  whole.fit();
  OneRun(folder.file("parts"), false, 0, 2).fit();
  OneRun more(folder.file("parts"), true, 0, 5);
  more.fit();
  EXPECT_EQ(more.trainer->resumed_at(), 8);
  EXPECT_TRUE(more.trainer->history() == whole.trainer->history());
}

TEST(Checkpoints, AFolderThatCannotBeMadeIsNamedBeforeTraining) {
  const ScratchFolder folder;
  const std::string file = folder.write("file", "no folder");
  expect_error([&] { OneRun(file + "/run", false); }, {file + "/run", "Not a directory"});
  expect_error([&] { OneRun("/proc/run", false); }, {"/proc/run"});
}

// Files of this process have at most so many bytes: a disk that fills up, to those who write.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_;
};

TEST(Checkpoints, AFullDiskIsNamedAndTheLastCheckpointIsWhole) {
  const ScratchFolder folder;
  OneRun(folder.file(""), false, 5).fit();
  const std::string last = folder.file("step-000005.safetensors"), before = bytes_of_file(last);
  ASSERT_NE(before, "");
  const std::set<std::string> files = files_in(folder.file(""));
  {
    const SmallDisk disk(before.size() / 2);
    expect_error([&] { OneRun(folder.file(""), true).fit(); }, {"checkpoints to the folder " + folder.file("")});
  }
  EXPECT_TRUE(bytes_of_file(last) == before);
  EXPECT_EQ(files_in(folder.file("")), files);  // nothing half-written
  OneRun again(folder.file(""), true);
  again.fit();
  OneRun whole(folder.file("whole"), false);
  whole.fit();
  EXPECT_TRUE(again.trainer->history() == whole.trainer->history());
}

TEST(Checkpoints, OtherOptionsAreRefusedAndNamed) {
  const ScratchFolder folder;
  OneRun(folder.file(""), false, 5).fit();
  OneRun other(folder.file(""), true);
  other.x = Random(3).uniform_tensor({20, 5}, -1, 1);
  other.y = Random(3).uniform_tensor({20, 2}, -1, 1);
  expect_error([&] { other.fit(); }, {"step-000005.safetensors", "samples 21, not 20"});
}

}  // namespace
}  // namespace saltern
