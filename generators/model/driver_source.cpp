#include "generators/model/driver_source.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <vector>

namespace saltern::generators {

namespace {

class Writer {
 public:
  explicit Writer(const DriverFacts &facts) : facts_(facts) {}

  void add(const std::string &file) {
    std::istringstream text(driver_files().at(file));
    for (std::string line; std::getline(text, line);)
      if (!is_switch(line) && line != "#pragma once" &&
          std::all_of(conditions_.begin(), conditions_.end(), [](const Condition &c) { return c.holds; }))
        add_line(line);
  }
  std::string take() { return std::move(text_); }

 private:
  // A condition that is no switch is the C compiler's, and holds here.
  struct Condition {
    bool is_switch, holds;
  };

  bool is_switch(const std::string &line) {
    if (line.rfind("#if", 0) == 0) {
      const auto found = facts_.switches.find(after(line, "#ifdef "));
      conditions_.push_back({found != facts_.switches.end(), found == facts_.switches.end() || found->second});
      return conditions_.back().is_switch;
    }
    if (line == "#else" && conditions_.back().is_switch) {
      conditions_.back().holds ^= true;
      return true;
    }
    if (line != "#endif") return false;
    const bool was_switch = conditions_.back().is_switch;
    conditions_.pop_back();
    return was_switch;
  }

  void add_line(const std::string &line) {
    if (const std::string quoted = after(line, "#include \""); !quoted.empty()) {
      const std::string part = quoted.substr(0, quoted.size() - 1);
      if (!seen_.insert(part).second) return;
      if (part == "tables.h") {
        text_ += facts_.tables;
        return;
      }
      if (part != "NAME.h") return add(part);
    }
    const std::string defined = after(line, "#define ");
    const auto number = facts_.numbers.find(defined.substr(0, defined.find(' ')));
    text_ += named(number == facts_.numbers.end() ? line
                                                  : "#define " + number->first + " " + std::to_string(number->second));
    text_ += '\n';
  }

  static std::string after(const std::string &line, const std::string &start) {
    return line.rfind(start, 0) == 0 ? line.substr(start.size()) : "";
  }

  std::string named(std::string line) const {
    constexpr std::string_view place = "NAME";
    for (size_t at = 0; (at = line.find(place, at)) != std::string::npos; at += facts_.name.size())
      line.replace(at, place.size(), facts_.name);
    return line;
  }

  const DriverFacts &facts_;
  std::vector<Condition> conditions_;
  std::set<std::string> seen_;
  std::string text_;
};

}  // namespace

std::string driver_source(const std::string &file, const DriverFacts &facts) {
  Writer writer(facts);
  writer.add(file);
  return writer.take();
}

}  // namespace saltern::generators
