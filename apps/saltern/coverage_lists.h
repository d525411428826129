#pragma once
// Names that people know from other frameworks, and what each is called here: the files of coverage/, which are a part of
// this program.
//
//   # keras.layers 3.15.1            where the names come from
//   asks layers                      the tables that may know a name as it stands: layers, functions, keras (functions of
//                                    that family), operators, updates (optimizers), schedules, python (what its package
//                                    has beside rows), metrics (of the package that the group names), transforms
//   conv Conv1D Conv2D               a group, and names in it
//   = Dense Linear: units is ...     has another name here, with the same meaning; what there is to say of arguments
//   ! Select: chooses by ...         has the same name here, with another meaning
//   - Input InputSpec: says what ... is no arithmetic
//
// Of a name that several groups have, GROUP.NAME is one.

#include <map>
#include <string>
#include <vector>

namespace saltern {

struct ListedName {
  enum class Kind { asked, other_meaning, no_arithmetic };

  std::string group, name;
  std::string here;  // what the tables are asked for
  std::string note = {};
  Kind kind = Kind::asked;
};

struct NameList {
  std::string name, source;
  std::vector<std::string> asks;
  std::vector<ListedName> names;
};

// In alphabetical order. Throws where a file is not as above.
std::vector<NameList> name_lists();

// Beside the lists: what was found by trying, which tests/python/tried.py writes and test_coverage.py holds to.
constexpr char tried[] = "tried.txt";

// The files by name (cmake/embed.cmake writes it).
const std::map<std::string, std::string> &coverage_texts();

}  // namespace saltern
