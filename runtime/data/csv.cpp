#include "runtime/data/csv.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <set>

#include "runtime/files/file.h"

namespace saltern {

namespace {

using Cells = std::vector<std::string>;

class Reader {
 public:
  Reader(const std::string &text, const std::string &name, char separator)
      : text_(text), name_(name), separator_(separator) {}

  int64_t line() const { return line_; }

  // The next line that is not empty; nothing at the end.
  std::optional<Cells> next() {
    while (at_ < text_.size() && ends_line()) skip_line_end();
    if (at_ == text_.size()) return std::nullopt;
    line_ = seen_;
    Cells cells = {cell()};
    while (at_ < text_.size() && text_[at_] == separator_) {
      ++at_;
      cells.push_back(cell());
    }
    if (at_ < text_.size() && !ends_line()) fail(name_, ", line ", line_, ": text behind a quoted cell");
    return cells;
  }

 private:
  bool ends_line() const { return text_[at_] == '\n' || text_[at_] == '\r'; }
  void skip_line_end() {
    if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
    ++at_;
    ++seen_;
  }

  std::string cell() {
    if (at_ == text_.size() || text_[at_] != '"') {
      const size_t begin = at_;
      while (at_ < text_.size() && text_[at_] != separator_ && !ends_line()) ++at_;
      return text_.substr(begin, at_ - begin);
    }
    std::string cell;
    for (++at_;; ++at_) {
      if (at_ == text_.size()) fail(name_, ", line ", line_, ": a quoted cell has no end");
      if (text_[at_] == '\n') ++seen_;
      if (text_[at_] != '"') {
        cell += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        cell += text_[++at_];
      } else {
        ++at_;
        return cell;
      }
    }
  }

  const std::string &text_, &name_;
  char separator_;
  size_t at_ = 0;
  int64_t line_ = 0, seen_ = 1;
};

// A number with blanks around it; NaN of nothing.
std::optional<double> number(const std::string &cell) {
  const char *begin = cell.data(), *end = begin + cell.size();
  while (begin < end && *begin == ' ') ++begin;
  while (end > begin && end[-1] == ' ') --end;
  if (begin == end) return std::numeric_limits<double>::quiet_NaN();
  if (*begin == '+') ++begin;
  double value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

Tensor chosen(const Table &t, const std::vector<size_t> &places) {
  const int64_t rows = t.values.extent(0), all = t.values.extent(1), count = static_cast<int64_t>(places.size());
  const Tensor y = Tensor::empty({rows, count});
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < count; ++c)
      y.data<float>()[r * count + c] =
          static_cast<float>(t.values.data<double>()[r * all + static_cast<int64_t>(places[static_cast<size_t>(c)])]);
  return y;
}

size_t place_of(const Table &t, const std::string &name) {
  const auto it = std::find(t.names.begin(), t.names.end(), name);
  if (it == t.names.end()) fail("the table has no column '", name, "'");
  return static_cast<size_t>(it - t.names.begin());
}

}  // namespace

Tensor Table::columns(const std::vector<std::string> &wanted) const {
  std::vector<size_t> places;
  for (const std::string &name : wanted) places.push_back(place_of(*this, name));
  return chosen(*this, places);
}

Tensor Table::columns_but(const std::vector<std::string> &unwanted) const {
  std::set<size_t> left_out;
  for (const std::string &name : unwanted) left_out.insert(place_of(*this, name));
  std::vector<size_t> places;
  for (size_t c = 0; c < names.size(); ++c)
    if (!left_out.count(c)) places.push_back(c);
  return chosen(*this, places);
}

Table decode_csv(const std::string &text, const std::string &name, const CsvOptions &options) {
  Reader reader(text, name, options.separator);
  std::vector<Cells> rows;
  Table t;
  while (std::optional<Cells> cells = reader.next()) {
    if (t.names.empty()) {
      t.names = *cells;
      for (size_t c = 0; c < t.names.size(); ++c) {
        if (!options.has_names) t.names[c] = std::to_string(c);
        if (std::find(t.names.begin(), t.names.begin() + static_cast<std::ptrdiff_t>(c), t.names[c]) !=
            t.names.begin() + static_cast<std::ptrdiff_t>(c))
          fail(name, ": two columns are called '", t.names[c], "'");
      }
      if (options.has_names) continue;
    }
    if (cells->size() != t.names.size())
      fail(name, ", line ", reader.line(), ": ", cells->size(), " cells for ", t.names.size(), " columns");
    rows.push_back(std::move(*cells));
  }
  if (rows.empty()) fail(name, " has no rows");
  for (const std::string &column : options.words)
    if (std::find(t.names.begin(), t.names.end(), column) == t.names.end()) fail(name, " has no column '", column, "'");

  t.values = Tensor::empty({static_cast<int64_t>(rows.size()), static_cast<int64_t>(t.names.size())}, Type::f64);
  for (size_t c = 0; c < t.names.size(); ++c) {
    const auto put = [&](size_t r, double v) { t.values.data<double>()[r * t.names.size() + c] = v; };
    const bool is_numbers =
        !options.words.count(t.names[c]) &&
        std::all_of(rows.begin(), rows.end(), [&](const Cells &cells) { return number(cells[c]).has_value(); });
    if (is_numbers) {
      for (size_t r = 0; r < rows.size(); ++r) put(r, *number(rows[r][c]));
      continue;
    }
    std::vector<std::string> &words = t.words[t.names[c]];
    for (const Cells &cells : rows) words.push_back(cells[c]);
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    for (size_t r = 0; r < rows.size(); ++r)
      put(r, static_cast<double>(std::lower_bound(words.begin(), words.end(), rows[r][c]) - words.begin()));
  }
  return t;
}

Table read_csv(const std::string &path, const CsvOptions &options) {
  const std::vector<uint8_t> bytes = read_file(path, options.max_bytes);
  return decode_csv({bytes.begin(), bytes.end()}, path, options);
}

}  // namespace saltern
