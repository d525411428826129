#pragma once
// The kinds of file that `saltern info FILE` can tell about: one row each in file_readers.cpp. A reader reads the whole
// file, so that what it tells of is known to be good; its errors name the file and the fault.

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace saltern {

struct FileReader {
  std::vector<std::string> endings;  // of the file's name
  // `shapes` gives those of inputs that a model leaves open.
  nlohmann::ordered_json (*describe)(const std::string &path, const std::map<std::string, Shape> &shapes);
  bool is_model = false;  // or may be one
};

const std::vector<FileReader> &file_readers();

}  // namespace saltern
