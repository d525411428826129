#include "runtime/tensor/tensor.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/tensor/element.h"
#include "runtime/tensor/memory.h"

namespace saltern {

namespace {

thread_local bool only_outlines = false;

// Calls visit(offset_a, offset_b) for every element of a shape under two sets of strides.
template <typename Visit>
void for_each_pair(const Shape &shape, const Shape &a, const Shape &b, const Visit &visit) {
  const int rank = static_cast<int>(shape.size());
  Shape index(rank, 0);
  int64_t at_a = 0, at_b = 0;
  for (int64_t left = elements(shape); left > 0; --left) {
    visit(at_a, at_b);
    for (int d = rank - 1; d >= 0; --d) {
      at_a += a[d];
      at_b += b[d];
      if (++index[d] < shape[d]) break;
      at_a -= a[d] * shape[d];
      at_b -= b[d] * shape[d];
      index[d] = 0;
    }
  }
}

// Elements that lie side by side in both are copied at once.
template <typename Word>
void copy_words(const Tensor &to, const Tensor &from) {
  Word *t = static_cast<Word *>(to.raw());
  const Word *f = static_cast<const Word *>(from.raw());
  Shape shape = to.shape(), by_t = to.strides(), by_f = from.strides();
  int64_t run = 1;
  while (!shape.empty() && (shape.back() == 1 || (by_t.back() == run && by_f.back() == run))) {
    run *= shape.back();
    for (Shape *s : {&shape, &by_t, &by_f}) s->pop_back();
  }
  if (run == 0) return;
  for_each_pair(shape, by_t, by_f, [&](int64_t a, int64_t b) { std::copy_n(f + b, run, t + a); });
}

// Texts are objects: their memory is made and freed as such.
std::shared_ptr<void> allocate_elements(Type type, int64_t count) {
  if (type != Type::text) return allocate(static_cast<size_t>(count) * facts(type).bytes());
  auto texts = std::make_shared<std::vector<std::string>>(static_cast<size_t>(std::max<int64_t>(count, 1)));
  return {texts, texts->data()};
}

}  // namespace

OnlyOutlines::OnlyOutlines() : Temporarily(only_outlines, true) {}

std::string to_string(const Shape &shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d) text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

int64_t elements(const Shape &shape) {
  int64_t n = 1;
  bool none = false;
  for (int64_t e : shape) {
    if (e < 0) fail("shape ", to_string(shape), " has a negative extent");
    none |= e == 0;
    if (e == 0) continue;
    // Extents beside a 0 count too: strides are products of them.
    if (n > std::numeric_limits<int64_t>::max() / 8 / e) fail("shape ", to_string(shape), " is too large");
    n *= e;
  }
  return none ? 0 : n;
}

Shape dense_strides(const Shape &shape, Layout layout) {
  std::vector<int> order(shape.size());
  std::iota(order.rbegin(), order.rend(), 0);
  if (layout == Layout::channels_last && shape.size() >= 3)
    std::rotate(order.begin(), order.end() - 2, order.end() - 1);
  return dense_strides(shape, order);
}

Shape dense_strides(const Shape &shape, const std::vector<int> &order) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (int d : order) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

std::vector<int> memory_order(const Shape &strides) {
  std::vector<int> order(strides.size());
  std::iota(order.rbegin(), order.rend(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return strides[a] < strides[b]; });
  return order;
}

// Without memory.
Tensor Tensor::shaped(Shape shape, Type type, Layout layout) {
  elements(shape);  // refuses what is too large before strides are computed
  Tensor t;
  t.strides_ = dense_strides(shape, layout);
  t.shape_ = std::move(shape);
  t.type_ = type;
  return t;
}

Tensor Tensor::outline(Shape shape, Type type, Layout layout) {
  Tensor t = shaped(std::move(shape), type, layout);
  t.memory_ = std::make_shared<Storage>();
  return t;
}

Tensor Tensor::empty(Shape shape, Type type, Layout layout) {
  if (only_outlines) return outline(std::move(shape), type, layout);
  Tensor t = shaped(std::move(shape), type, layout);
  std::shared_ptr<void> memory = allocate_elements(type, t.size());
  t.data_ = memory.get();
  t.memory_ = std::make_shared<Storage>(std::move(memory), t.data_, type == Type::text ? 0 : t.bytes(), false);
  return t;
}

Tensor Tensor::zeros(Shape shape, Type type, Layout layout) {
  Tensor t = empty(std::move(shape), type, layout);
  if (type != Type::text && !t.is_outline()) std::memset(t.data_, 0, t.bytes());
  return t;
}

Tensor Tensor::full(Shape shape, double value, Type type, Layout layout) {
  Tensor t = empty(std::move(shape), type, layout);
  const int64_t count = t.size(), width = facts(type).bytes();
  if (count == 0 || t.is_outline()) return t;
  set_element(type, t.data_, 0, value);
  for (int64_t done = 1; done < count; done *= 2)
    std::memcpy(static_cast<char *>(t.data_) + done * width, t.data_,
                static_cast<size_t>(std::min(done, count - done) * width));
  return t;
}

Tensor Tensor::like(const Tensor &other) {
  if (!other.is_dense()) return empty(other.shape_, other.type_);
  Tensor t = empty(other.shape_, other.type_);
  t.strides_ = other.strides_;
  return t;
}

Tensor Tensor::borrowed(void *data, Shape shape, Type type, Shape strides, std::shared_ptr<void> owner) {
  if (shape.size() != strides.size())
    fail("shape ", to_string(shape), " and strides ", to_string(strides), " differ in rank");
  Tensor t;
  t.shape_ = std::move(shape);
  t.strides_ = std::move(strides);
  t.type_ = type;
  t.data_ = data;
  if (!owner) owner = std::shared_ptr<void>(data, [](void *) {});
  int64_t last = 0;
  for (size_t d = 0; d < t.shape_.size(); ++d) last += std::max<int64_t>(t.strides_[d], 0) * (t.shape_[d] - 1);
  const int64_t count = type == Type::text || t.size() == 0 ? 0 : last + 1;
  t.memory_ = std::make_shared<Storage>(std::move(owner), data, static_cast<size_t>(count * facts(type).bytes()), true);
  return t;
}

void Tensor::expect_elements() const {
  if (is_outline())
    fail("the elements of ", facts(type_).name, to_string(shape_), " are read, where only its shape is known");
}

double Tensor::item() const {
  expect_elements();
  if (size() != 1) fail("item() of a tensor of shape ", to_string(shape_));
  return real_element(type_, raw(), 0);
}

template <typename Number>
std::vector<Number> Tensor::numbers(Number (*element)(Type, const void *, int64_t)) const {
  expect_elements();
  std::vector<Number> all;
  all.reserve(static_cast<size_t>(size()));
  const void *from = raw();
  for_each_pair(shape_, strides_, strides_, [&](int64_t at, int64_t) { all.push_back(element(type_, from, at)); });
  return all;
}

std::vector<int64_t> Tensor::integers() const { return numbers(integer_element); }
std::vector<double> Tensor::reals() const { return numbers(real_element); }

bool Tensor::is_dense() const {
  if (size() == 0) return true;
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride, extent
  for (int d = 0; d < rank(); ++d)
    if (shape_[d] != 1) dims.emplace_back(strides_[d], shape_[d]);
  std::sort(dims.begin(), dims.end());
  int64_t expected = 1;
  for (const auto &[stride, extent] : dims) {
    if (stride != expected) return false;
    expected *= extent;
  }
  return true;
}

bool Tensor::has_layout(Layout layout) const {
  const Shape wanted = dense_strides(shape_, layout);
  for (int d = 0; d < rank(); ++d)
    if (shape_[d] > 1 && strides_[d] != wanted[d]) return false;
  return true;
}

Tensor Tensor::in_layout(Layout layout) const {
  Tensor t = *this;
  if (has_layout(layout)) {
    t.strides_ = dense_strides(shape_, layout);  // extents of one may carry any stride; make it the canonical one
    return t;
  }
  t = empty(shape_, type_, layout);
  t.copy_from(*this);
  return t;
}

Tensor Tensor::clone() const {
  Tensor t = like(*this);
  t.copy_from(*this);
  return t;
}

void Tensor::copy_from(const Tensor &other) const {
  if (shape_ != other.shape_ || type_ != other.type_)
    fail("cannot copy ", facts(other.type_).name, to_string(other.shape_), " into ", facts(type_).name,
         to_string(shape_));
  if (is_outline()) return;
  other.expect_elements();
  written();
  if (type_ == Type::text) return copy_words<std::string>(*this, other);
  if (strides_ == other.strides_ && is_dense()) {
    if (size() > 0) std::memcpy(data_, other.raw(), bytes());
    return;
  }
  switch (facts(type_).bytes()) {
    case 1:
      copy_words<uint8_t>(*this, other);
      break;
    case 2:
      copy_words<uint16_t>(*this, other);
      break;
    case 4:
      copy_words<uint32_t>(*this, other);
      break;
    default:
      copy_words<uint64_t>(*this, other);
      break;
  }
}

Tensor Tensor::reshaped(Shape shape) const {
  if (elements(shape) != size()) fail("cannot reshape ", to_string(shape_), " to ", to_string(shape));
  if (!has_layout(Layout::row_major)) fail("only a row-major tensor can be reshaped in place");
  Tensor t = *this;
  t.strides_ = dense_strides(shape, Layout::row_major);
  t.shape_ = std::move(shape);
  return t;
}

Tensor Tensor::viewed(Shape shape, Shape strides) const {
  if (shape.size() != strides.size())
    fail("shape ", to_string(shape), " and strides ", to_string(strides), " differ in rank");
  Tensor t = *this;
  t.shape_ = std::move(shape);
  t.strides_ = std::move(strides);
  return t;
}

Tensor Tensor::slice(int d, int64_t begin, int64_t count) const {
  if (d < 0 || d >= rank() || begin < 0 || count < 0 || begin + count > shape_[d])
    fail("slice [", begin, ", ", begin + count, ") of dimension ", d, " of ", to_string(shape_));
  Tensor t = *this;
  t.shape_[d] = count;
  if (!is_outline()) t.data_ = static_cast<char *>(data_) + begin * strides_[d] * facts(type_).bytes();
  return t;
}

int64_t Tensor::offset(const Shape &indices) const {
  if (indices.size() != shape_.size()) fail("index ", to_string(indices), " into a tensor of ", to_string(shape_));
  int64_t at = 0;
  for (int d = 0; d < rank(); ++d) {
    if (indices[d] < 0 || indices[d] >= shape_[d])
      fail("index ", to_string(indices), " is outside ", to_string(shape_));
    at += indices[d] * strides_[d];
  }
  return at;
}

}  // namespace saltern
