#include "runtime/metrics/numbers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace saltern::metrics {

namespace {

bool read(const Argument &a, Numbers &out) {
  out.shape.clear();
  if (const auto *v = a.as<Variable>()) {
    out = {v->shape(), v->value().reals(), !is_real(v->type())};
    return true;
  }
  out.whole = true;
  if (const auto *b = a.as<bool>()) return out.all = {double(*b)}, true;
  if (const auto *i = a.as<int64_t>()) return out.all = {static_cast<double>(*i)}, true;
  out.whole = false;
  if (const auto *d = a.as<double>()) return out.all = {*d}, true;
  const auto *list = a.as<Argument::List>();
  if (!list) return false;
  out.all.clear();
  out.whole = !list->empty();
  Shape inner;
  for (size_t i = 0; i < list->size(); ++i) {
    Numbers part;
    if (!read((*list)[i], part) || (i > 0 && part.shape != inner)) return false;
    inner = part.shape;
    out.whole &= part.whole;
    out.all.insert(out.all.end(), part.begin(), part.end());
  }
  out.shape = {static_cast<int64_t>(list->size())};
  out.shape.insert(out.shape.end(), inner.begin(), inner.end());
  return true;
}

}  // namespace

int64_t Numbers::extent_from(int d) const { return d < rank() ? elements(Shape(shape.begin() + d, shape.end())) : 1; }

Numbers numbers(const Arguments &a, std::string_view name) {
  Numbers n;
  if (!read(a[name], n)) a.refuse(name, "a tensor, or a list of numbers");
  return n;
}

Numbers numbers_if_given(const Arguments &a, std::string_view name) {
  return a.has(name) ? numbers(a, name) : Numbers();
}

std::pair<Numbers, Numbers> alike(const Arguments &a, std::string_view first, std::string_view second) {
  auto pair = std::make_pair(numbers(a, first), numbers(a, second));
  if (pair.first.shape != pair.second.shape)
    a.refuse(second, "the shape " + to_string(pair.first.shape) + " that '" + std::string(first) + "' has");
  return pair;
}

Tensor tensor_of(const Numbers &n) {
  if (n.whole) return Tensor::of<int64_t>(n.shape, std::vector<int64_t>(n.begin(), n.end()));
  return Tensor::of<double>(n.shape, n.all);
}
Argument result(const Numbers &n) { return Argument(tensor_of(n)); }

Argument results(const std::vector<std::pair<std::string, Numbers>> &all) {
  Argument::List list;
  for (const auto &[name, n] : all) list.push_back(Argument::List{name, result(n)});
  return list;
}

double sum(const Numbers &n) { return std::accumulate(n.begin(), n.end(), 0.0); }
double mean(const Numbers &n) { return n.size() == 0 ? nan : sum(n) / static_cast<double>(n.size()); }
double x_log_y(double x, double y) { return x == 0 ? 0 : x * std::log(y); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

namespace {
bool are_scores(const Numbers &n) {
  return !std::all_of(n.begin(), n.end(), [](double x) { return x >= 0 && x <= 1; });
}
}  // namespace

void sigmoid_if_scores(Numbers &n) {
  if (are_scores(n)) std::transform(n.begin(), n.end(), n.begin(), sigmoid);
}
void softmax_if_scores(Numbers &n) {
  if (!are_scores(n)) return;
  const auto columns = static_cast<size_t>(n.extent(1));
  for (double *row = n.begin(); row != n.end(); row += columns) {
    const double most = *std::max_element(row, row + columns);
    double all = 0;
    for (size_t c = 0; c < columns; ++c) all += row[c] = std::exp(row[c] - most);
    for (size_t c = 0; c < columns; ++c) row[c] /= all;
  }
}

Numbers channels_last(const Numbers &n) {
  const auto samples = static_cast<size_t>(n.extent(0)), channels = static_cast<size_t>(n.extent(1)),
             positions = static_cast<size_t>(n.extent_from(2));
  Numbers out = n;
  out.shape = {static_cast<int64_t>(samples * positions), static_cast<int64_t>(channels)};
  for (size_t s = 0; s < samples; ++s)
    for (size_t c = 0; c < channels; ++c)
      for (size_t p = 0; p < positions; ++p)
        out[(s * positions + p) * channels + c] = n[(s * channels + c) * positions + p];
  return out;
}

std::vector<size_t> sorted_places(const double *begin, const double *end) {
  std::vector<size_t> places(static_cast<size_t>(end - begin));
  std::iota(places.begin(), places.end(), size_t{0});
  std::stable_sort(places.begin(), places.end(), [&](size_t a, size_t b) {
    return std::isnan(begin[b]) ? !std::isnan(begin[a]) : begin[a] < begin[b];  // NaN behind all
  });
  return places;
}

std::vector<size_t> assigned(std::vector<double> costs, size_t side) {
  for (double &c : costs)
    if (!std::isfinite(c)) c = c < 0 ? -1e100 : 1e100;  // what is NaN is chosen last
  // Prices of rows and columns; a path of cheapest steps gives each row in turn a column.
  std::vector<double> of_row(side + 1), of_column(side + 1);
  std::vector<size_t> row_at(side + 1, side), before(side + 1);
  for (size_t r = 0; r < side; ++r) {
    std::vector<double> least(side + 1, infinity);
    std::vector<bool> seen(side + 1);
    size_t column = side;
    row_at[side] = r;
    do {
      seen[column] = true;
      const size_t row = row_at[column];
      double step = infinity;
      size_t next = side;
      for (size_t c = 0; c < side; ++c) {
        if (seen[c]) continue;
        const double cost = costs[row * side + c] - of_row[row] - of_column[c];
        if (cost < least[c]) {
          least[c] = cost;
          before[c] = column;
        }
        if (least[c] < step) {
          step = least[c];
          next = c;
        }
      }
      for (size_t c = 0; c <= side; ++c) {
        if (seen[c]) {
          of_row[row_at[c]] += step;
          of_column[c] -= step;
        } else {
          least[c] -= step;
        }
      }
      column = next;
    } while (row_at[column] != side);
    for (; column != side; column = before[column]) row_at[column] = row_at[before[column]];
  }
  std::vector<size_t> all(side);
  for (size_t c = 0; c < side; ++c) all[row_at[c]] = c;
  return all;
}

std::string word_or_none(const Arguments &a, std::string_view name, std::vector<std::string> choices) {
  if (!a.has(name)) return "none";
  choices.emplace_back("none");
  return a.word(name, choices);
}

}  // namespace saltern::metrics
