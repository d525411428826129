#pragma once
// Options of a command in a text file, by their long names: the part of TOML that has keys, and no tables.
//
//   data = "fashion"                      # --data fashion
//   epochs = 3
//   skip-damaged = true
//   net = [
//     "Linear(784, 10)",                  # one value a line; a comma behind the last one may be
//   ]
//
// What stands on the command line comes before what is in the file. Whatever is wrong is a BadInput that names the file, the line
// and the key, and says what was expected.

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace saltern {

struct ConfigEntry {
  std::string key;
  std::vector<std::string> values;
  int line = 0;
};

// Errors name `path`.
std::vector<ConfigEntry> read_config(const std::string &text, const std::string &path);

// Whether an option was given, there or on the command line; a flag that was said to be off was not.
bool is_given(const CLI::Option &option);

// Gives the command those of its options that it has not.
void use_config(CLI::App &command, const std::string &path);

}  // namespace saltern
