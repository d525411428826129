#include "generators/model/temporary_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "runtime/error.h"
#include "runtime/files/left_overs.h"

namespace saltern::generators {

namespace {

namespace fs = std::filesystem;

const std::string any = "XXXXXX";  // what mkdtemp fills in

void sweep(const fs::path &prefix) {
  const std::string begin = prefix.filename().string();
  std::error_code error;
  for (fs::directory_iterator e(prefix.parent_path(), error); !error && e != fs::directory_iterator();
       e.increment(error)) {
    const std::string name = e->path().filename().string();
    if (name.size() == begin.size() + any.size() && name.compare(0, begin.size(), begin) == 0)
      remove_left_over(e->path().string());
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() : TemporaryFolder((fs::temp_directory_path() / "saltern-work.").string()) {}

TemporaryFolder::TemporaryFolder(const std::string &prefix) {
  sweep(prefix);
  while (descriptor_ < 0) {
    path_ = prefix + any;
    if (!mkdtemp(path_.data())) throw FileError("cannot make a folder " + prefix + any + ": " + std::strerror(errno));
    descriptor_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor_ < 0 && errno != ENOENT) fail("cannot open the folder ", path_, ": ", std::strerror(errno));
    if (descriptor_ >= 0 && !hold(descriptor_, path_)) {
      close(descriptor_);
      descriptor_ = -1;
    }
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  close(descriptor_);
}

void TemporaryFolder::keep_as(const std::string &path) {
  if (rename(path_.c_str(), path.c_str()) != 0) fail("cannot write ", path, ": ", std::strerror(errno));
  path_.clear();
}

}  // namespace saltern::generators
