#include "runtime/metrics/text.h"

#include <algorithm>
#include <cctype>

namespace saltern::metrics {

namespace {
bool read(const Argument &a, Words &all) {
  if (const auto *word = a.as<std::string>()) return all.push_back(*word), true;
  const auto *list = a.as<Argument::List>();
  if (!list) return false;
  return std::all_of(list->begin(), list->end(), [&](const Argument &e) {
    const auto *word = e.as<std::string>();
    if (word) all.push_back(*word);
    return word != nullptr;
  });
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
}  // namespace

std::vector<std::string> sentences(const Arguments &in, const char *name) {
  Words all;
  if (!read(in[name], all)) in.refuse(name, "a sentence, or a list of them");
  return all;
}

std::vector<Words> references(const Arguments &in, size_t count, bool list_is_of_one) {
  const Argument &a = in["target"];
  std::vector<Words> all;
  const auto *list = a.as<Argument::List>();
  const bool are_words =
      list && std::all_of(list->begin(), list->end(), [](const Argument &e) { return e.as<std::string>() != nullptr; });
  if (!list || (count == 1 && are_words && list_is_of_one)) {
    all.emplace_back();
    if (!read(a, all.back())) in.refuse("target", "references of each sentence");
  } else {
    for (const Argument &e : *list) {
      all.emplace_back();
      if (!read(e, all.back())) in.refuse("target", "references of each sentence");
    }
  }
  if (all.size() != count) in.refuse("target", "references of " + std::to_string(count) + " sentences");
  return all;
}

std::pair<Words, Words> sentence_pairs(const Arguments &in) {
  auto pair = std::make_pair(sentences(in), sentences(in, "target"));
  if (pair.first.size() != pair.second.size())
    in.refuse("target", std::to_string(pair.first.size()) + " sentences, as 'preds' has");
  return pair;
}

Words words(const std::string &text) {
  Words all;
  std::string word;
  for (const char c : text + " ") {
    if (!std::isspace(static_cast<unsigned char>(c))) {
      word += c;
    } else if (!word.empty()) {
      all.push_back(word);
      word.clear();
    }
  }
  return all;
}

Words characters(const std::string &text) {
  Words all;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (continues && !all.empty())
      all.back() += c;
    else
      all.emplace_back(1, c);
  }
  return all;
}

std::string lower(std::string text) {
  for (char &c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string replaced(std::string text, const std::string &what, const std::string &by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

namespace {
// Pairs of characters, one behind another, as " a b" or "a b ".
template <typename First, typename Second>
std::string spaced(const std::string &text, const First &first, const Second &second, const char *before,
                   const char *behind) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && first(text[i]) && second(text[i + 1])) {
      out += before;
      out += text[i];
      out += ' ';
      out += text[++i];
      out += behind;
    } else {
      out += text[i];
    }
  }
  return out;
}
}  // namespace

std::string with_spaced_punctuation(const std::string &text) {
  const auto within = [](char c, char from, char to) { return c >= from && c <= to; };
  std::string out;
  for (const char c : text) {
    const bool alone = within(c, '{', '~') || within(c, '[', '`') || within(c, ' ', '&') || within(c, '(', '+') ||
                       within(c, ':', '@') || c == '/';
    out += alone ? std::string{' ', c, ' '} : std::string(1, c);
  }
  const auto stop = [](char c) { return c == '.' || c == ','; };
  const auto other = [](char c) { return !is_digit(c); };
  out = spaced(out, other, stop, "", " ");
  out = spaced(out, stop, other, " ", "");
  return spaced(
      out, is_digit, [](char c) { return c == '-'; }, "", " ");
}

Grams::Grams(const Words &all, size_t order) : counts(order) {
  for (size_t n = 1; n <= order; ++n)
    for (size_t i = 0; i + n <= all.size(); ++i)
      ++counts[n - 1][Words(all.begin() + static_cast<int64_t>(i), all.begin() + static_cast<int64_t>(i + n))];
}
double Grams::total(size_t n) const {
  double all = 0;
  for (const auto &[_, count] : counts[n - 1]) all += count;
  return all;
}
double Grams::common(const Grams &other, size_t n) const {
  double all = 0;
  for (const auto &[gram, count] : counts[n - 1])
    if (const auto found = other.counts[n - 1].find(gram); found != other.counts[n - 1].end())
      all += std::min(count, found->second);
  return all;
}

double edits(const Words &from, const Words &to, double substitution) {
  std::vector<double> row(to.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = static_cast<double>(j);
  for (size_t i = 1; i <= from.size(); ++i) {
    double diagonal = row[0];
    row[0] = static_cast<double>(i);
    for (size_t j = 1; j <= to.size(); ++j) {
      const double above = row[j];
      row[j] = std::min({diagonal + (from[i - 1] == to[j - 1] ? 0 : substitution), row[j] + 1, row[j - 1] + 1});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace saltern::metrics
