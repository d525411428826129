#include "runtime/autograd/batch_rows.h"

#include <cstring>
#include <map>

#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

Shape without_first(const Shape &shape) { return {shape.begin() + 1, shape.end()}; }
Shape with_first(int64_t n, Shape shape) {
  shape.insert(shape.begin(), n);
  return shape;
}

template <typename T>
void add_elements(void *to, const void *from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) static_cast<T *>(to)[i] += static_cast<const T *>(from)[i];
}

// Calls f with what row i of a batch is of, and where: n numbers of sources, and n rows of these.
struct Rows {
  const std::vector<int64_t> &sources, &rows;
  explicit Rows(const Attributes &a) : sources(a.integers("sources")), rows(a.integers("rows")) {}
  size_t count() const { return sources.size(); }
  // Bytes from the source's beginning.
  size_t offset(size_t i, size_t bytes) const {
    return rows[i] == BatchRow::whole ? 0 : static_cast<size_t>(rows[i]) * bytes;
  }
};

extern const Operation rows_added;

// Sources. Attributes: sources and rows, a number of each for each row
const Operation batch_rows(
    "batch.rows",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      const Rows rows(a);
      std::vector<Tensor> sources;
      for (const Tensor &t : in) sources.push_back(row_major(t));
      const Tensor &first = in.at(static_cast<size_t>(rows.sources.at(0)));
      const Shape shape = rows.rows[0] == BatchRow::whole ? first.shape() : without_first(first.shape());
      const Tensor y = Tensor::empty(with_first(static_cast<int64_t>(rows.count()), shape), first.type());
      if (y.is_outline()) return {y};
      const size_t bytes = y.bytes() / rows.count();
      for (size_t i = 0; i < rows.count(); ++i)
        std::memcpy(
            static_cast<char *>(y.raw()) + i * bytes,
            static_cast<const char *>(sources[static_cast<size_t>(rows.sources[i])].raw()) + rows.offset(i, bytes),
            bytes);
      return {y};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      std::vector<Variable> d(t.input_count());
      for (size_t s = 0; s < d.size(); ++s)
        if (t.needs(s))
          d[s] = apply_one(rows_added, {dy[0]},
                           t.attributes().with("of", static_cast<int64_t>(s)).with("shape", t.shape(s)));
      return d;
    });

// dy -> the gradient of source `of`, which has this shape
const Operation rows_added(
    "batch.rows_added",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      const Rows rows(a);
      const Tensor dy = row_major(in.at(0)), dx = Tensor::zeros(a.integers("shape"), dy.type());
      if (dx.is_outline()) return {dx};
      const int64_t count = dy.size() / static_cast<int64_t>(rows.count());
      const size_t bytes = dy.bytes() / rows.count();
      const auto add = dy.type() == Type::f64 ? add_elements<double> : add_elements<float>;
      for (size_t i = 0; i < rows.count(); ++i)
        if (rows.sources[i] == a.integer("of"))
          add(static_cast<char *>(dx.raw()) + rows.offset(i, bytes), static_cast<const char *>(dy.raw()) + i * bytes,
              count);
      return {dx};
    },
    // Rows of other sources are 0.
    [](const Taped &t, const std::vector<Variable> &dd) -> std::vector<Variable> {
      const Rows rows(t.attributes());
      const Variable none = Tensor::zeros(without_first(t.shape(0)), t.type(0));
      std::vector<BatchRow> all;
      for (size_t i = 0; i < rows.count(); ++i)
        all.push_back(rows.sources[i] == t.attributes().integer("of") ? BatchRow{dd[0], rows.rows[i]} : BatchRow{none});
      return {batch_of(all)};
    });

}  // namespace

Variable batch_of(const std::vector<BatchRow> &rows) {
  std::vector<Variable> sources;
  std::vector<int64_t> numbers, places;
  std::map<const void *, int64_t> known;
  bool in_order = true;
  for (const BatchRow &r : rows) {
    const auto [at, is_new] = known.emplace(r.of.identity(), static_cast<int64_t>(sources.size()));
    if (is_new) sources.push_back(r.of);
    in_order &= r.row == static_cast<int64_t>(places.size());
    numbers.push_back(at->second);
    places.push_back(r.row);
  }
  if (in_order && sources.size() == 1 && sources[0].extent(0) == static_cast<int64_t>(rows.size())) return sources[0];
  return apply_one(batch_rows, sources, {{"sources", numbers}, {"rows", places}});
}

}  // namespace saltern
