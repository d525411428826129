#include "runtime/graph/text_line.h"

#include <cstdlib>

#include "runtime/tensor/element.h"

namespace saltern {

namespace {

constexpr const char *containers[] = {"tensor", "sequence", "optional", "optional_sequence"};

int hexadecimal(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

const char *name(Graph::Container container) { return containers[static_cast<size_t>(container)]; }

char Line::next() {
  while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool Line::at_end() {
  next();
  return at_ == text_.size();
}

bool Line::accept(const std::string &symbol) {
  next();
  if (text_.compare(at_, symbol.size(), symbol) != 0) return false;
  at_ += symbol.size();
  return true;
}

bool Line::accept_word(const std::string &word) {
  next();
  const size_t end = at_ + word.size();
  if (text_.compare(at_, word.size(), word) != 0 || (end < text_.size() && is_plain_name(text_.substr(end, 1))))
    return false;
  at_ = end;
  return true;
}

void Line::expect(const std::string &symbol) {
  if (!accept(symbol)) wrong("expected '", symbol, "'");
}

std::string Line::name() {
  if (next() == '"') return word();
  size_t end = at_;
  while (end < text_.size() && is_plain_name(text_.substr(end, 1)) && text_.compare(end, 2, "->") != 0) ++end;
  std::string found = text_.substr(at_, end - at_);
  if (!is_plain_name(found)) wrong("expected a name of letters, digits and _./:- or one in quotes");
  at_ = end;
  return found;
}

Type Line::type() {
  const std::string found = name();
  for (const TypeFacts &t : all_types())
    if (t.name == found) return t.type;
  wrong("'", found, "' is not an element type");
}

bool Line::at_value() { return !at_end() && next() != ',' && next() != '='; }

void Line::shape(Graph::Value &v) {
  if (accept_word("any")) {
    v.ranked = false;
    return;
  }
  bool named = false;
  items("[", "]", [&] {
    const char c = next();
    const bool number = (c >= '0' && c <= '9') || c == '-';
    v.shape.push_back(number ? integer() : -1);
    v.symbols.emplace_back(number || accept("?") ? "" : name());
    named |= !v.symbols.back().empty();
  });
  if (!named) v.symbols.clear();
}

Graph::Value Line::value() {
  Graph::Value v;
  for (size_t c = 0; c < std::size(containers); ++c)
    if (accept_word(containers[c])) v.container = static_cast<Graph::Container>(c);
  v.type = type();
  shape(v);
  if (accept_word("channels_last")) v.layout = Layout::channels_last;
  return v;
}

Tensor Line::referred_tensor(const std::string &name, const Referred &referred) const {
  const auto found = referred.tensors.find(name);
  if (found == referred.tensors.end()) wrong("there is no tensor for the constant '", name, "'");
  return found->second;
}

Tensor Line::elements(const Graph::Value &v, const Referred &referred) {
  if (accept("@")) return referred_tensor(name(), referred);
  const size_t begin = at_;
  const Attribute list = any_list(referred);
  std::vector<double> numbers;
  std::vector<std::string> texts;
  if (const auto *integers = std::get_if<std::vector<int64_t>>(&list))
    numbers.assign(integers->begin(), integers->end());
  else if (const auto *reals = std::get_if<std::vector<double>>(&list))
    numbers = *reals;
  else
    texts = std::get<std::vector<std::string>>(list);
  const size_t given = v.type == Type::text ? texts.size() : numbers.size();
  // Counted before memory is asked for: a shape costs nothing to write.
  int64_t count = -1;
  try {
    count = saltern::elements(v.shape);
  } catch (const Error &) {  // there is no tensor of that shape
  }
  if (count != static_cast<int64_t>(given) || given != numbers.size() + texts.size()) {
    at_ = begin;
    wrong("expected the elements of a tensor of ", facts(v.type).name, " ", to_string(v.shape));
  }
  Tensor t = Tensor::empty(v.shape, v.type);
  for (size_t i = 0; i < numbers.size(); ++i) set_element(v.type, t.raw(), static_cast<int64_t>(i), numbers[i]);
  for (size_t i = 0; i < texts.size(); ++i) t.data<std::string>()[i] = texts[i];
  return t;
}

Tensor Line::tensor(const Referred &referred) {
  if (accept_word("none")) return {};
  Graph::Value v;
  v.type = type();
  v.shape = integers();
  expect("=");
  Tensor t = elements(v, referred);
  if (t.type() != v.type || t.shape() != v.shape)
    wrong("the tensor is ", facts(t.type()).name, " ", to_string(t.shape()));
  return t;
}

SharedGraph Line::graph(const Referred &referred) {
  const std::string which = name();
  const auto found = referred.graphs.find(which);
  if (found == referred.graphs.end()) wrong("there is no graph '", which, "' in the lines before");
  return found->second;
}

Attribute Line::attribute(const Referred &referred) {
  const char c = next();
  if (c == '[') return any_list(referred);
  if (c == '"') return word();
  if (accept("formula ")) return formula();
  if (accept("tensor ")) return tensor(referred);
  if (accept("graph ")) return graph(referred);
  if (accept("reals []")) return std::vector<double>{};
  if (accept("words []")) return std::vector<std::string>{};
  char *end = nullptr;
  const double real = std::strtod(text_.c_str() + at_, &end);
  const size_t length = static_cast<size_t>(end - (text_.c_str() + at_));
  if (length == 0) wrong("expected a number, a list in [] or a word in quotes");
  if (text_.substr(at_, length).find_first_of(".einfEINFaA") == std::string::npos) return integer();
  at_ += length;
  return real;
}

// Of integers, of real numbers or of words, as its first element says.
Attribute Line::any_list(const Referred &referred) {
  std::vector<int64_t> whole;
  std::vector<double> reals;
  std::vector<std::string> words;
  items("[", "]", [&] {
    if (next() == '[') wrong("expected a list of numbers or words");
    const Attribute each = attribute(referred);
    if (const auto *i = std::get_if<int64_t>(&each); i && reals.empty() && words.empty())
      whole.push_back(*i);
    else if (const auto *real = std::get_if<double>(&each); real && whole.empty() && words.empty())
      reals.push_back(*real);
    else if (const auto *word = std::get_if<std::string>(&each); word && whole.empty() && reals.empty())
      words.push_back(*word);
    else
      wrong("expected a list of one kind of element");
  });
  if (!words.empty()) return words;
  if (!reals.empty()) return reals;
  return whole;
}

formula::Expression Line::formula() {
  const std::string text = word();
  try {
    return formula::parse_expression(text);
  } catch (const std::invalid_argument &e) {
    wrong(e.what());
  }
}

Attributes Line::attributes(const Referred &referred) {
  Attributes all;
  if (next() != '{') return all;
  items("{", "}", [&] {
    const std::string key = name();
    if (all.has(key)) wrong("the attribute '", key, "' is given twice");
    expect("=");
    all.set(key, attribute(referred));
  });
  return all;
}

std::map<std::string, std::string> Line::references() {
  std::map<std::string, std::string> all;
  items("{", "}", [&] {
    const std::string key = name();
    expect("=");
    if (!all.emplace(key, name()).second) wrong("the attribute '", key, "' is given twice");
  });
  return all;
}

std::vector<int64_t> Line::integers() {
  std::vector<int64_t> all;
  items("[", "]", [&] { all.push_back(integer()); });
  return all;
}

int64_t Line::integer() {
  next();
  char *end = nullptr;
  errno = 0;
  const long long found = std::strtoll(text_.c_str() + at_, &end, 10);
  const size_t length = static_cast<size_t>(end - (text_.c_str() + at_));
  if (length == 0 || errno != 0) wrong("expected an integer of 64 bits");
  at_ += length;
  return found;
}

std::string Line::word() {
  expect("\"");
  std::string all;
  for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
    if (text_[at_] != '\\' || at_ + 1 == text_.size()) {
      all += text_[at_];
      continue;
    }
    ++at_;
    const int high = at_ + 2 < text_.size() ? hexadecimal(text_[at_ + 1]) : -1;
    const int low = at_ + 2 < text_.size() ? hexadecimal(text_[at_ + 2]) : -1;
    if (text_[at_] == 'x' && high >= 0 && low >= 0) {
      all += static_cast<char>(high * 16 + low);
      at_ += 2;
    } else {
      all += text_[at_] == 'n' ? '\n' : text_[at_];
    }
  }
  if (at_ == text_.size()) wrong("expected '\"'");
  ++at_;
  return all;
}

}  // namespace saltern
