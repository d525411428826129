#pragma once
// The kinds of file that `saltern info FILE` can tell about: one row each in file_readers.cpp.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace saltern {

struct FileReader {
  const char *kind;
  const char *extension;  // with its dot
  nlohmann::ordered_json (*describe)(const std::string &path);
};

const std::vector<FileReader> &file_readers();

}  // namespace saltern
