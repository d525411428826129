#include "generators/model/private_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "runtime/error.h"

namespace saltern::generators {

namespace {

namespace fs = std::filesystem;

constexpr mode_t others_write = S_IWGRP | S_IWOTH;

[[noreturn]] void refuse(const std::string &path, const std::string &why) {
  throw FileError("compiled code is not kept in " + path + ": " + why + "; SALTERN_CACHE names a folder of one's own");
}

struct stat status_of(const std::string &path) {
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0 && mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    throw FileError("cannot make the folder " + path + ": " + std::strerror(errno));
  if (lstat(path.c_str(), &status) != 0) throw FileError("cannot open " + path + ": " + std::strerror(errno));
  return status;
}

// One step of the way: nobody else may exchange what is behind it.
void expect_firm(const std::string &path, const struct stat &status) {
  if (S_ISLNK(status.st_mode)) {
    if (status.st_uid != geteuid() && status.st_uid != 0)
      refuse(path, "it is a link of user " + std::to_string(status.st_uid));
  } else if (!S_ISDIR(status.st_mode)) {
    refuse(path, "it is not a folder");
  } else if ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0) {
    refuse(path, "everybody may exchange what is in it");
  }
}

// The folder without links; made where it is missing.
fs::path walked(const fs::path &folder) {
  constexpr int most_links = 40;  // as the system follows
  fs::path left = fs::absolute(folder).lexically_normal(), way = "/";
  for (int links = 0; links <= most_links;) {
    left = left.relative_path();
    if (left.empty()) return way;
    const fs::path next = way / *left.begin();
    const struct stat status = status_of(next.string());
    expect_firm(next.string(), status);
    fs::path rest;
    for (auto part = ++left.begin(); part != left.end(); ++part) rest /= *part;
    if (!S_ISLNK(status.st_mode)) {
      way = next;
      left = rest;
      continue;
    }
    ++links;
    left = (way / fs::read_symlink(next) / rest).lexically_normal();
    way = "/";
  }
  refuse(folder.string(), "too many links lead to it");
}

}  // namespace

bool is_private(const std::string &folder) {
  struct stat status = {};
  return stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & others_write) == 0;
}

std::string private_folder(const std::string &folder) {
  const std::string real = walked(folder).string();
  const struct stat status = status_of(real);
  if (status.st_uid != geteuid()) refuse(real, "it belongs to user " + std::to_string(status.st_uid));
  if ((status.st_mode & others_write) != 0) refuse(real, "others may write to it");
  return real;
}

}  // namespace saltern::generators
