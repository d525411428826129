#include "generators/model/toolchain.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "generators/child_process.h"
#include "runtime/error.h"
#include "runtime/files/file.h"

namespace saltern::generators {

namespace {

std::string from_environment(const char *variable, const char *otherwise) {
  const char *value = std::getenv(variable);
  return value && *value ? value : otherwise;
}

}  // namespace

void run_program(const std::vector<std::string> &command, const std::string &folder) {
  Outcome outcome;
  try {
    outcome = run_child(command, no_timeout, folder);
  } catch (const Error &e) {
    fail(e.what(), "; compiling a model needs a C compiler and ar (Debian: apt install gcc binutils)");
  }
  if (!outcome.good) fail("'", command[0], "' failed: ", outcome.output);
}

void archive_objects(const std::string &library, const std::string &folder) {
  std::vector<std::string> objects;
  for (const auto &e : std::filesystem::directory_iterator(folder))
    if (e.path().extension() == ".o") objects.push_back(e.path().filename().string());
  std::sort(objects.begin(), objects.end());
  std::vector<std::string> command = {archiver(), "rcsD", library};
  command.insert(command.end(), objects.begin(), objects.end());
  run_program(command, folder);
}

void make_folder(const std::string &folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw FileError("cannot make the folder " + folder + ": " + error.message());
}

std::string put(const std::string &from, const std::string &folder, const std::string &name) {
  const std::string path = folder + "/" + name;
  const InputFile in(from);
  AtomicFile file(path);
  std::vector<uint8_t> part(1 << 20);
  for (uint64_t at = 0; at < in.size(); at += part.size()) {
    const uint64_t bytes = std::min<uint64_t>(part.size(), in.size() - at);
    in.read(part.data(), bytes, at);
    file.write(part.data(), bytes);
  }
  file.commit();
  return path;
}

std::string c_compiler() { return from_environment("CC", "cc"); }
std::string archiver() { return from_environment("AR", "ar"); }

}  // namespace saltern::generators
