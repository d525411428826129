#include "runtime/nn/signature.h"

#include <algorithm>

#include "runtime/nn/written.h"

namespace saltern::nn {

namespace {

template <typename... Parts>
[[noreturn]] void refuse_arguments(const Parts &...parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw ArgumentError(text.str());
}

std::string trimmed(const std::string &s) {
  const size_t first = s.find_first_not_of(' '), last = s.find_last_not_of(' ');
  return first == std::string::npos ? "" : s.substr(first, last - first + 1);
}

// At commas that are in no bracket and no quotes.
std::vector<std::string> parts_of(const std::string &text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '\'') quoted = !quoted;
    if (!quoted) depth += (c == '(') - (c == ')');
    if (c == ',' && depth == 0 && !quoted)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (std::string &p : parts) p = trimmed(p);
  if (parts.back().empty()) parts.pop_back();
  return parts;
}

}  // namespace

std::string to_string(const Argument &a) {
  if (const auto *b = a.as<bool>()) return *b ? "True" : "False";
  if (const auto *i = a.as<int64_t>()) return std::to_string(*i);
  if (const auto *d = a.as<double>()) {
    std::ostringstream text;
    text << *d;
    return text.str();
  }
  if (const auto *w = a.as<std::string>()) return "'" + *w + "'";
  if (const auto *v = a.as<Variable>()) return "a tensor " + std::string(facts(v->type()).name) + to_string(v->shape());
  if (const auto *v = a.as<Value>()) return "a tensor of rank " + std::to_string(v->rank());
  if (a.as<Argument::Part>()) return "a module";
  if (const auto *list = a.as<Argument::List>()) {
    std::string text;
    for (const Argument &e : *list) text += (text.empty() ? "" : ", ") + to_string(e);
    return "(" + text + ")";
  }
  return "None";
}

Variable variable_of(const Argument &result) {
  const auto *v = result.as<Variable>();
  if (!v) fail("a function gave ", to_string(result), " where one tensor was expected");
  return *v;
}

std::vector<Variable> variables_of(const Argument &result) {
  if (const auto *v = result.as<Variable>()) return {*v};
  std::vector<Variable> all;
  if (const auto *list = result.as<Argument::List>())
    for (const Argument &e : *list)
      for (const Variable &v : variables_of(e)) all.push_back(v);
  return all;
}

Signature::Signature(const std::string &text) : text_(text) {
  bool by_name_only = false;
  for (const std::string &part : parts_of(text)) {
    if (part == "*") {
      by_name_only = true;
      continue;
    }
    const size_t equals = part.find('=');
    Parameter p;
    p.name = trimmed(part.substr(0, equals));
    p.is_required = equals == std::string::npos;
    if (!p.is_required) p.otherwise = written_constant(part.substr(equals + 1));
    p.by_name_only = by_name_only;
    parameters_.push_back(std::move(p));
  }
}

size_t Signature::find(std::string_view name) const {
  return static_cast<size_t>(
      std::find_if(parameters_.begin(), parameters_.end(), [&](const Parameter &p) { return p.name == name; }) -
      parameters_.begin());
}

Arguments Signature::bind(const std::string &owner, const std::vector<Argument> &positional, const Named &named) const {
  const auto places =
      std::count_if(parameters_.begin(), parameters_.end(), [](const Parameter &p) { return !p.by_name_only; });
  if (positional.size() > static_cast<size_t>(places))
    refuse_arguments(owner, " takes ", places, " arguments by place, (", text_, "); ", positional.size(),
                     " were given");
  std::vector<Argument> values = positional;
  for (size_t i = positional.size(); i < parameters_.size(); ++i) {
    const Parameter &p = parameters_[i];
    const auto given = named.find(p.name);
    if (given == named.end() && p.is_required)
      refuse_arguments(owner, " needs the argument '", p.name, "': (", text_, ")");
    values.push_back(given == named.end() ? p.otherwise : given->second);
  }
  for (const auto &[name, value] : named) {
    const size_t i = find(name);
    if (i == parameters_.size()) refuse_arguments(owner, " has no argument '", name, "': (", text_, ")");
    if (i < positional.size()) refuse_arguments(owner, ": the argument '", name, "' was given twice");
  }
  return {*this, owner, std::move(values)};
}

const Argument &Arguments::operator[](std::string_view name) const {
  const size_t i = signature_->find(name);
  if (i == values_.size()) fail(owner_, " was asked for its argument '", name, "'; it has (", signature_->text(), ")");
  return values_[i];
}

Arguments Arguments::with(std::string_view name, Argument value) const {
  Arguments a = *this;
  const_cast<Argument &>(a[name]) = std::move(value);
  return a;
}

std::string Arguments::refused(std::string_view name, const std::string &expected) const {
  return owner_ + ": '" + std::string(name) + "' is " + to_string((*this)[name]) + "; expected " + expected;
}

void Arguments::refuse(std::string_view name, const std::string &expected) const {
  throw Error(refused(name, expected));
}

namespace {

// A tensor of one whole number is one, too.
const int64_t *whole(const Argument &a, int64_t &place) {
  if (const auto *i = a.as<int64_t>()) return i;
  if (const auto *b = a.as<bool>()) return &(place = *b);
  if (const auto *v = a.as<Variable>())
    if (v->size() == 1 && !is_real(v->type())) return &(place = v->value().integers()[0]);
  return nullptr;
}

const double *number(const Argument &a, double &place) {
  int64_t i;
  if (const auto *d = a.as<double>()) return d;
  if (const auto *w = whole(a, i)) return &(place = static_cast<double>(*w));
  return nullptr;
}

}  // namespace

int64_t Arguments::integer(std::string_view name) const {
  int64_t place;
  const int64_t *i = whole((*this)[name], place);
  if (!i) refuse_kind(name, "an integer");
  return *i;
}

double Arguments::real(std::string_view name) const {
  double place;
  const double *d = number((*this)[name], place);
  if (!d) refuse_kind(name, "a number");
  return *d;
}

bool Arguments::flag(std::string_view name) const {
  int64_t place;
  const int64_t *i = whole((*this)[name], place);
  if (!i) refuse_kind(name, "True or False");
  return *i != 0;
}

const std::string &Arguments::word(std::string_view name) const {
  const auto *w = (*this)[name].as<std::string>();
  if (!w) refuse_kind(name, "a word");
  return *w;
}

const std::string &Arguments::word(std::string_view name, const std::vector<std::string> &choices) const {
  const auto *w = (*this)[name].as<std::string>();
  if (w && std::find(choices.begin(), choices.end(), *w) != choices.end()) return *w;
  std::string all;
  for (const std::string &c : choices) all += (all.empty() ? "'" : ", '") + c + "'";
  refuse(name, "one of " + all);
}

template <typename Number>
std::vector<Number> Arguments::numbers(std::string_view name, size_t count, const char *what,
                                       const Number *(*read)(const Argument &, Number &)) const {
  const Argument &a = (*this)[name];
  const auto *list = a.as<Argument::List>();
  const auto several = [&] {
    return count == 0 ? std::string("a list of ") + what : what + (", one or " + std::to_string(count));
  };
  Number place;
  std::vector<Number> all;
  for (const Argument &e : list ? *list : Argument::List{a}) {
    const Number *n = read(e, place);
    if (!n) refuse_kind(name, several());
    all.push_back(*n);
  }
  if (all.size() == 1) all.resize(std::max<size_t>(count, 1), all[0]);
  if (count != 0 && all.size() != count) refuse(name, several());
  return all;
}

std::vector<int64_t> Arguments::integers(std::string_view name, size_t count) const {
  return numbers<int64_t>(name, count, "integers", whole);
}
std::vector<double> Arguments::reals(std::string_view name, size_t count) const {
  return numbers<double>(name, count, "numbers", number);
}

Variable Arguments::variable(std::string_view name) const {
  const Argument &a = (*this)[name];
  if (const auto *v = a.as<Variable>()) return *v;
  double place;
  const double *d = number(a, place);
  if (!d) refuse_kind(name, "a tensor");
  return Tensor::full({}, *d);
}

std::vector<Variable> Arguments::variables(std::string_view name) const {
  const auto *list = (*this)[name].as<Argument::List>();
  if (!list) refuse_kind(name, "a list of tensors");
  std::vector<Variable> all;
  for (const Argument &e : *list) {
    const auto *v = e.as<Variable>();
    if (!v) refuse_kind(name, "a list of tensors");
    all.push_back(*v);
  }
  return all;
}

Value Arguments::value(std::string_view name) const {
  const Argument &a = (*this)[name];
  if (const auto *v = a.as<Value>()) return *v;
  double place;
  const double *d = number(a, place);
  if (!d) refuse_kind(name, "a tensor");
  return Value(*d);
}

}  // namespace saltern::nn
