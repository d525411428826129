#pragma once
// Files whose errors name them. Reading takes regular files only, so that nothing hangs on a pipe or a device, and the
// size is known before anything is allocated. Writing is atomic: a reader sees the old contents or the new, never a
// part of them, and after commit() they survive a power cut.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace saltern {

// The most bytes that a byte of a deflate stream (gzip, PNG) can become: what bounds a header's claims.
constexpr uint64_t deflate_expansion = 1032;

// Bytes of a known number, to be read at any place: what a loader sees of a file, or of memory.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource &) = delete;
  ByteSource &operator=(const ByteSource &) = delete;

  const std::string &path() const { return path_; }
  uint64_t size() const { return size_; }
  // Reads `bytes` bytes from `offset`; fewer is an error.
  virtual void read(void *to, uint64_t bytes, uint64_t offset) const = 0;

 protected:
  explicit ByteSource(std::string path, uint64_t size = 0) : path_(std::move(path)), size_(size) {}
  std::string path_;
  uint64_t size_;
};

class InputFile : public ByteSource {
 public:
  explicit InputFile(std::string path);
  ~InputFile() override;

  int descriptor() const { return descriptor_; }
  void read(void *to, uint64_t bytes, uint64_t offset) const override;
  // The same bytes without reading them: pages come in when they are looked at, and writing to them changes a copy.
  // They stay as long as what is returned. Whoever cuts the file short meanwhile ends the process that looks there.
  std::shared_ptr<void> mapped(uint64_t bytes, uint64_t offset) const;

 private:
  int descriptor_ = -1;
};

// Bytes in memory, which must outlive it; errors call them `name`.
class InputBytes : public ByteSource {
 public:
  InputBytes(const std::vector<uint8_t> &bytes, std::string name)
      : ByteSource(std::move(name), bytes.size()), data_(bytes.data()) {}
  void read(void *to, uint64_t bytes, uint64_t offset) const override;

 private:
  const uint8_t *data_;
};

// A whole file, unless it is larger than `limit` bytes.
std::vector<uint8_t> read_file(const std::string &path, uint64_t limit);

// Writes into a temporary file beside `path`, PATH.writing.N; commit() puts it in place, destruction without commit()
// removes it. Those that killed processes left are removed by the next that writes the same file.
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
