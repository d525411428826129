#pragma once
// JSON as programs print it. Names of files and values may be in any encoding: what is no UTF-8 is replaced.

#include <nlohmann/json.hpp>
#include <string>

namespace saltern {

template <typename Json>
std::string json_text(const Json &json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace saltern
