#include "runtime/tensor/npz.h"

#include <zip.h>

#include <algorithm>
#include <memory>
#include <set>

#include "runtime/files/file.h"
#include "runtime/tensor/npy.h"

namespace saltern {

namespace {

const std::string ending = ".npy";
constexpr uint64_t part = 1 << 20;  // bytes that are moved at once

// What libzip has to say about something that went wrong.
struct Fault : zip_error_t {
  Fault() { zip_error_init(this); }
  ~Fault() { zip_error_fini(this); }
  Fault(const Fault &) = delete;
  Fault &operator=(const Fault &) = delete;
};

using Archive = std::unique_ptr<zip_t, void (*)(zip_t *)>;
using Entry = std::unique_ptr<zip_file_t, int (*)(zip_file_t *)>;

// Reading trusts nothing: an entry's data must have exactly the size and the checksum that the directory says, and no
// size is believed that the archive cannot hold.
class Reader {
 public:
  Reader(const void *bytes, uint64_t size, std::string name) : name_(std::move(name)), size_(size) {
    Fault fault;
    zip_source_t *source = zip_source_buffer_create(bytes, size, 0, &fault);
    if (source) archive_.reset(zip_open_from_source(source, ZIP_RDONLY, &fault));
    if (archive_) return;
    zip_source_free(source);
    fail(name_, " is not a ZIP archive, or is truncated: ", zip_error_strerror(&fault));
  }

  std::map<std::string, Tensor> arrays(const NpzOptions &options) const {
    const auto count = static_cast<uint64_t>(std::max<int64_t>(0, zip_get_num_entries(archive_.get(), 0)));
    uint64_t bytes = 0, packed = 0;
    for (uint64_t i = 0; i < count; ++i) {
      const zip_stat_t s = checked(i);
      bytes += s.size;  // bounded by what the archive can hold
      packed += s.comp_size;
      if (packed > size_) fail(who(s), " is damaged: entries overlap");
    }
    if (bytes > options.max_bytes)
      fail(name_, " holds ", bytes, " bytes when unpacked; at most ", options.max_bytes, " are read");
    std::map<std::string, Tensor> all;
    std::set<std::string> names;
    for (uint64_t i = 0; i < count; ++i) {
      const zip_stat_t s = checked(i);
      const std::string file = s.name, name = file.substr(0, file.size() - ending.size());
      const auto wants = [&](Type type, const Shape &shape) {
        return !options.wants || options.wants(name, type, shape);
      };
      if (!names.insert(name).second) fail(name_, " holds '", name, "' twice");
      if (const Tensor t = array(i, s, wants); t.defined()) all.emplace(name, t);
    }
    return all;
  }

 private:
  std::string who(const zip_stat_t &s) const { return name_ + ": '" + s.name + "'"; }

  // What the directory says of an entry, if that can be true.
  zip_stat_t checked(uint64_t i) const {
    zip_stat_t s;
    if (zip_stat_index(archive_.get(), i, 0, &s) != 0)
      fail(name_, ": entry ", i, " of the directory is damaged: ", zip_strerror(archive_.get()));
    constexpr uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if ((s.valid & needed) != needed) fail(name_, ": entry ", i, " of the directory lacks a name or a size");
    const std::string file = s.name;
    if (file.size() <= ending.size() || file.substr(file.size() - ending.size()) != ending)
      fail(name_, ": the entry '", file, "' is not an .npy file");
    if ((s.valid & ZIP_STAT_ENCRYPTION_METHOD) && s.encryption_method != ZIP_EM_NONE) fail(who(s), " is encrypted");
    if (s.comp_method != ZIP_CM_STORE && s.comp_method != ZIP_CM_DEFLATE)
      fail(who(s), " is packed by method ", s.comp_method, "; only stored and deflated entries are read");
    const bool stored = s.comp_method == ZIP_CM_STORE;
    if (s.comp_size > size_) fail(who(s), " is truncated: its ", s.comp_size, " bytes lie outside of the file");
    if (stored ? s.size != s.comp_size : s.size / deflate_expansion > s.comp_size)
      fail(who(s), " claims ", s.size, " bytes; its ", s.comp_size, " in the file cannot hold them");
    return s;
  }

  // Undefined if it is not wanted.
  Tensor array(uint64_t i, const zip_stat_t &s, const std::function<bool(Type, const Shape &)> &wants) const {
    const Entry entry(zip_fopen_index(archive_.get(), i, 0), zip_fclose);
    if (!entry) fail(who(s), " is damaged: ", zip_strerror(archive_.get()));
    const auto unpack = [&](uint8_t *to, uint64_t bytes) {
      const int64_t got = zip_fread(entry.get(), to, bytes);
      if (got < 0) fail(who(s), " is damaged: ", zip_file_strerror(entry.get()));
      return static_cast<uint64_t>(got);
    };
    const auto wrong_size = [&] {
      fail(who(s), " is damaged: it does not unpack to the ", s.size, " bytes that its directory says");
    };
    const auto next = [&](void *to, uint64_t bytes) {
      for (auto *at = static_cast<uint8_t *>(to); bytes > 0;) {
        const uint64_t got = unpack(at, std::min(bytes, part));
        if (got == 0) wrong_size();
        at += got;
        bytes -= got;
      }
    };
    const Tensor t = decode_npy(next, s.size, name_ + ": " + s.name, wants);
    uint8_t after;
    if (t.defined() && unpack(&after, 1) > 0) wrong_size();  // this checks the sum, too
    return t;
  }

  std::string name_;
  uint64_t size_;
  Archive archive_{nullptr, zip_discard};
};

}  // namespace

std::map<std::string, Tensor> read_npz(const std::string &path, const NpzOptions &options) {
  const InputFile file(path);
  if (file.size() == 0) fail(path, " is not a ZIP archive: it is empty");
  const std::shared_ptr<void> bytes = file.mapped(file.size(), 0);
  return Reader(bytes.get(), file.size(), path).arrays(options);
}

std::map<std::string, Tensor> decode_npz(const std::vector<uint8_t> &bytes, const std::string &name,
                                         const NpzOptions &options) {
  return Reader(bytes.data(), bytes.size(), name).arrays(options);
}

void write_npz(const std::string &path, const std::map<std::string, Tensor> &tensors, bool compressed) {
  if (tensors.empty()) fail("cannot write ", path, ": there are no arrays");
  Fault fault;
  const auto check = [&](bool good, zip_error_t *why) {
    if (!good) fail("cannot write ", path, ": ", zip_error_strerror(why));
  };
  zip_source_t *made = zip_source_buffer_create(nullptr, 0, 0, &fault);
  check(made != nullptr, &fault);
  const std::unique_ptr<zip_source_t, void (*)(zip_source_t *)> kept(made, zip_source_free);
  zip_source_keep(made);  // the archive has a share in it, too
  Archive archive(zip_open_from_source(made, ZIP_CREATE | ZIP_TRUNCATE, &fault), zip_discard);
  if (!archive) zip_source_free(made);
  check(archive != nullptr, &fault);

  constexpr uint16_t first_day = 1 << 5 | 1;   // 1980-01-01, as the format counts
  std::vector<std::vector<uint8_t>> contents;  // read when the archive is closed
  for (const auto &[name, t] : tensors) {
    contents.push_back(encode_npy(t, path + ": " + name));
    zip_source_t *source = zip_source_buffer(archive.get(), contents.back().data(), contents.back().size(), 0);
    const int64_t i = zip_file_add(archive.get(), (name + ending).c_str(), source, ZIP_FL_ENC_UTF_8);
    if (i < 0) zip_source_free(source);
    const auto index = static_cast<uint64_t>(i);
    check(i >= 0 &&
              zip_set_file_compression(archive.get(), index, compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0) == 0 &&
              zip_file_set_dostime(archive.get(), index, 0, first_day, 0) == 0,
          zip_get_error(archive.get()));
  }
  check(zip_close(archive.get()) == 0, zip_get_error(archive.get()));
  (void)archive.release();  // what is closed is gone

  AtomicFile file(path);
  check(zip_source_open(made) == 0, zip_source_error(made));
  std::vector<uint8_t> bytes(part);
  for (int64_t got = 1; got > 0;) {
    got = zip_source_read(made, bytes.data(), bytes.size());
    check(got >= 0, zip_source_error(made));
    file.write(bytes.data(), static_cast<uint64_t>(got));
  }
  zip_source_close(made);
  file.commit();
}

}  // namespace saltern
