#include "apps/table_regression/encoding.h"

#include <algorithm>
#include <cmath>

namespace saltern {

namespace {

constexpr size_t most_words = 256;  // of a column: more are names of rows, which tell nothing of new ones

double mean_of(const std::vector<double> &cells) {
  double sum = 0;
  int64_t count = 0;
  for (double c : cells)
    if (std::isfinite(c)) sum += c, ++count;
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

bool has_column(const Table &t, const std::string &name) {
  return std::find(t.names.begin(), t.names.end(), name) != t.names.end();
}

// Where a table's words are among those that an encoding knows.
std::vector<size_t> places_of(const std::vector<std::string> &words, const Encoding::Column &column,
                              const std::string &name) {
  std::vector<size_t> places;
  for (const std::string &word : words) {
    const auto it = std::find(column.words.begin(), column.words.end(), word);
    if (it == column.words.end())
      fail(name, ": column '", column.name, "' has the word '", word, "', which training has not seen");
    places.push_back(static_cast<size_t>(it - column.words.begin()));
  }
  return places;
}

}  // namespace

int64_t Encoding::features() const {
  int64_t count = 0;
  for (const Column &c : columns) count += c.words.empty() ? 1 : static_cast<int64_t>(c.words.size());
  return count;
}

std::set<std::string> Encoding::of_words() const {
  std::set<std::string> names;
  for (const Column &c : columns)
    if (!c.words.empty()) names.insert(c.name);
  return names;
}

Encoding encoding_of(const Table &table, const std::string &name, const std::string &target,
                     const std::vector<std::string> &left_out) {
  for (const std::string &column : left_out)
    if (!has_column(table, column)) fail(name, " has no column '", column, "' to leave out");
  if (!has_column(table, target)) fail(name, " has no column '", target, "'");
  if (table.words.count(target)) fail(name, ": column '", target, "' is of words; a target is of numbers");
  Encoding e;
  e.target = target;
  for (const std::string &column : table.names) {
    if (column == target || std::count(left_out.begin(), left_out.end(), column)) continue;
    Encoding::Column c;
    c.name = column;
    const auto words = table.words.find(column);
    if (words == table.words.end())
      c.mean = mean_of(table.columns({column}).reals());
    else
      c.words = words->second;
    if (c.words.size() > most_words)
      fail(name, ": column '", column, "' has ", c.words.size(), " different words, more than ", most_words,
           "; it may be left out by --without '", column, "'");
    e.columns.push_back(c);
  }
  if (e.columns.empty()) fail(name, " has no column beside '", target, "'");
  return e;
}

Tensor encoded(const Encoding &encoding, const Table &table, const std::string &name) {
  const int64_t rows = table.values.extent(0), features = encoding.features();
  const Tensor x = Tensor::zeros({rows, features});
  int64_t first = 0;
  for (const Encoding::Column &column : encoding.columns) {
    if (!has_column(table, column.name)) fail(name, " has no column '", column.name, "'");
    const auto words = table.words.find(column.name);
    if (column.words.empty() != (words == table.words.end()))
      fail(name, ": column '", column.name, "' is of words; in training it was of numbers");
    const std::vector<size_t> places =
        column.words.empty() ? std::vector<size_t>() : places_of(words->second, column, name);
    const std::vector<double> cells = table.columns({column.name}).reals();
    for (int64_t r = 0; r < rows; ++r) {
      float *row = x.data<float>() + r * features + first;
      const double cell = cells[static_cast<size_t>(r)];
      if (!column.words.empty())
        row[places[static_cast<size_t>(cell)]] = 1;
      else if (std::isinf(cell))
        fail(name, ": row ", r + 1, " of column '", column.name, "' is no finite number");
      else
        row[0] = static_cast<float>(std::isnan(cell) ? column.mean : cell);
    }
    first += column.words.empty() ? 1 : static_cast<int64_t>(column.words.size());
  }
  return x;
}

Tensor targets(const Encoding &encoding, const Table &table, const std::string &name) {
  const Tensor y = table.columns({encoding.target});
  for (int64_t r = 0; r < y.size(); ++r)
    if (!std::isfinite(y.data<float>()[r]))
      fail(name, ": row ", r + 1, " of column '", encoding.target, "', the target, is empty or no finite number");
  return y;
}

bool has_targets(const Encoding &encoding, const Table &table) {
  if (!has_column(table, encoding.target) || table.words.count(encoding.target)) return false;
  const std::vector<double> cells = table.columns({encoding.target}).reals();
  return std::all_of(cells.begin(), cells.end(), [](double c) { return std::isfinite(c); });
}

nlohmann::json to_json(const Encoding &encoding) {
  nlohmann::json columns = nlohmann::json::array();
  for (const Encoding::Column &c : encoding.columns) {
    if (c.words.empty())
      columns.push_back({{"name", c.name}, {"mean", c.mean}});
    else
      columns.push_back({{"name", c.name}, {"words", c.words}});
  }
  return {{"target", encoding.target}, {"columns", columns}};
}

Encoding encoding_from(const nlohmann::json &json, const std::string &name) try {
  Encoding e;
  e.target = json.at("target").get<std::string>();
  for (const nlohmann::json &c : json.at("columns"))
    e.columns.push_back(
        {c.at("name").get<std::string>(), c.value("words", std::vector<std::string>()), c.value("mean", 0.0)});
  return e;
} catch (const nlohmann::json::exception &error) {
  fail(name, ": ", error.what());
}

}  // namespace saltern
