#include "apps/saltern/config_file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <set>

#include "apps/saltern/command.h"
#include "runtime/files/file.h"

namespace saltern {

namespace {

constexpr uint64_t most_bytes = 1 << 20;  // nobody writes more

class ConfigReading {
 public:
  ConfigReading(const std::string &text, const std::string &path) : text_(text), path_(path) {}

  std::vector<ConfigEntry> all() {
    std::vector<ConfigEntry> entries;
    std::set<std::string> keys;
    for (skip(true); at_ < text_.size(); skip(true)) {
      ConfigEntry e{key(), {}, line_};
      if (!keys.insert(e.key).second) refuse("'" + e.key + "' is there twice");
      skip(false);
      if (!takes('=')) refuse("expected " + e.key + " = VALUE");
      skip(false);
      if (takes('['))
        list(e);
      else
        e.values.push_back(value(e.key));
      skip(false);
      if (at_ < text_.size() && text_[at_] != '\n') refuse("expected nothing behind the value of '" + e.key + "'");
      entries.push_back(std::move(e));
    }
    return entries;
  }

 private:
  [[noreturn]] void refuse(const std::string &why) const {
    throw BadInput(path_ + ", line " + std::to_string(line_) + ": " + why);
  }
  // Spaces and comments; over the ends of lines, too.
  void skip(bool lines) {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size());
      if (at_ == text_.size() || (text_[at_] == '\n' && !lines) ||
          !std::isspace(static_cast<unsigned char>(text_[at_])))
        return;
      line_ += text_[at_] == '\n';
    }
  }
  bool takes(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  template <typename Is>
  std::string taken_while(const Is &is) {
    const size_t begin = at_;
    while (at_ < text_.size() && is(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::string key() {
    const std::string k =
        taken_while([](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_'; });
    if (k.empty()) refuse("expected KEY = VALUE");
    return k;
  }

  std::string value(const std::string &key) {
    for (const char quote : {'"', '\''}) {
      if (!takes(quote)) continue;
      const std::string inside = taken_while([&](char c) { return c != quote && c != '\n'; });
      if (!takes(quote)) refuse("the text of '" + key + "' has no end: expected a " + quote);
      return inside;
    }
    const std::string bare = taken_while([](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("+-._").find(c) != std::string_view::npos;
    });
    double number = 0;
    const bool is_number =
        CLI::detail::lexical_cast(bare, number) && bare.find_first_of("0123456789") != std::string::npos;
    if (!is_number && bare != "true" && bare != "false")
      refuse("'" + key + "': expected a number, true, false, or a text in quotes" +
             (bare.empty() ? "" : ": \"" + bare + "\""));
    return bare;
  }

  void list(ConfigEntry &e) {
    for (skip(true); !takes(']'); skip(true)) {
      if (at_ == text_.size()) refuse("the list of '" + e.key + "' has no end: expected a ]");
      e.values.push_back(value(e.key));
      skip(true);
      if (!takes(',') && (at_ == text_.size() || text_[at_] != ']'))
        refuse("expected a comma or a ] in the list of '" + e.key + "'");
    }
  }

  const std::string &text_, &path_;
  size_t at_ = 0;
  int line_ = 1;
};

// People write weight_decay, too.
std::string option_name(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return key;
}

std::string keys_of(const CLI::App &command) {
  std::string all;
  for (const CLI::Option *o : command.get_options())
    if (const auto names = o->get_lnames(); !names.empty() && names[0] != "help")
      all += (all.empty() ? "" : ", ") + names[0];
  return all;
}

}  // namespace

std::vector<ConfigEntry> read_config(const std::string &text, const std::string &path) {
  return ConfigReading(text, path).all();
}

bool is_given(const CLI::Option &option) {
  const bool is_flag = option.get_expected_max() == 0;
  return option.count() > 0 && (!is_flag || option.as<bool>());
}

void use_config(CLI::App &command, const std::string &path) {
  const std::vector<uint8_t> bytes = on_input([&] { return read_file(path, most_bytes); });
  const std::string text(bytes.begin(), bytes.end());
  std::set<const CLI::Option *> here;
  for (const ConfigEntry &e : read_config(text, path)) {
    const std::string where = path + ", line " + std::to_string(e.line) + ": ";
    CLI::Option *option = e.key == "help" ? nullptr : command.get_option_no_throw("--" + option_name(e.key));
    if (!option) throw BadInput(where + "there is no option '" + e.key + "'; expected one of " + keys_of(command));
    if (here.count(option)) throw BadInput(where + "'" + e.key + "' is there twice, by another name");
    if (option->count() > 0) continue;
    here.insert(option);
    if (e.values.empty()) throw BadInput(where + "'" + e.key + "' is an empty list");
    try {
      const bool is_flag = option->get_expected_max() == 0;
      for (const std::string &v : e.values)
        option->add_result(is_flag ? option->get_flag_value(option_name(e.key), v) : v);
      option->run_callback();
    } catch (const CLI::Error &error) {
      throw BadInput(where + "'" + e.key + "': " + error.what());
    }
  }
}

}  // namespace saltern
