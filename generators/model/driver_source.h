#pragma once
// The C sources of driver/, which are a part of this program, as they are written for one model.
//
// Each is C as it stands, for a model named NAME: the build compiles them so, in all their ways, and a mistake in them is
// an error of that build. For a model,
//   NAME becomes its name, wherever it stands;
//   #include "PART.h" becomes that file, once, and tables.h what the plan says;
//   what stands under #ifdef SWITCH is there or is not, and the line of the switch is not;
//   #define NAME_INPUTS 1 gets another number.

#include <map>
#include <string>

namespace saltern::generators {

struct DriverFacts {
  std::string name, tables;
  std::map<std::string, bool> switches;
  std::map<std::string, int64_t> numbers;
};

std::string driver_source(const std::string &file, const DriverFacts &facts);

// The files of driver/ by name (cmake/embed.cmake writes it).
const std::map<std::string, std::string> &driver_files();

}  // namespace saltern::generators
