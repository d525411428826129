#include "runtime/training/checkpoints.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "runtime/files/file.h"

namespace saltern {

namespace fs = std::filesystem;

namespace {

constexpr const char *prefix = "step-", *suffix = ".safetensors";

[[noreturn]] void fail_with(const std::string &folder, const std::string &why) {
  throw FileError("cannot write checkpoints to the folder " + folder + ": " + why);
}

}  // namespace

Checkpoints::Checkpoints(CheckpointOptions options) : options_(std::move(options)) {
  if (options_.folder.empty()) return;
  if (options_.keep < 1) fail("checkpoints: the last ", options_.keep, " are to stay; at least 1 has to");
  std::error_code error;
  fs::create_directories(options_.folder, error);
  if (error) fail_with(options_.folder, error.message());
  try {
    AtomicFile(options_.folder + "/checkpoint");  // which nobody commits
  } catch (const FileError &e) {
    fail_with(options_.folder, e.what());
  }
}

std::string Checkpoints::file(int64_t step) const {
  const std::string number = std::to_string(step);
  return options_.folder + "/" + prefix + std::string(number.size() < 6 ? 6 - number.size() : 0, '0') + number + suffix;
}

std::string Checkpoints::best_file() const { return options_.folder + "/best" + suffix; }

std::vector<std::pair<int64_t, std::string>> Checkpoints::all() const {
  std::vector<std::pair<int64_t, std::string>> found;
  for (const auto &entry : fs::directory_iterator(options_.folder)) {
    const std::string name = entry.path().filename().string();
    int64_t step = 0;
    if (name.rfind(prefix, 0) != 0) continue;
    const char *begin = name.data() + std::string(prefix).size();
    const auto [end, error] = std::from_chars(begin, name.data() + name.size(), step);
    if (error == std::errc() && std::string(end) == suffix) found.emplace_back(step, entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string Checkpoints::last() const {
  if (options_.folder.empty()) return {};
  const auto found = all();
  return found.empty() ? "" : found.back().second;
}

void Checkpoints::write(const std::string &path, const Checkpoint &checkpoint) const {
  const std::string where = "the checkpoint " + path + " is not written: tensor ";
  for (const auto &[name, tensor] : checkpoint.tensors) expect_finite(tensor, where + "'" + name + "': ");
  try {
    save_checkpoint(path, checkpoint);
  } catch (const FileError &e) {
    fail_with(options_.folder, e.what());
  }
}

void Checkpoints::save(int64_t step, const Checkpoint &checkpoint) const {
  write(file(step), checkpoint);
  const auto found = all();
  // Those of steps to come are of another training, which was not resumed: they would be taken for the last.
  for (const auto &[other, path] : found)
    if (other > step) fs::remove(path);
  int64_t kept = 0;
  for (auto it = found.rbegin(); it != found.rend(); ++it)
    if (it->first <= step && ++kept > options_.keep) fs::remove(it->second);
}

void Checkpoints::save_best(const Checkpoint &checkpoint) const { write(best_file(), checkpoint); }

}  // namespace saltern
