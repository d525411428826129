#pragma once
// Files whose errors name them. Reading takes regular files only, so that nothing hangs on a pipe or a device, and the
// size is known before anything is allocated. Writing is atomic: a reader sees the old contents or the new, never a
// part of them, and after commit() they survive a power cut.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace saltern {

// The most bytes that a byte of a deflate stream (gzip, PNG) can become: what bounds a header's claims.
constexpr uint64_t deflate_expansion = 1032;

class InputFile {
 public:
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;

  const std::string &path() const { return path_; }
  uint64_t size() const { return size_; }
  int descriptor() const { return descriptor_; }
  // Reads `bytes` bytes from `offset`; fewer is an error.
  void read(void *to, uint64_t bytes, uint64_t offset) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

// A whole file, unless it is larger than `limit` bytes.
std::vector<uint8_t> read_file(const std::string &path, uint64_t limit);

// Writes into a temporary file beside `path`; commit() puts it in place, destruction without commit() removes it.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  void write(const void *from, uint64_t bytes);
  void commit();

 private:
  std::string path_, temporary_;
  int descriptor_ = -1;
};

// A whole file at once.
void write_atomically(const std::string &path, std::string_view contents);

}  // namespace saltern
