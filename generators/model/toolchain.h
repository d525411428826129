#pragma once
// The programs of a C tool chain that the model compiler calls: cc and ar. And the folder that it works in.

#include <string>
#include <vector>

namespace saltern::generators {

// A new folder that is removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  const std::string &path() const { return path_; }
  std::string file(const std::string &name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Runs a program, found as the shell finds it, in a folder. Throws an Error with what it printed where it fails, or
// one that says what to install where there is no such program.
void run_program(const std::vector<std::string> &command, const std::string &folder);

// The C compiler and the archiver: the environment's CC and AR, else cc and ar.
std::string c_compiler();
std::string archiver();

}  // namespace saltern::generators
