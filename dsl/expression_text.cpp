// Expressions as text. A node that is used more than once is written once and named, inside of the reduction whose steps
// it reads:
//   t0 = exp(x0.f32[a0, a1]); divide(t0, add(t0, f32 1))
//   sum{s0 < 7}(t0 = x0.f32[a0, s0]; multiply(t0, t0))

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "dsl/value.h"

namespace saltern::formula {

namespace {

using Kind = Expression::Kind;

std::string number_text(const Expression::Node &n) {
  if (!is_real(n.type)) return std::to_string(n.integer);
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", n.real);
  return text;
}

class Writer {
 public:
  std::string write(const Expression &e) {
    count(e);
    scopes_.push_back({});
    const std::string result = text(e);
    return scopes_[0].names + result;
  }

 private:
  void count(const Expression &e) {
    if (++uses_[e.get()] > 1) return;
    for (const Expression &a : e->arguments) count(a);
  }

  static bool is_leaf(const Expression::Node &n) { return n.kind < Kind::load; }

  std::string text(const Expression &e) {
    const auto known = names_.find(e.get());
    if (known != names_.end()) return known->second;
    std::string written = plain(*e.get());
    if (uses_[e.get()] < 2 || is_leaf(*e.get())) return written;
    const std::string name = "t" + std::to_string(names_.size());
    scope_of(e).names += name + " = " + written + "; ";
    return names_[e.get()] = name;
  }

  // What is named at the beginning of a reduction's body, or of the whole text.
  struct Scope {
    std::set<int> steps = {};
    std::string names = {};
  };

  // The innermost one whose steps it reads.
  Scope &scope_of(const Expression &e) {
    const std::set<int> &read = reads_.of(e);
    size_t at = scopes_.size() - 1;
    const auto is_read = [&](int id) { return read.count(id) > 0; };
    while (at > 0 && std::none_of(scopes_[at].steps.begin(), scopes_[at].steps.end(), is_read)) --at;
    return scopes_[at];
  }

  std::string listed(const std::vector<Expression> &all) {
    std::string s;
    for (const Expression &a : all) s += (s.empty() ? "" : ", ") + text(a);
    return s;
  }

  int step_number(int id) { return steps_.emplace(id, static_cast<int>(steps_.size())).first->second; }

  std::string plain(const Expression::Node &n) {
    const std::string type(facts(n.type).name);
    switch (n.kind) {
      case Kind::constant:
        return type + " " + number_text(n);
      case Kind::axis:
        return "a" + std::to_string(n.number);
      case Kind::step:
        return "s" + std::to_string(step_number(n.number));
      case Kind::symbol:
        return n.name;
      case Kind::carried:
        return "carried." + type;
      case Kind::load:
        return (n.stage ? n.stage->name : "x" + std::to_string(n.number)) + "." + type + "[" + listed(n.arguments) +
               "]";
      case Kind::call:
        return name(n.function) + "(" + listed(n.arguments) + ")";
      case Kind::select:
        return "select(" + listed(n.arguments) + ")";
      case Kind::cast:
        return "cast." + type + "(" + listed(n.arguments) + ")";
      case Kind::bits:
        return "bits." + type + "(" + listed(n.arguments) + ")";
      case Kind::reduce: {
        std::string steps;
        for (const ReductionStep &s : n.steps)
          steps += (steps.empty() ? "s" : ", s") + std::to_string(step_number(s.id)) + " < " + std::to_string(s.extent);
        Scope body;
        for (const ReductionStep &s : n.steps) body.steps.insert(s.id);
        scopes_.push_back(std::move(body));
        const std::string written = text(n.arguments[0]), names = scopes_.back().names;
        scopes_.pop_back();
        return name(n.function) + "{" + steps + "}(" + names + written + ")";
      }
    }
    return "";
  }

  std::unordered_map<const Expression::Node *, int> uses_;
  std::unordered_map<const Expression::Node *, std::string> names_;
  std::unordered_map<int, int> steps_;
  StepsRead reads_;
  std::vector<Scope> scopes_;
};

class Reader {
 public:
  explicit Reader(const std::string &text) : text_(text) {}

  Expression read() {
    const Expression e = with_names();
    spaces();
    if (at_ != text_.size()) wrong("the end");
    expect_shallow(e);
    return e;
  }

 private:
  // Names, and what is written with them.
  Expression with_names() {
    for (;;) {
      const size_t before = at_;
      const std::string word = accept_word();
      if (word.size() > 1 && word[0] == 't' && std::isdigit(static_cast<unsigned char>(word[1])) && accept("=")) {
        const Expression value = expression();
        expect_shallow(value);
        expect(";");
        names_[word] = value;
        continue;
      }
      at_ = before;
      break;
    }
    return expression();
  }

  static constexpr int deepest = 2000;

  [[noreturn]] void wrong(const std::string &expected) const {
    throw std::invalid_argument("formula, character " + std::to_string(at_ + 1) + ": expected " + expected);
  }
  // How deep it is nested, by way of names too: so deep goes whoever walks it.
  int nesting(const Expression &e) {
    const auto known = nesting_.find(e.get());
    if (known != nesting_.end()) return known->second;
    int deepest_argument = 0;
    for (const Expression &a : e->arguments) deepest_argument = std::max(deepest_argument, nesting(a));
    return nesting_[e.get()] = deepest_argument + 1;
  }
  void expect_shallow(const Expression &e) {
    if (nesting(e) > deepest) wrong("less nesting");
  }
  void spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool accept(const std::string &symbol) {
    spaces();
    if (text_.compare(at_, symbol.size(), symbol) != 0) return false;
    at_ += symbol.size();
    return true;
  }
  void expect(const std::string &symbol) {
    if (!accept(symbol)) wrong("'" + symbol + "'");
  }
  std::string accept_word() {
    spaces();
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  const TypeFacts *type_named(const std::string &word) const {
    for (const TypeFacts &t : all_types())
      if (t.name == word) return &t;
    return nullptr;
  }
  Type type() {
    const TypeFacts *t = type_named(accept_word());
    if (!t) wrong("an element type");
    return t->type;
  }
  // The number behind a letter, as in x12.
  bool numbered(const std::string &word, char letter, int &number) const {
    if (word.size() < 2 || word.size() > 7 || word[0] != letter) return false;
    for (size_t i = 1; i < word.size(); ++i)
      if (!std::isdigit(static_cast<unsigned char>(word[i]))) return false;
    number = std::atoi(word.c_str() + 1);
    return true;
  }
  template <typename Parse>
  auto number(const Parse &parse) {
    spaces();
    char *end = nullptr;
    const auto value = parse(text_.c_str() + at_, &end);
    if (end == text_.c_str() + at_) wrong("a number");
    at_ = static_cast<size_t>(end - text_.c_str());
    return value;
  }
  int64_t integer() {
    return number([](const char *from, char **end) { return static_cast<int64_t>(std::strtoll(from, end, 10)); });
  }

  std::vector<Expression> list(const std::string &end) {
    std::vector<Expression> all;
    if (accept(end)) return all;
    do all.push_back(expression());
    while (accept(","));
    expect(end);
    return all;
  }

  Expression expression() {
    if (++depth_ > deepest) wrong("less nesting");
    const Expression e = plain();
    --depth_;
    return e;
  }

  Expression plain() {
    const std::string word = accept_word();
    int n = 0;
    if (const auto known = names_.find(word); known != names_.end()) return known->second;
    if (const TypeFacts *t = type_named(word))
      return is_real(t->type) ? constant(t->type, number([](const char *f, char **end) { return std::strtod(f, end); }))
                              : constant_integer(t->type, integer());
    if (numbered(word, 'a', n)) return axis(n);
    if (numbered(word, 's', n)) {
      const auto known = steps_.find(n);
      if (known == steps_.end()) wrong("a reduction over " + word);
      return known->second;
    }
    if (numbered(word, 'x', n)) {
      expect(".");
      const Type t = type();
      expect("[");
      return load(n, t, list("]"));
    }
    if (word == "carried") {
      expect(".");
      return carried(type());
    }
    if (word == "select") {
      expect("(");
      const std::vector<Expression> a = list(")");
      if (a.size() != 3) wrong("three operands");
      return select(a[0], a[1], a[2]);
    }
    if (word == "cast" || word == "bits") {
      expect(".");
      const Type t = type();
      expect("(");
      const std::vector<Expression> a = list(")");
      if (a.size() != 1) wrong("one operand");
      return word == "cast" ? cast(t, a[0]) : bits_as(t, a[0]);
    }
    for (int f = 0; f <= static_cast<int>(Function::last_least); ++f)
      if (name(static_cast<Function>(f)) == word) return function(static_cast<Function>(f));
    wrong("a formula");
  }

  Expression function(Function f) {
    if (operand_count(f) == 0) return reduction(f);
    expect("(");
    const std::vector<Expression> a = list(")");
    if (static_cast<int>(a.size()) != operand_count(f)) wrong(std::to_string(operand_count(f)) + " operands");
    return a.size() == 1 ? call(f, a[0]) : call(f, a[0], a[1]);
  }

  Expression reduction(Function f) {
    std::vector<int> numbers;
    std::vector<int64_t> extents;
    expect("{");
    if (!accept("}")) {
      do {
        int n = 0;
        if (!numbered(accept_word(), 's', n)) wrong("a step");
        expect("<");
        numbers.push_back(n);
        extents.push_back(integer());
      } while (accept(","));
      expect("}");
    }
    expect("(");
    const Expression e = reduce(f, extents, [&](const std::vector<Expression> &at) {
      for (size_t i = 0; i < at.size(); ++i) steps_[numbers[i]] = at[i];
      return with_names();
    });
    expect(")");
    return e;
  }

  const std::string &text_;
  size_t at_ = 0;
  int depth_ = 0;
  std::unordered_map<std::string, Expression> names_;
  std::unordered_map<int, Expression> steps_;
  std::unordered_map<const Expression::Node *, int> nesting_;
};

}  // namespace

std::string to_string(const Expression &e) { return Writer().write(e); }
Expression parse_expression(const std::string &text) { return Reader(text).read(); }

}  // namespace saltern::formula
