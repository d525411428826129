#pragma once
// What every part of the run world throws: a message that names the culprit and what was expected.

#include <sstream>
#include <stdexcept>
#include <string>

namespace saltern {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A file or folder, which somebody named, that cannot be opened, read, made or written.
class FileError : public Error {
 public:
  using Error::Error;
};

// A place that a tensor does not have: an element, a row, a class, a dimension.
class BadIndex : public Error {
 public:
  using Error::Error;
};

// What Saltern does not do (an operator, a type, a case of one), rather than what is wrong with the input.
class Unsupported : public Error {
 public:
  using Error::Error;
};

// fail("cannot read ", path, ": ", why)
template <typename... Parts>
[[noreturn]] void fail(const Parts &...parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Error(text.str());
}

template <typename... Parts>
[[noreturn]] void unsupported(const Parts &...parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Unsupported(text.str());
}

}  // namespace saltern
