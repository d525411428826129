#pragma once
// Calls and knobs as JSON text: the keys and values of the tuning database, and how a child process is told what to
// build. A call is a list with a list of extents for each buffer and a number for each scalar.

#include <nlohmann/json.hpp>
#include <string>

#include "generators/call.h"
#include "runtime/error.h"

namespace saltern::autoscheduler {

using generators::Call;
using generators::Knobs;

inline std::string to_text(const Call &call) {
  nlohmann::json list = nlohmann::json::array();
  for (const generators::CallArgument &a : call)
    list.push_back(a.extents.empty() ? nlohmann::json(a.value) : nlohmann::json(a.extents));
  return list.dump();
}

// Keys in alphabetical order, so that equal knobs have equal text.
inline std::string to_text(const Knobs &knobs) { return nlohmann::json(knobs).dump(); }

inline Call call_from_text(const std::string &text) {
  try {
    Call call;
    for (const nlohmann::json &a : nlohmann::json::parse(text))
      if (a.is_array())
        call.emplace_back(a.get<std::vector<int>>());
      else
        call.emplace_back(a.get<double>());
    return call;
  } catch (const nlohmann::json::exception &e) {
    fail("'", text, "' is no call: expected a list of lists of extents and numbers (", e.what(), ")");
  }
}

inline Knobs knobs_from_text(const std::string &text) {
  try {
    return nlohmann::json::parse(text).get<Knobs>();
  } catch (const nlohmann::json::exception &e) {
    fail("'", text, "' are no knobs: expected names with whole numbers (", e.what(), ")");
  }
}

}  // namespace saltern::autoscheduler
