#include "runtime/formula/library_rows.h"

#include <algorithm>
#include <cstring>

#include "dsl/structure.h"
#include "runtime/formula/evaluate.h"
#include "runtime/kernels/thread_pool.h"

namespace saltern {

using formula::ExactFormula;
using formula::Expression;
using Kind = Expression::Kind;

namespace {

constexpr int64_t task_bytes = 64 << 10;

int64_t elements_behind_first(const Shape &shape) { return elements(Shape(shape.begin() + 1, shape.end())); }

bool depends_on(const Expression &e, int axis) {
  const std::set<int> axes = formula::axes_in(e);
  return e.type() == Type::i64 && axes == std::set<int>{axis};
}

// table[index, a1, a2, ..] of whole rows, where the index goes by the first axis alone.
bool is_rows(const ExactFormula &f, const std::vector<Tensor> &operands) {
  const Expression &e = f.element;
  if (f.is_scatter() || f.is_scan() || f.is_recurrent() || !e.defined() || e->kind != Kind::load) return false;
  const Tensor &table = operands.at(static_cast<size_t>(e->number));
  if (f.shape.size() < 2 || e->arguments.size() != f.shape.size() || f.type != table.type()) return false;
  for (size_t d = 1; d < f.shape.size(); ++d) {
    const Expression &i = e->arguments[d];
    const bool own = is_same(i, formula::axis(static_cast<int>(d))) || (f.shape[d] == 1 && formula::is_number(i, 0));
    if (!own || table.shape()[d] != f.shape[d]) return false;
  }
  return depends_on(e->arguments[0], 0) && table.size() > 0 && table.has_layout(Layout::row_major);
}

// What a formula gives; an operand that it only repeats as it lies there is not copied.
Tensor given(const Expression &e, const std::vector<Tensor> &operands, const Shape &shape) {
  if (e->kind == Kind::load) {
    const Tensor &t = operands.at(static_cast<size_t>(e->number));
    bool own = t.shape() == shape && t.type() == e.type() && t.has_layout(Layout::row_major);
    for (size_t d = 0; d < e->arguments.size(); ++d)
      own &= is_same(e->arguments[d], formula::axis(static_cast<int>(d)));
    if (own) return t;
  }
  return evaluate(e, operands, shape);
}

// Rows lie anywhere: one is asked for while the one some places before it is read.
constexpr int64_t ahead = 4;
void ask_for(const char *row, size_t bytes) {
  for (size_t line = 0; line < bytes; line += 64) __builtin_prefetch(row + line);
}

Tensor rows(const ExactFormula &f, const std::vector<Tensor> &operands) {
  const Tensor &table = operands.at(static_cast<size_t>(f.element->number));
  const Tensor places = given(f.element->arguments[0], operands, {f.shape[0]}), y = Tensor::empty(f.shape, f.type);
  const auto bytes = static_cast<size_t>(elements_behind_first(f.shape) * facts(f.type).bytes());
  const int64_t *at = static_cast<const int64_t *>(places.raw()), last = table.shape()[0] - 1;
  const auto *from = static_cast<const char *>(table.raw());
  auto *to = static_cast<char *>(y.raw());
  const auto row = [&](int64_t i) { return from + static_cast<size_t>(std::clamp<int64_t>(at[i], 0, last)) * bytes; };
  const int64_t in_task = std::max<int64_t>(1, task_bytes / static_cast<int64_t>(std::max<size_t>(bytes, 1)));
  parallel_for(static_cast<int>((f.shape[0] + in_task - 1) / in_task), [&](int task) {
    const int64_t first = task * in_task, past = std::min(first + in_task, f.shape[0]);
    for (int64_t i = first; i < past; ++i) {
      if (i + ahead < past) ask_for(row(i + ahead), std::min<size_t>(bytes, 4096));
      std::memcpy(to + static_cast<size_t>(i) * bytes, row(i), bytes);
    }
  });
  return y;
}

// y[index, t1, t2, ..] += element, where the index goes by the only further axis alone.
bool is_sum_of_rows(const ExactFormula &f) {
  const auto rank = static_cast<int>(f.shape.size());
  if (!f.is_scatter() || f.type != Type::f32 || rank < 2 || f.space.size() != f.shape.size() + 1) return false;
  if (!f.targets[0].defined() || !depends_on(f.targets[0], rank) || f.space[0] != 1) return false;
  return std::none_of(f.targets.begin() + 1, f.targets.end(), [](const Expression &t) { return t.defined(); });
}

Tensor sum_of_rows(const ExactFormula &f, const std::vector<Tensor> &operands) {
  const int64_t count = f.space.back(), rows = f.shape[0], columns = elements_behind_first(f.shape);
  // Of the axes (., e, i), as (i, e).
  std::vector<Expression> axes = {0};
  for (size_t d = 1; d < f.shape.size(); ++d) axes.push_back(formula::axis(static_cast<int>(d)));
  axes.push_back(formula::axis(0));
  Shape shape = f.shape;
  shape[0] = count;
  const Tensor x = given(with_axes(f.element, axes), operands, shape),
               places = given(with_axes(f.targets[0], axes), operands, {count}), y = Tensor::empty(f.shape);
  const auto *at = static_cast<const int64_t *>(places.raw());
  const auto *from = static_cast<const float *>(x.raw());
  auto *to = y.data<float>();
  // Rows in blocks: each task goes through all places, and adds what is of its own rows.
  const int tasks = static_cast<int>(std::min<int64_t>(rows, threads()));
  parallel_for(tasks, [&](int task) {
    const int64_t first = rows * task / tasks, past = rows * (task + 1) / tasks;
    std::memset(to + first * columns, 0, static_cast<size_t>((past - first) * columns) * sizeof(float));
    for (int64_t i = 0; i < count; ++i) {
      if (at[i] < first || at[i] >= past) continue;
      float *row = to + at[i] * columns;
      const float *added = from + i * columns;
      for (int64_t e = 0; e < columns; ++e) row[e] += added[e];
    }
  });
  return y;
}

}  // namespace

std::optional<Tensor> library_rows(const ExactFormula &f, const std::vector<Tensor> &operands) {
  if (std::find(f.shape.begin(), f.shape.end(), 0) != f.shape.end()) return std::nullopt;
  if (is_rows(f, operands)) return rows(f, operands);
  if (is_sum_of_rows(f)) return sum_of_rows(f, operands);
  return std::nullopt;
}

}  // namespace saltern
