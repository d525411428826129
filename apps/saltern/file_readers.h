#pragma once
// The kinds of file that `saltern info FILE` can tell about: one row each in file_readers.cpp. A reader reads the whole
// file, so that what it tells of is known to be good; its errors name the file and the fault.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/saltern/file_kind.h"
#include "apps/saltern/model_options.h"

namespace saltern {

struct FileReader {
  FileKind kind;
  std::vector<std::string> endings;  // of the file's name, where its content does not tell
  // Of the file that the options name, which may have more to say of a model.
  nlohmann::ordered_json (*describe)(const ModelOptions &options);
  bool is_model = false;  // or may be one
};

const std::vector<FileReader> &file_readers();

}  // namespace saltern
