#pragma once
// How programs end: 0 good, 1 a wrong result or a failed check, 2 bad usage or input (files and folders that cannot be read
// or written among it), 3 unsupported.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

#include "runtime/error.h"

namespace saltern {

// What the user asked for, run after the whole command line is known to be right; returns the exit code.
using Action = std::function<int()>;

constexpr int failed = 1, bad_usage = 2, not_supported = 3;

// Something that the user gave is wrong: a value, a file. Exit code 2.
class BadInput : public Error {
 public:
  using Error::Error;
};

// Does what only fails where the user's input is wrong, or is not supported. Other exceptions, such as lack of memory,
// stay what they are.
template <typename Work>
auto on_input(const Work &work) {
  try {
    return work();
  } catch (const Unsupported &) {
    throw;
  } catch (const Error &e) {
    throw BadInput(e.what());
  }
}

// Of output that is buffered; what cannot be written (a full disk) is a failure too.
inline void flush_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) fail("cannot write the output: ", std::strerror(errno));
}

// Runs an action; what it throws becomes its exit code and a message.
inline int exit_code_of(const Action &action, std::string &message) {
  try {
    const int code = action();
    flush_output();
    return code;
  } catch (const BadInput &e) {
    message = e.what();
    return bad_usage;
  } catch (const FileError &e) {
    message = e.what();
    return bad_usage;
  } catch (const Unsupported &e) {
    message = e.what();
    return not_supported;
  } catch (const std::exception &e) {
    message = e.what();
    return failed;
  }
}

}  // namespace saltern
