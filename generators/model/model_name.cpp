#include "generators/model/model_name.h"

#include <algorithm>
#include <vector>

#include "runtime/error.h"

namespace saltern::generators {

namespace {

using Words = std::vector<std::string>;

// A program that looks for headers in the model's folder would find the model's in their place.
const Words headers = {"assert", "complex", "ctype",  "dlfcn",   "errno",     "fcntl",    "fenv",    "float",
                       "iso646", "limits",  "locale", "malloc",  "math",      "memory",   "poll",    "inttypes",
                       "sched",  "setjmp",  "signal", "spawn",   "semaphore", "stdalign", "stdarg",  "stdatomic",
                       "stdint", "stdbool", "stddef", "stdio",   "stdlib",    "string",   "strings", "stdnoreturn",
                       "syslog", "tgmath",  "time",   "threads", "uchar",     "unistd",   "wchar",   "wctype"};
// cnd_destroy, thrd_create, timer_create and so on are functions of the C library.
const Words functions = {"cnd", "mtx", "sem", "thrd", "timer"};
const Words prefixes = {"halide", "pthread", "saltern_pool"};

bool has(const Words &all, const std::string &name) { return std::find(all.begin(), all.end(), name) != all.end(); }

}  // namespace

std::string refusal_of_name(const std::string &name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const bool good = !name.empty() && name.size() <= 60 && letter(name[0]) && name[0] != '_' &&
                    std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
  if (!good) return "expected a C identifier of 60 characters at most that begins with a letter";
  for (const std::string &p : prefixes)
    if (name.rfind(p, 0) == 0) return "the prefix " + p + " is taken";
  if (has(headers, name)) return name + ".h is a header of the system";
  return has(functions, name) ? "functions of the C library begin with " + name + "_" : "";
}

void check_model_name(const std::string &name) {
  if (const std::string why = refusal_of_name(name); !why.empty()) fail("'", name, "' cannot name a model: ", why);
}

}  // namespace saltern::generators
