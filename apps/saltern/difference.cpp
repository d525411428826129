#include "apps/saltern/difference.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "apps/saltern/table.h"

namespace saltern {

namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

Shape indices_of(size_t element, const Shape &shape) {
  Shape indices(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    const auto extent = static_cast<size_t>(shape[d]);
    indices[d] = static_cast<int64_t>(element % extent);
    element /= extent;
  }
  return indices;
}

std::string described(const Tensor &t) { return std::string(facts(t.type()).name) + " " + to_string(t.shape()); }

// Texts are equal or not.
std::vector<double> matches(const Tensor &a, const Tensor &b) {
  const Tensor left = a.in_layout(Layout::row_major), right = b.in_layout(Layout::row_major);
  std::vector<double> same;
  for (int64_t i = 0; i < left.size(); ++i)
    same.push_back(left.data<std::string>()[i] == right.data<std::string>()[i] ? 1 : 0);
  return same;
}

// The size that a tensor's elements have, in the mean of squares.
double typical_size(const std::vector<double> &values) {
  double sum = 0;
  int64_t count = 0;
  for (double v : values)
    if (std::isfinite(v)) sum += v * v, ++count;
  return count > 0 ? std::sqrt(sum / static_cast<double>(count)) : 0;
}

}  // namespace

Difference compared(const Tensor &wanted, const Tensor &got, const Tolerance &tolerance) {
  Difference d;
  d.elements = wanted.size();
  if (wanted.type() != got.type() || wanted.shape() != got.shape()) {
    d.misfit = described(wanted) + " and " + described(got);
    d.wrong = std::max<int64_t>(1, d.elements);
    return d;
  }
  const bool texts = wanted.type() == Type::text;
  const std::vector<double> a = texts ? std::vector<double>(static_cast<size_t>(d.elements), 1) : wanted.reals(),
                            b = texts ? matches(wanted, got) : got.reals();
  const double typical = typical_size(a);
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double off = std::fabs(a[i] - b[i]);
    d.largest = std::isnan(off) ? INFINITY : std::max(d.largest, off);
    const double allowed = tolerance.absolute + tolerance.relative * std::max(std::fabs(a[i]), typical);
    if (off <= allowed && !std::isinf(a[i])) continue;
    if (d.wrong++ > 0) continue;
    d.first_wrong = indices_of(i, wanted.shape());
    d.wanted = a[i];
    d.got = b[i];
  }
  return d;
}

std::string table(const std::vector<Difference> &all) {
  std::vector<std::vector<std::string>> rows = {{"value", "operation", "compared", "largest", "too far"}};
  for (const Difference &d : all)
    rows.push_back({d.value, d.operation, d.paths, d.misfit.empty() ? number(d.largest) : "-",
                    !d.misfit.empty() ? d.misfit : std::to_string(d.wrong) + " of " + std::to_string(d.elements)});
  return in_columns(rows);
}

std::string sentence(const Difference &d) {
  const std::string who = "differs, first at '" + d.value + "'" +
                          (d.operation.empty() ? "" : " (" + d.operation + ")") + ", " + d.paths + ": ";
  if (!d.misfit.empty()) return who + d.misfit;
  char numbers[80];
  std::snprintf(numbers, sizeof numbers, "%.9g and %.9g", d.wanted, d.got);
  return who + "element " + to_string(d.first_wrong) + " is " + numbers + "; largest difference " + number(d.largest);
}

nlohmann::ordered_json to_json(const Difference &d) {
  nlohmann::ordered_json row = {{"value", d.value}, {"operation", d.operation},
                                {"paths", d.paths}, {"largest_difference", d.largest},
                                {"wrong", d.wrong}, {"elements", d.elements}};
  if (!d.misfit.empty()) row["misfit"] = d.misfit;
  if (d.wrong > 0 && d.misfit.empty()) {
    row["first_wrong"] = d.first_wrong;
    row["wanted"] = d.wanted;
    row["got"] = d.got;
  }
  return row;
}

}  // namespace saltern
