#include "runtime/nn/written.h"

#include <cctype>
#include <charconv>
#include <map>

#include "runtime/layers/containers.h"
#include "runtime/nn/layer.h"

namespace saltern::nn {

namespace {

class Reading {
 public:
  Reading(const std::string &text, const Make &make) : text_(text), make_(make) {}

  WrittenCall call() {
    const std::string name = word();
    if (name.empty()) expected("a name");
    WrittenCall c = call_of(name);
    end();
    return c;
  }
  Argument constant() {
    const Argument a = argument();
    end();
    return a;
  }

 private:
  [[noreturn]] void expected(const std::string &what) const {
    const std::string found = at_ < text_.size() ? "'" + text_.substr(at_) + "'" : "its end";
    fail("'", text_, "': expected ", what, " where it has ", found);
  }
  char next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool takes(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  void end() {
    if (next() != '\0') expected("no more");
  }

  std::string word() {
    next();
    const auto is_part = [&](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
    const size_t begin = at_;
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) return {};
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // Behind the name; without brackets it is one without arguments.
  WrittenCall call_of(const std::string &name) {
    WrittenCall c{name, {}, {}};
    if (!takes('(')) return c;
    while (!takes(')')) {
      const size_t begin = at_;
      const std::string key = word();
      if (!key.empty() && takes('=')) {
        if (!c.named.emplace(key, argument()).second) fail("'", text_, "': the argument '", key, "' is there twice");
      } else {
        at_ = begin;
        if (!c.named.empty()) expected("an argument by name, behind one that is");
        c.positional.push_back(argument());
      }
      if (next() != ')' && !takes(',')) expected("a comma or a bracket");
    }
    return c;
  }

  Argument argument() {
    // Nobody writes so deep; a hostile text may.
    constexpr int deepest = 64;
    if (++depth_ > deepest) fail("a text has more than ", deepest, " brackets in each other");
    Argument a = value();
    --depth_;
    return a;
  }

  Argument value() {
    const char first = next();
    if (first == '(' || first == '[') return list(first == '(' ? ')' : ']');
    if (first == '\'' || first == '"') return quoted(first);
    if (std::isdigit(static_cast<unsigned char>(first)) || first == '-' || first == '+' || first == '.')
      return number();
    const std::string name = word();
    static const std::map<std::string, Argument> constants = {{"None", {}}, {"True", true}, {"False", false}};
    if (const auto known = constants.find(name); known != constants.end()) return known->second;
    if (name.empty()) expected("a value");
    if (!make_) {
      at_ -= name.size();
      expected("a number, a word in quotes, True, False, None or a list");
    }
    return make_(call_of(name));
  }

  Argument list(char close) {
    ++at_;
    Argument::List all;
    while (!takes(close)) {
      all.push_back(argument());
      if (next() != close && !takes(',')) expected(std::string("a comma or a ") + close);
    }
    return all;
  }

  Argument quoted(char quote) {
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string::npos) expected("the end of a word in quotes");
    const std::string inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return inside;
  }

  Argument number() {
    const bool plus = text_[at_] == '+';
    const char *begin = text_.data() + at_ + plus, *end = text_.data() + text_.size();
    int64_t whole = 0;
    double real = 0;
    const auto as_whole = std::from_chars(begin, end, whole);
    const auto as_real = std::from_chars(begin, end, real);
    if (as_real.ec != std::errc()) expected("a number");
    const bool is_whole = as_whole.ec == std::errc() && as_whole.ptr == as_real.ptr;
    at_ = static_cast<size_t>(as_real.ptr - text_.data());
    return is_whole ? Argument(whole) : Argument(real);
  }

  const std::string &text_;
  const Make &make_;
  size_t at_ = 0;
  int depth_ = 0;
};

Argument::Part module_of(const WrittenCall &c) {
  if (c.name == "Sequential") {
    const auto parts = std::make_shared<Sequential>();
    if (!c.named.empty()) fail("Sequential takes layers, and nothing by name");
    for (const Argument &a : c.positional) {
      const auto *part = a.as<Argument::Part>();
      if (!part) fail("Sequential was given ", to_string(a), "; expected layers");
      parts->add(*part);
    }
    return parts;
  }
  return std::make_shared<Layer>(make(c.name, c.positional, c.named));
}

}  // namespace

WrittenCall written_call(const std::string &text, const Make &make) { return Reading(text, make).call(); }
Argument written_constant(const std::string &text) { return Reading(text, nullptr).constant(); }

std::vector<std::shared_ptr<Module>> written_layers(const std::vector<std::string> &texts) {
  std::vector<std::shared_ptr<Module>> all;
  for (const std::string &text : texts) try {
      all.push_back(module_of(written_call(text, module_of)));
    } catch (const Error &e) {
      fail("layer ", all.size(), ": ", e.what());
    }
  return all;
}

}  // namespace saltern::nn
