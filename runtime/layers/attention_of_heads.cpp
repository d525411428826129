#include "runtime/layers/attention_of_heads.h"

#include <algorithm>
#include <exception>
#include <mutex>

#include "algorithms/contraction.h"
#include "algorithms/probabilities.h"
#include "dsl/derivative.h"
#include "runtime/kernels/kernels.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/layers/matmul.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

// The last two dimensions.
Tensor head(const Tensor &t, int64_t number) {
  Tensor part = t;
  for (int d = t.rank() - 3; d >= 0; --d) {
    part = part.slice(d, number % t.extent(d), 1);
    number /= t.extent(d);
  }
  const auto last = [](const Shape &s) { return Shape(s.end() - 2, s.end()); };
  return part.viewed(last(t.shape()), last(t.strides()));
}

Tensor scaled(const Tensor &t, double scale) { return called_strided("multiply", {t, Tensor::full({1, 1}, scale)}); }

// Of scaled queries.
Tensor shares(const Tensor &q, const Tensor &k) {
  const Tensor scores = multiplied(q, turned(k)), y = Tensor::like(scores);
  call("softmax", {reversed(scores), reversed(y)});
  return y;
}

// Several at a time, each by one thread.
void for_each_head(int64_t count, const std::function<void(int64_t head)> &work) {
  std::mutex mutex;
  std::exception_ptr failure;
  parallel_for(static_cast<int>(count), [&](int h) {
    try {
      work(h);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex);
      failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

int64_t heads_of(const Tensor &q) { return elements(Shape(q.shape().begin(), q.shape().end() - 2)); }

void expect_alike(const Tensor &q, const Tensor &k, const Tensor &v) {
  const auto front = [](const Tensor &t) { return Shape(t.shape().begin(), t.shape().end() - 2); };
  if (q.rank() < 3 || q.rank() != k.rank() || k.rank() != v.rank() || front(q) != front(k) || front(k) != front(v) ||
      q.extent(-1) != k.extent(-1) || k.extent(-2) != v.extent(-2))
    fail("attention_of_heads: ", to_string(q.shape()), ", ", to_string(k.shape()), " and ", to_string(v.shape()),
         " do not fit each other");
}

Tensor result_of(const Tensor &q, const Tensor &v) {
  Shape shape = q.shape();
  shape.back() = v.extent(-1);
  return Tensor::empty(shape);
}

std::vector<Tensor> attended(const std::vector<Tensor> &in, const Attributes &a) {
  const Tensor &q = in.at(0), &k = in.at(1), &v = in.at(2), y = result_of(q, v);
  expect_alike(q, k, v);
  for_each_head(heads_of(q), [&](int64_t h) {
    multiply(shares(scaled(head(q, h), a.real("scale")), head(k, h)), head(v, h), head(y, h));
  });
  return {y};
}

// (q, k, v, dy) -> dq, dk, dv
std::vector<Tensor> attended_back(const std::vector<Tensor> &in, const Attributes &a) {
  const Tensor &q = in.at(0), &k = in.at(1), &v = in.at(2), &dy = in.at(3);
  expect_alike(q, k, v);
  const double scale = a.real("scale");
  const Tensor dq = Tensor::empty(q.shape()), dk = Tensor::empty(k.shape()), dv = Tensor::empty(v.shape());
  for_each_head(heads_of(q), [&](int64_t h) {
    const Tensor queries = scaled(head(q, h), scale), keys = head(k, h), p = shares(queries, keys), d = head(dy, h);
    const Tensor dp = multiplied(d, turned(head(v, h))), ds = Tensor::like(p);
    call("softmax_gradient", {reversed(p), reversed(dp), reversed(ds)});
    multiply(turned(p), d, head(dv, h));
    multiply(turned(ds), queries, head(dk, h));
    copy(head(dq, h), scaled(multiplied(ds, keys), scale));
  });
  return {dq, dk, dv};
}

Value formula_of(const Values &in, const Attributes &a) {
  std::vector<int> order;
  for (int d = 0; d < in.at(1).rank(); ++d) order.push_back(d);
  std::swap(order.back(), order[order.size() - 2]);
  const Value scores = algorithms::matmul(in[0] * a.real("scale"), formula::permuted(in[1], order));
  return algorithms::matmul(algorithms::softmax(scores, scores.rank() - 1), in.at(2));
}

const Operation gradient_of_heads("attention_of_heads_gradient", attended_back,
                                  [](const Values &in, const Attributes &a) -> Values {
                                    const Values given(in.begin(), in.begin() + 3);
                                    return formula::gradient({formula_of(given, a)}, {in.at(3)}, given);
                                  });

const Operation of_heads(
    "attention_of_heads", attended, [](const Values &in, const Attributes &a) -> Values { return {formula_of(in, a)}; },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      return apply(gradient_of_heads, {t.input(0), t.input(1), t.input(2), dy[0]}, t.attributes());
    });

}  // namespace

bool fits_attention_of_heads(const Variable &q, const Variable &k, const Variable &v) {
  if (recording_mode() == RecordingMode::everything) return false;
  for (const Variable *t : {&q, &k, &v}) {
    const Tensor &value = t->value();
    if (value.type() != Type::f32 || value.rank() < 3 || value.rank() != q.value().rank() || value.size() == 0 ||
        value.is_outline() || !std::equal(value.shape().begin(), value.shape().end() - 2, q.shape().begin()))
      return false;
  }
  return true;
}

Variable attention_of_heads(const Variable &q, const Variable &k, const Variable &v, double scale) {
  return apply_one(of_heads, {q, k, v}, {{"scale", scale}});
}

}  // namespace saltern
