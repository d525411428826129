#include "generators/model/cache.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "generators/model/private_folder.h"
#include "generators/model/temporary_folder.h"
#include "runtime/error.h"
#include "runtime/files/file.h"
#include "runtime/files/hash.h"
#include "runtime/version.h"

namespace saltern::generators {

namespace {

namespace fs = std::filesystem;

const std::string key_file = "key";

std::string checksum(const std::string &path) {
  const InputFile file(path);
  if (file.size() == 0) return content_hash("");
  const std::shared_ptr<void> bytes = file.mapped(file.size(), 0);
  return content_hash({static_cast<const char *>(bytes.get()), file.size()});
}

// What the key file holds: its own checksum, the key, and a line for each file.
std::string sealed(const std::string &key, const std::string &sums) {
  const std::string text = key + "\n" + sums;
  return content_hash(text) + "\n" + text;
}

void seal(const std::string &folder, const std::string &key) {
  std::vector<std::string> lines;
  for (const fs::directory_entry &e : fs::directory_iterator(folder))
    lines.push_back(checksum(e.path().string()) + " " + e.path().filename().string() + "\n");
  std::sort(lines.begin(), lines.end());
  std::string sums;
  for (const std::string &line : lines) sums += line;
  std::ofstream out(folder + "/" + key_file, std::ios::binary);
  out << sealed(key, sums);
  out.close();
  if (!out) fail("cannot write ", folder, "/", key_file);
}

// Throws, or gives no files, where anything is not as it was sealed.
std::vector<std::string> intact_files(const std::string &folder, const std::string &key) {
  constexpr uint64_t room_for_sums = 1 << 20;
  const std::vector<uint8_t> bytes = read_file(folder + "/" + key_file, key.size() + room_for_sums);
  const std::string text(bytes.begin(), bytes.end());
  const size_t before_sums = content_hash("").size() + 1 + key.size() + 1;
  if (text.size() < before_sums) return {};
  const std::string sums = text.substr(before_sums);
  if (text != sealed(key, sums)) return {};
  std::vector<std::string> files;
  std::istringstream lines(sums);
  for (std::string sum, file; lines >> sum >> file; files.push_back(file))
    if (checksum(folder + "/" + file) != sum) return {};
  return files;
}

// Whatever stands in the way of a folder.
void clear(const std::string &path) {
  std::error_code ignored;
  if (fs::is_directory(fs::symlink_status(path, ignored))) fs::permissions(path, fs::perms::owner_all, ignored);
  fs::remove_all(path, ignored);
}

// One at a time replaces what is in a cache. By a file of its own: the folder itself may be one that somebody holds
// (runtime/files/left_overs.h).
class Replacing {
 public:
  explicit Replacing(const std::string &folder)
      : descriptor_(open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR)) {
    if (descriptor_ < 0) throw FileError("cannot write " + folder + "/lock: " + std::strerror(errno));
    while (flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~Replacing() { close(descriptor_); }
  Replacing(const Replacing &) = delete;
  Replacing &operator=(const Replacing &) = delete;

 private:
  int descriptor_;
};

}  // namespace

Cache::Cache(const std::string &folder) : folder_(private_folder(folder)) {}

std::string Cache::place(const std::string &shelf, const std::string &key) const {
  return folder_ + "/" + shelf + "/" + content_hash(key);
}

std::optional<Cache::Entry> Cache::find(const std::string &shelf, const std::string &key) const {
  Entry entry{place(shelf, key), {}};
  try {
    if (is_private(entry.folder)) entry.files = intact_files(entry.folder, key);
  } catch (const Error &) {  // cannot be read: made again
  }
  if (entry.files.empty()) return std::nullopt;
  return entry;
}

Cache::Entry Cache::find_or_make(const std::string &shelf, const std::string &key,
                                 const std::function<void(const std::string &folder)> &make) const {
  if (const auto entry = find(shelf, key)) return *entry;
  TemporaryFolder making(folder_ + "/.making.");
  make(making.path());
  seal(making.path(), key);
  const Replacing alone(folder_);
  // Whoever comes first wins: an entry that is whole is never taken from those who use it.
  if (const auto entry = find(shelf, key)) return *entry;
  const std::string shelf_folder = folder_ + "/" + shelf;
  if (!is_private(shelf_folder)) clear(shelf_folder);
  if (mkdir(shelf_folder.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    throw FileError("cannot make the folder " + shelf_folder + ": " + std::strerror(errno));
  clear(place(shelf, key));
  making.keep_as(place(shelf, key));
  if (const auto entry = find(shelf, key)) return *entry;
  fail("cannot write ", place(shelf, key));
}

namespace {

// The program, or the shared library, that a function is in.
template <typename F>
fs::path file_of(F *function) {
  Dl_info info;
  link_map *map = nullptr;
  const bool known =
      dladdr1(reinterpret_cast<void *>(function), &info, reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP);
  return known && map && *map->l_name ? map->l_name : "/proc/self/exe";
}

}  // namespace

std::string program_identity() {
  std::string identity = version();
  // The compiler may be a library beside one that has the language.
  for (const fs::path &file : std::set<fs::path>{file_of(program_identity), file_of(version)}) {
    std::error_code error;
    const auto written = fs::last_write_time(file, error).time_since_epoch().count();
    identity += " " + std::to_string(fs::file_size(file, error)) + " " + std::to_string(written);
  }
  return identity;
}

}  // namespace saltern::generators
