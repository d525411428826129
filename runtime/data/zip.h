#pragma once
// ZIP archives, as far as NumPy's .npz files need them: entries that are stored or deflated, of any size (ZIP64),
// without encryption.
//
// Reading trusts nothing: an entry's data must have exactly the size and the checksum that the directory says, entries
// may not overlap, and no size is believed that the file cannot hold (deflate makes at most 1032 bytes of one). Errors
// name the file, the entry and the fault.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/file.h"

namespace saltern {

struct ZipEntry {
  std::string name;
  uint64_t bytes;         // of the contents
  uint64_t packed_bytes;  // in the file
  uint64_t offset;        // of the entry in the file
  uint32_t checksum;
  bool deflated;
};

class ZipReader {
 public:
  explicit ZipReader(const std::string &path);

  const std::vector<ZipEntry> &entries() const { return entries_; }
  std::vector<uint8_t> read(const ZipEntry &entry) const;

 private:
  struct Directory {
    uint64_t entries, bytes, offset;
  };
  Directory find_directory() const;
  void read_directory(const Directory &directory);

  InputFile file_;
  std::vector<ZipEntry> entries_;
};

// Writes an archive entry by entry; commit() puts it in place. The same entries give the same bytes.
class ZipWriter {
 public:
  ZipWriter(const std::string &path, bool deflate) : file_(path), path_(path), deflate_(deflate) {}

  void add(const std::string &name, const std::vector<uint8_t> &contents);
  void commit();

 private:
  AtomicFile file_;
  std::string path_, directory_;
  bool deflate_;
  uint64_t offset_ = 0, entries_ = 0;
};

}  // namespace saltern
