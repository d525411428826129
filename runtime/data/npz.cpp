#include "runtime/data/npz.h"

#include "runtime/data/npy.h"
#include "runtime/data/zip.h"

namespace saltern {

namespace {

const std::string ending = ".npy";

std::string array_name(const std::string &path, const ZipEntry &e) {
  if (e.name.size() <= ending.size() || e.name.substr(e.name.size() - ending.size()) != ending)
    fail(path, ": the entry '", e.name, "' is not an .npy file");
  return e.name.substr(0, e.name.size() - ending.size());
}

}  // namespace

std::map<std::string, Tensor> read_npz(const std::string &path, const NpzOptions &options) {
  const ZipReader zip(path);
  uint64_t bytes = 0;
  for (const ZipEntry &e : zip.entries()) bytes += e.bytes;  // bounded by what the file can hold
  if (bytes > options.max_bytes)
    fail(path, " holds ", bytes, " bytes when unpacked; at most ", options.max_bytes, " are read");
  std::map<std::string, Tensor> all;
  for (const ZipEntry &e : zip.entries()) {
    const std::string name = array_name(path, e);
    if (!all.emplace(name, decode_npy(zip.read(e), path + ": " + e.name)).second)
      fail(path, " holds '", name, "' twice");
  }
  return all;
}

void write_npz(const std::string &path, const std::map<std::string, Tensor> &tensors, bool compressed) {
  ZipWriter zip(path, compressed);
  for (const auto &[name, t] : tensors) zip.add(name + ending, encode_npy(t, path + ": " + name));
  zip.commit();
}

}  // namespace saltern
