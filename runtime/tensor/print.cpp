#include "runtime/tensor/print.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "runtime/tensor/parts.h"

namespace saltern {

namespace {

constexpr int64_t shown_whole = 1000, edge = 3;

bool has_gap(const Tensor &t, int axis) { return t.size() > shown_whole && t.extent(axis) > 2 * edge; }

// What is shown of a tensor.
Tensor edges(const Tensor &t) {
  Tensor shown = t;
  for (int axis = 0; axis < t.rank(); ++axis) {
    if (!has_gap(t, axis)) continue;
    std::vector<int64_t> places;
    for (int64_t i = 0; i < edge; ++i) places.push_back(i);
    for (int64_t i = t.extent(axis) - edge; i < t.extent(axis); ++i) places.push_back(i);
    shown = picked(shown, axis, places);
  }
  return shown;
}

// With a power of ten where four digits behind the point, or the width, would hide a number.
std::vector<std::string> reals_as_text(const std::vector<double> &values) {
  const bool by_powers = std::any_of(values.begin(), values.end(), [](double v) {
    return std::isfinite(v) && v != 0 && (std::abs(v) < 1e-4 || std::abs(v) >= 1e8);
  });
  std::vector<std::string> texts;
  for (double v : values) {
    char text[32];
    std::snprintf(text, sizeof text, by_powers ? "%.4e" : "%.4f", v);
    texts.emplace_back(std::isnan(v) ? "nan" : text);
  }
  return texts;
}

std::vector<std::string> texts_of(const Tensor &t) {
  if (t.type() == Type::text) {
    const Tensor dense = t.in_layout(Layout::row_major);
    std::vector<std::string> texts(dense.data<std::string>(), dense.data<std::string>() + dense.size());
    for (std::string &text : texts) text = "\"" + text + "\"";
    return texts;
  }
  if (facts(t.type()).kind == TypeFacts::Kind::real) return reals_as_text(t.reals());
  std::vector<std::string> texts;
  for (int64_t v : t.integers())
    texts.push_back(t.type() == Type::boolean ? (v ? "true" : "false")
                    : t.type() == Type::u64   ? std::to_string(static_cast<uint64_t>(v))
                                              : std::to_string(v));
  return texts;
}

struct Writer {
  std::ostream &out;
  const Tensor &whole;
  const Tensor shown;
  const std::vector<std::string> texts;
  size_t width, next;

  void write(int axis) {
    if (axis == shown.rank()) {
      const std::string &text = texts[next++];
      out << std::string(width - text.size(), ' ') << text;
      return;
    }
    const bool is_row = axis + 1 == shown.rank();
    const std::string between = is_row ? ", "
                                       : "," + std::string(static_cast<size_t>(shown.rank() - axis - 1), '\n') +
                                             std::string(static_cast<size_t>(axis) + 1, ' ');
    out << '[';
    for (int64_t i = 0; i < shown.extent(axis); ++i) {
      if (i > 0) out << between;
      if (i == edge && has_gap(whole, axis)) out << "..." << between;
      write(axis + 1);
    }
    out << ']';
  }
};

}  // namespace

std::ostream &operator<<(std::ostream &out, const Tensor &t) {
  if (!t.defined()) return out << "an undefined tensor";
  if (!t.is_outline()) {
    const Tensor shown = edges(t);
    const std::vector<std::string> texts = texts_of(shown);
    size_t width = 0;
    for (const std::string &text : texts) width = std::max(width, text.size());
    Writer{out, t, shown, texts, width, 0}.write(0);
    out << ' ';
  }
  return out << facts(t.type()).name << to_string(t.shape());
}

}  // namespace saltern
