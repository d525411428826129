#include "runtime/files/left_overs.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace saltern {

namespace {

// Whether a name still stands for what is open here.
bool names(const std::string &path, const struct stat &open) {
  struct stat now = {};
  return lstat(path.c_str(), &now) == 0 && now.st_dev == open.st_dev && now.st_ino == open.st_ino;
}

bool remove_unheld(int descriptor, const std::string &path) {
  struct stat status = {};
  if (fstat(descriptor, &status) != 0 || status.st_uid != geteuid()) return false;
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return false;
  // From here on, only who has the lock may remove it: the name cannot come to stand for something new.
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 || !names(path, status)) return false;
  std::error_code error;
  std::filesystem::remove_all(path, error);
  return !error;
}

}  // namespace

bool hold(int descriptor, const std::string &path) {
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  struct stat status = {};
  return fstat(descriptor, &status) == 0 && names(path, status);
}

bool remove_left_over(const std::string &path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool removed = remove_unheld(descriptor, path);
  close(descriptor);
  return removed;
}

}  // namespace saltern
