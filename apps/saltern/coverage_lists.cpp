#include "apps/saltern/coverage_lists.h"

#include <sstream>

#include "runtime/error.h"

namespace saltern {

namespace {

std::vector<std::string> words_of(const std::string &text) {
  std::istringstream in(text);
  std::vector<std::string> all;
  for (std::string word; in >> word;) all.push_back(word);
  return all;
}

class Reading {
 public:
  Reading(const std::string &file, const std::string &text) : text_(text) {
    list_.name = file.substr(0, file.find('.'));
  }

  NameList list() {
    for (std::string line; std::getline(text_, line); ++number_) read(line);
    return list_;
  }

 private:
  void read(const std::string &line) {
    std::vector<std::string> words = words_of(line);
    if (words.size() < 2) refuse("expected a line of two words or more");
    const std::string first = words[0];
    if (first == "#") {
      list_.source = line.substr(2);
    } else if (first == "=" || first == "!" || first == "-") {
      const size_t colon = line.find(": ");
      words = words_of(line.substr(1, colon - 1));
      note(first[0], words, colon == std::string::npos ? "" : line.substr(colon + 2));
    } else {
      words.erase(words.begin());
      if (first == "asks")
        list_.asks = words;
      else
        for (const std::string &w : words) list_.names.push_back({first, w, w});
    }
  }

  void note(char kind, std::vector<std::string> words, const std::string &why) {
    std::string here;
    if (kind == '=') {
      here = words.back();
      words.pop_back();
    } else if (why.empty()) {
      refuse("expected a reason behind a colon");
    }
    for (const std::string &w : words) {
      bool found = false;
      for (ListedName &n : list_.names) {
        if (n.name != w && n.group + "." + n.name != w) continue;
        found = true;
        n.note = why;
        if (kind == '=') n.here = here;
        if (kind == '!') n.kind = ListedName::Kind::other_meaning;
        if (kind == '-') n.kind = ListedName::Kind::no_arithmetic;
      }
      if (!found) refuse("'" + w + "' is no name of the list");
    }
  }

  [[noreturn]] void refuse(const std::string &why) const { fail(list_.name, ".txt, line ", number_, ": ", why); }

  std::istringstream text_;
  NameList list_;
  int number_ = 1;
};

}  // namespace

std::vector<NameList> name_lists() {
  std::vector<NameList> all;
  for (const auto &[file, text] : coverage_texts())
    if (file != tried) all.push_back(Reading(file, text).list());
  return all;
}

}  // namespace saltern
