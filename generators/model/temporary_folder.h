#pragma once
// A new folder, for this user alone, that is removed with all that is in it; the next one of the same kind removes those
// that killed processes left (runtime/files/left_overs.h).

#include <string>

namespace saltern::generators {

class TemporaryFolder {
 public:
  // In the system's folder for temporary files.
  TemporaryFolder();
  // `prefix`, a path, and six characters.
  explicit TemporaryFolder(const std::string &prefix);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  const std::string &path() const { return path_; }
  std::string file(const std::string &name) const { return path_ + "/" + name; }
  // Gives it a name under which it stays.
  void keep_as(const std::string &path);

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace saltern::generators
