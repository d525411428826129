// Operators on texts, all of them the host's.

#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <regex>
#include <set>

#include "runtime/onnx/operators/choices.h"
#include "runtime/onnx/operators/code_points.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/tensor/strided.h"

namespace saltern {

static_assert(sizeof(wchar_t) == 4, "a character holds any code point");

std::wstring code_points(const std::string &text) {
  std::wstring all;
  for (size_t i = 0; i < text.size();) {
    const auto byte = [&](size_t k) { return static_cast<uint8_t>(text[k]); };
    const uint8_t lead = byte(i);
    const int more = lead < 0x80 ? 0 : lead >> 5 == 6 ? 1 : lead >> 4 == 14 ? 2 : lead >> 3 == 30 ? 3 : -1;
    if (more < 0 || i + static_cast<size_t>(more) >= text.size()) fail("a text is not UTF-8");
    uint32_t c = more == 0 ? lead : lead & (0x3F >> more);
    for (int k = 1; k <= more; ++k) {
      if (byte(i + static_cast<size_t>(k)) >> 6 != 2) fail("a text is not UTF-8");
      c = c << 6 | (byte(i + static_cast<size_t>(k)) & 0x3F);
    }
    all.push_back(static_cast<wchar_t>(c));
    i += static_cast<size_t>(more) + 1;
  }
  return all;
}

std::string utf8(const std::wstring &characters) {
  std::string text;
  for (wchar_t w : characters) {
    const auto c = static_cast<uint32_t>(w);
    const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    text.push_back(static_cast<char>(more == 0 ? c : (0xFF00 >> (more + 1) & 0xFF) | c >> 6 * more));
    for (int k = more - 1; k >= 0; --k) text.push_back(static_cast<char>(0x80 | (c >> 6 * k & 0x3F)));
  }
  return text;
}

std::string in_case(Case wanted, const std::string &text) {
  // Of all locales the one that knows Unicode's letters and nothing of a country.
  static const std::shared_ptr<std::remove_pointer_t<locale_t>> letters(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr),
                                                                        [](locale_t l) {
                                                                          if (l) freelocale(l);
                                                                        });
  std::wstring characters = code_points(text);
  for (wchar_t &c : characters) {
    if (!letters && c >= 0x80) unsupported("upper and lower case of '", text, "': there is no C.UTF-8 locale");
    if (c < 0x80)
      c = wanted == Case::lower ? (c >= L'A' && c <= L'Z' ? c + 32 : c) : (c >= L'a' && c <= L'z' ? c - 32 : c);
    else
      c = static_cast<wchar_t>(wanted == Case::lower ? towlower_l(static_cast<wint_t>(c), letters.get())
                                                     : towupper_l(static_cast<wint_t>(c), letters.get()));
  }
  return utf8(characters);
}

namespace {

using Texts = std::vector<std::string>;

// Row-major.
Tensor texts_of(const HostCall &c, size_t input) {
  const Tensor &t = c.tensor(input);
  if (t.type() != Type::text) fail("input ", input, " is ", facts(t.type()).name, "; expected texts");
  return t.in_layout(Layout::row_major);
}

Tensor broadcasted(const Tensor &t, const Shape &shape) {
  return t.viewed(shape, broadcast_strides(t, shape, "StringConcat")).in_layout(Layout::row_major);
}

std::vector<HostValue> concat(const HostCall &c) {
  const Tensor a = texts_of(c, 0), b = texts_of(c, 1);
  const Shape shape = broadcast_shape(a.shape(), b.shape(), "StringConcat");
  const Tensor y = Tensor::empty(shape, Type::text), p = broadcasted(a, shape), q = broadcasted(b, shape);
  for (int64_t i = 0; i < y.size(); ++i) y.data<std::string>()[i] = p.data<std::string>()[i] + q.data<std::string>()[i];
  return {y};
}

// ---- StringSplit.

constexpr const char *blanks = " \t\n\v\f\r";

// At runs of blanks; those at the ends of the text belong to no word. After `most` splits the rest is one word.
Texts words_of(const std::string &text, int64_t most) {
  Texts all;
  size_t at = text.find_first_not_of(blanks);
  while (at != std::string::npos) {
    size_t end = text.find_first_of(blanks, at);
    if (static_cast<int64_t>(all.size()) == most) end = text.find_last_not_of(blanks) + 1;
    all.push_back(text.substr(at, end == std::string::npos ? end : end - at));
    if (static_cast<int64_t>(all.size()) > most) break;
    at = text.find_first_not_of(blanks, end);
  }
  return all;
}

Texts split_at(const std::string &text, const std::string &delimiter, int64_t most) {
  if (delimiter.empty()) return words_of(text, most);
  Texts all;
  size_t at = 0;
  for (size_t end; static_cast<int64_t>(all.size()) < most && (end = text.find(delimiter, at)) != std::string::npos;
       at = end + delimiter.size())
    all.push_back(text.substr(at, end - at));
  all.push_back(text.substr(at));
  return all;
}

std::vector<HostValue> split(const HostCall &c) {
  const Tensor x = texts_of(c, 0), counts = Tensor::empty(x.shape(), Type::i64);
  const std::string delimiter = c.attributes().word("delimiter", "");
  const int64_t most = c.attributes().integer("maxsplit", std::numeric_limits<int64_t>::max());
  std::vector<Texts> all;
  size_t longest = 0;
  for (int64_t i = 0; i < x.size(); ++i) {
    all.push_back(split_at(x.data<std::string>()[i], delimiter, most));
    longest = std::max(longest, all.back().size());
    counts.data<int64_t>()[i] = static_cast<int64_t>(all.back().size());
  }
  Shape shape = x.shape();
  shape.push_back(static_cast<int64_t>(longest));
  const Tensor y = Tensor::empty(shape, Type::text);
  for (size_t i = 0; i < all.size(); ++i) std::copy(all[i].begin(), all[i].end(), y.data<std::string>() + i * longest);
  return {y, counts};
}

// ---- StringNormalizer.

std::vector<HostValue> normalize(const HostCall &c) {
  const Tensor x = texts_of(c, 0);
  if (x.rank() != 1 && (x.rank() != 2 || x.extent(0) != 1))
    fail("its input has the shape ", to_string(x.shape()), "; expected [C] or [1, C]");
  const Attributes &a = c.attributes();
  const std::string change =
      one_of({"NONE", "LOWER", "UPPER"}, "case_change_action", a.word("case_change_action", "NONE"));
  const bool exact = a.integer("is_case_sensitive", 0) != 0;
  const auto key = [&](const std::string &word) { return exact ? word : in_case(Case::lower, word); };
  std::set<std::string> stops;
  if (a.has("stopwords"))
    for (const std::string &w : a.words("stopwords")) stops.insert(key(w));
  Texts kept;
  for (int64_t i = 0; i < x.size(); ++i) {
    const std::string &word = x.data<std::string>()[i];
    if (!stops.empty() && stops.count(key(word)) > 0) continue;
    kept.push_back(change == "NONE" ? word : in_case(change == "LOWER" ? Case::lower : Case::upper, word));
  }
  if (kept.empty()) kept.emplace_back();
  const auto count = static_cast<int64_t>(kept.size());
  return {Tensor::of<std::string>(x.rank() == 1 ? Shape{count} : Shape{1, count}, kept)};
}

// ---- RegexFullMatch: RE2's language as far as the standard library's has it too.

constexpr size_t longest_match = 10000;   // characters of a text
constexpr size_t longest_pattern = 1000;  // the library recurses for each bracket

std::wregex pattern_of(const std::string &given) {
  const std::wstring pattern = code_points(given);
  if (pattern.size() > longest_pattern) unsupported("patterns of more than ", longest_pattern, " characters");
  for (size_t i = 0; i + 1 < pattern.size(); ++i) {
    if (pattern[i] == L'(' && pattern[i + 1] == L'?' && pattern.compare(i, 3, L"(?:") != 0)
      unsupported("groups with flags or names in the pattern '", given, "'");
    if (pattern[i] != L'\\') continue;
    const wchar_t c = pattern[++i];
    // What the two read differently, or only RE2 knows.
    const bool letter = (c >= L'a' && c <= L'z') || (c >= L'A' && c <= L'Z') || (c >= L'0' && c <= L'9');
    if (letter && std::wstring(L"dDwWsSbBnrtfv").find(c) == std::wstring::npos)
      unsupported("the escape \\", utf8({c}), " in the pattern '", given, "'");
  }
  try {
    std::wregex compiled;
    compiled.imbue(std::locale::classic());
    // libstdc++'s matcher without backtracking, whose time grows with the text alone.
    compiled.assign(pattern, std::regex::ECMAScript | std::regex_constants::__polynomial);
    return compiled;
  } catch (const std::regex_error &e) {
    fail("cannot read the pattern '", given, "': ", e.what());
  }
}

std::vector<HostValue> full_match(const HostCall &c) {
  const Tensor x = texts_of(c, 0), y = Tensor::empty(x.shape(), Type::boolean);
  const std::wregex pattern = pattern_of(c.attributes().word("pattern"));
  for (int64_t i = 0; i < x.size(); ++i) {
    const std::wstring text = code_points(x.data<std::string>()[i]);
    if (text.size() > longest_match) unsupported("texts of more than ", longest_match, " characters");
    y.data<bool>()[i] = std::regex_match(text, pattern);
  }
  return {y};
}

}  // namespace

const OperatorList text_operators = {
    {"RegexFullMatch", nullptr, full_match},
    {"StringConcat", nullptr, concat},
    {"StringNormalizer", nullptr, normalize},
    {"StringSplit", nullptr, split},
};

}  // namespace saltern
