#include "runtime/files/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/error.h"
#include "runtime/files/left_overs.h"

namespace saltern {

namespace {

constexpr uint64_t largest_transfer = uint64_t{1} << 30;  // Linux moves at most 2 GiB at once

[[noreturn]] void fail_with_errno(const char *what, const std::string &path) {
  throw FileError(std::string("cannot ") + what + " " + path + ": " + std::strerror(errno));
}

std::string folder_of(const std::string &path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

InputFile::InputFile(std::string path) : ByteSource(std::move(path)) {
  // Without O_NONBLOCK, opening a named pipe waits for a writer.
  descriptor_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail_with_errno("open", path_);
  struct stat status = {};
  const bool known = fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    close(descriptor_);
    throw FileError("cannot read " + path_ + ": it is not a regular file");
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

InputFile::~InputFile() { close(descriptor_); }

void InputFile::read(void *to, uint64_t bytes, uint64_t offset) const {
  char *at = static_cast<char *>(to);
  while (bytes > 0) {
    const ssize_t got = pread(descriptor_, at, std::min(bytes, largest_transfer), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_errno("read", path_);
    if (got == 0) fail(path_, " is truncated: ", bytes, " bytes are missing after byte ", offset);
    at += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<uint64_t>(got);
  }
}

std::shared_ptr<void> InputFile::mapped(uint64_t bytes, uint64_t offset) const {
  if (offset > size_ || bytes > size_ - offset) fail(path_, " is truncated: it has ", size_, " bytes");
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t before = offset % page, all = bytes + before;
  void *map = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor_,
                   static_cast<off_t>(offset - before));
  if (map == MAP_FAILED) fail_with_errno("map", path_);
  return {static_cast<char *>(map) + before, [map, all](void *) { munmap(map, all); }};
}

void InputBytes::read(void *to, uint64_t bytes, uint64_t offset) const {
  if (offset > size_ || bytes > size_ - offset)
    fail(path_, " is truncated: ", bytes, " bytes from byte ", offset, " on are missing");
  if (bytes > 0) std::memcpy(to, data_ + offset, bytes);
}

std::vector<uint8_t> read_file(const std::string &path, uint64_t limit) {
  const InputFile file(path);
  if (file.size() > limit) fail(path, " has ", file.size(), " bytes; at most ", limit, " are read");
  std::vector<uint8_t> bytes(file.size());
  file.read(bytes.data(), bytes.size(), 0);
  return bytes;
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  const auto name = [&](int number) { return path_ + ".writing." + std::to_string(number); };
  int number = 0;
  for (; descriptor_ < 0; ++number) {
    temporary_ = name(number);
    remove_left_over(temporary_);
    // Not mkstemp, whose files only their owner may read: these get the permissions that the umask allows.
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) fail_with_errno("write", path_);
    if (descriptor_ >= 0 && !hold(descriptor_, temporary_)) {
      close(descriptor_);
      descriptor_ = -1;
    }
  }
  while (remove_left_over(name(number))) ++number;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::write(const void *from, uint64_t bytes) {
  const char *at = static_cast<const char *>(from);
  while (bytes > 0) {
    const ssize_t put = ::write(descriptor_, at, std::min(bytes, largest_transfer));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_with_errno("write", path_);
    at += put;
    bytes -= static_cast<uint64_t>(put);
  }
}

void AtomicFile::commit() {
  if (fsync(descriptor_) != 0) fail_with_errno("write", path_);
  // Closed only then: what is not held would be taken for a left-over.
  if (rename(temporary_.c_str(), path_.c_str()) != 0) fail_with_errno("write", path_);
  temporary_.clear();
  close(descriptor_);
  descriptor_ = -1;
  // The new name is safe only when the folder that holds it is. Some file systems cannot sync folders; that is no
  // error.
  const int folder = open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  fsync(folder);
  close(folder);
}

void write_atomically(const std::string &path, std::string_view contents) {
  AtomicFile file(path);
  file.write(contents.data(), contents.size());
  file.commit();
}

}  // namespace saltern
