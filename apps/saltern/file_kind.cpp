#include "apps/saltern/file_kind.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "runtime/files/file.h"

namespace saltern {

namespace {

// A length of eight bytes, and a header that is JSON.
bool is_safetensors(std::string_view head) {
  const bool small = head.size() > 8 && head.substr(4, 4) == std::string_view("\0\0\0\0", 4);
  return small && head[8] == '{';
}

// A file in it, or none.
bool is_zip(std::string_view head) { return head.substr(0, 4) == "PK\3\4" || head.substr(0, 4) == "PK\5\6"; }

// Two zeros, a type and a rank that there are.
bool is_idx(std::string_view head) {
  constexpr std::string_view types = "\x08\x09\x0b\x0c\x0d\x0e";
  return head.size() >= 4 && head[0] == 0 && head[1] == 0 && types.find(head[2]) != types.npos && head[3] > 0 &&
         head[3] < 32;
}

bool is_text(std::string_view head) {
  return std::all_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 32 || c == '\t' || c == '\n' || c == '\r' || c == '\f';
  });
}

struct Row {
  FileKind kind;
  std::string_view begin;  // of the file; empty: `is` says so
  bool (*is)(std::string_view head);
  const char *name;
};

constexpr std::array<Row, 10> rows = {{
    {FileKind::empty, "", [](std::string_view head) { return head.empty(); }, "empty"},
    {FileKind::npy, "\x93NUMPY", nullptr, "a NumPy array"},
    {FileKind::zip, "", is_zip, "a ZIP archive"},
    {FileKind::png, "\x89PNG", nullptr, "a PNG picture"},
    {FileKind::jpeg, "\xff\xd8\xff", nullptr, "a JPEG picture"},
    {FileKind::gzip, "\x1f\x8b", nullptr, "a gzip file"},
    {FileKind::safetensors, "", is_safetensors, "a safetensors file"},
    {FileKind::idx, "", is_idx, "IDX data"},
    {FileKind::text, "", is_text, "a text"},
    {FileKind::other, "", [](std::string_view) { return true; }, "of no known kind"},
}};

}  // namespace

FileKind kind_of_file(const std::string &path) {
  const InputFile file(path);
  std::array<char, 512> bytes = {};
  const std::string_view head(bytes.data(), std::min<uint64_t>(file.size(), bytes.size()));
  file.read(bytes.data(), head.size(), 0);
  for (const Row &r : rows)
    if (r.is ? r.is(head) : head.substr(0, r.begin.size()) == r.begin) return r.kind;
  return FileKind::other;
}

const char *to_string(FileKind kind) {
  return std::find_if(rows.begin(), rows.end(), [&](const Row &r) { return r.kind == kind; })->name;
}

}  // namespace saltern
