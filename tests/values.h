#pragma once
// What formulas give, compiled as a kernel and by the interpreter, which have to agree; and their gradients beside central
// differences. Buffers have their dimensions innermost first, a Value's axes are the reverse.
//
//   Halide::Buffer<double> y = result_of<double>([](const Values &in) { return softmax(in[0], 1); }, {x});
//   expect_gradients([](const Values &in) { return softmax(in[0], 1); }, {x});

#include <Halide.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "dsl/derivative.h"
#include "generators/kernel.h"
#include "runtime/formula/evaluate_values.h"
#include "runtime/tensor/view.h"
#include "tests/random_buffer.h"

namespace saltern {

inline Halide::Buffer<> buffer_of(const Tensor &t) {
  std::vector<halide_dimension_t> dimensions;
  int stride = 1;
  for (size_t d = t.shape().size(); d-- > 0;) {
    dimensions.emplace_back(0, static_cast<int32_t>(t.shape()[d]), stride);
    stride *= static_cast<int>(t.shape()[d]);
  }
  return Halide::Buffer<>(Halide::Type(halide_type(t.type())), t.raw(), static_cast<int>(dimensions.size()),
                          dimensions.data());
}

// The tensor of a dense buffer, whose memory it is.
inline Tensor tensor_of(const Halide::Buffer<> &b) {
  const auto of_type = std::find_if(all_types().begin(), all_types().end(),
                                    [&](const TypeFacts &f) { return Halide::Type(halide_type(f.type)) == b.type(); });
  Shape shape;
  for (int d = b.dimensions(); d-- > 0;) shape.push_back(b.dim(d).extent());
  return Tensor::borrowed(b.raw_buffer()->host, shape, of_type->type, dense_strides(shape, Layout::row_major));
}

// A buffer of these elements, the innermost dimension's first.
template <typename T>
Halide::Buffer<T> buffer_with(const std::vector<int> &extents, const std::vector<T> &elements) {
  Halide::Buffer<T> b(extents);
  size_t i = 0;
  b.for_each_value([&](T &v) { v = elements.at(i++); });
  return b;
}

// What a formula of any size gives where it is compiled, scheduled by its structure alone. Results are of the shapes and
// types of `like`; `numbers` are what symbols stand for that are no extents.
inline std::vector<Tensor> compiled(const formula::Values &outputs, const formula::Values &inputs,
                                    const std::vector<Tensor> &tensors, const formula::Numbers &numbers,
                                    const std::vector<Tensor> &like) {
  const Halide::Target target = host_target().with_feature(Halide::Target::JIT);
  generators::Build b(target, generators::Build::Schedule::own);
  for (const formula::Value &v : inputs) b.declare(v);
  b.declare_symbols(outputs);
  for (size_t i = 0; i < outputs.size(); ++i) b.output("y" + std::to_string(i), outputs[i]);
  b.finish(nullptr);
  Halide::Callable callable = b.pipeline().compile_to_callable(b.arguments(), target);

  std::vector<Halide::Buffer<>> buffers;
  std::vector<Tensor> results;
  for (const Tensor &t : tensors) buffers.push_back(buffer_of(t));
  for (const Tensor &t : like) {
    results.push_back(Tensor::full(t.shape(), 77, t.type()));  // no NaN, which may be right
    buffers.push_back(buffer_of(results.back()));
  }
  std::vector<halide_scalar_value_t> scalars(b.inputs().size());
  Halide::JITUserContext none = {}, *context = &none;
  std::vector<void *> arguments = {&context};
  for (size_t i = 0; i < inputs.size(); ++i) arguments.push_back(buffers[i].raw_buffer());
  for (size_t i = inputs.size(); i < b.inputs().size(); ++i) {
    const generators::InputFacts &in = b.inputs()[i];
    if (in.type == Halide::Float(32))
      scalars[i].u.f32 = static_cast<float>(numbers.at(in.name));
    else
      scalars[i].u.i32 = static_cast<int>(numbers.at(in.name));
    arguments.push_back(&scalars[i]);
  }
  for (size_t i = inputs.size(); i < buffers.size(); ++i) arguments.push_back(buffers[i].raw_buffer());
  EXPECT_EQ(callable.call_argv_fast(arguments.size(), arguments.data()), 0);
  return results;
}

// NaN where NaN, and equal where infinite.
inline void expect_agreement(const Tensor &compiled, const Tensor &interpreted, double tolerance) {
  const std::vector<double> got = compiled.reals(), want = interpreted.reals();
  for (size_t i = 0; i < want.size(); ++i) {
    if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) continue;
    ASSERT_LE(std::fabs(got[i] - want[i]), tolerance * std::max(1.0, std::fabs(want[i])))
        << "element " << i << " is " << got[i] << " compiled, " << want[i] << " interpreted";
  }
}

using Formulas = std::function<formula::Values(const formula::Values &inputs)>;
using Formula = std::function<formula::Value(const formula::Values &inputs)>;

// Values of exactly the extents of buffers, and of their types.
inline formula::Values inputs_like(const std::vector<Tensor> &tensors) {
  formula::Values inputs;
  for (const Tensor &t : tensors)
    inputs.push_back(
        formula::input("x" + std::to_string(inputs.size()), {t.shape().begin(), t.shape().end()}, t.type()));
  return inputs;
}

inline std::vector<Tensor> tensors_of(const std::vector<Halide::Buffer<>> &buffers) {
  std::vector<Tensor> tensors;
  for (const Halide::Buffer<> &b : buffers) tensors.push_back(tensor_of(b));
  return tensors;
}

inline std::vector<Halide::Buffer<>> results_of(const Formulas &formulas, const std::vector<Halide::Buffer<>> &buffers,
                                                const formula::Numbers &numbers = {}) {
  const std::vector<Tensor> tensors = tensors_of(buffers);
  const formula::Values inputs = inputs_like(tensors), outputs = formulas(inputs);
  const std::vector<Tensor> want = evaluate(formula::exact_formulas(inputs, outputs, numbers), tensors);
  const std::vector<Tensor> got = compiled(outputs, inputs, tensors, numbers, want);
  std::vector<Halide::Buffer<>> results;
  for (size_t i = 0; i < want.size(); ++i) {
    const double tolerance = !is_real(want[i].type()) ? 0 : want[i].type() == Type::f64 ? 1e-12 : 2e-6;
    SCOPED_TRACE("output " + std::to_string(i));
    expect_agreement(got[i], want[i], tolerance);
    results.push_back(buffer_of(got[i]).copy());
  }
  return results;
}

template <typename T>
Halide::Buffer<T> result_of(const Formula &f, const std::vector<Halide::Buffer<>> &buffers,
                            const formula::Numbers &numbers = {}) {
  return results_of([&](const formula::Values &in) { return formula::Values{f(in)}; }, buffers, numbers)[0];
}

// df/dx by central differences; f reads x where it is.
inline Halide::Buffer<double> central_differences(const std::function<double()> &f, const Tensor &x) {
  constexpr double step = 1e-5;
  const Tensor slope = Tensor::empty(x.shape(), Type::f64);
  for (int64_t i = 0; i < x.size(); ++i) {
    double &at = x.data<double>()[i];
    const double middle = at;
    at = middle + step;
    const double above = f();
    at = middle - step;
    slope.data<double>()[i] = (above - f()) / (2 * step);
    at = middle;
  }
  return buffer_of(slope).copy();
}

// Gradients that are written down: of the first inputs of f64, as many as there are.
using Gradients = std::function<formula::Values(const formula::Values &inputs, const formula::Value &dy)>;

// The claim is about g = <dy, f(inputs)> for a random dy: the derived gradient, and the one that is written down where
// there is one, are dg / d(input) for every input of f64. Keep values away from kinks: there are no derivatives there.
inline void expect_gradients(const Formula &f, const std::vector<Halide::Buffer<>> &buffers,
                             const Gradients &written = nullptr, const formula::Numbers &numbers = {}) {
  std::vector<Tensor> tensors;
  for (const Tensor &t : tensors_of(buffers)) tensors.push_back(t.clone());
  const formula::Values inputs = inputs_like(tensors);
  const formula::ExactFormulas forward = formula::exact_formulas(inputs, {f(inputs)}, numbers);
  const Tensor y = evaluate(forward, tensors)[0];
  std::vector<Halide::Buffer<>> with_dy = buffers;
  with_dy.push_back(random_buffer(Halide::Float(64), {y.shape().rbegin(), y.shape().rend()}, -1, 1, 4711));
  const Tensor dy = tensor_of(with_dy.back());

  const auto gradients = [&](const Gradients &of) {
    return results_of(
        [&](const formula::Values &in) {
          return of({in.begin(), in.end() - 1}, in.back());
        },
        with_dy, numbers);
  };
  std::vector<size_t> wanted;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].type() == Type::f64) wanted.push_back(i);
  const std::vector<Halide::Buffer<>> derived = gradients([&](const formula::Values &in, const formula::Value &seed) {
    formula::Values x;
    for (size_t i : wanted) x.push_back(in[i]);
    return formula::gradient({f(in)}, {seed}, x);
  });
  const std::vector<Halide::Buffer<>> by_hand = written ? gradients(written) : std::vector<Halide::Buffer<>>();
  const auto expect_near = [](const Halide::Buffer<double> &got, const Halide::Buffer<double> &want, double tolerance,
                              const std::string &what) {
    ASSERT_EQ(tensor_of(got).shape(), tensor_of(want).shape()) << what;
    EXPECT_LE(relative_difference(got, want), tolerance) << what;
  };
  const auto projected = [&] {
    const Tensor now = evaluate(forward, tensors)[0];
    double sum = 0;
    for (int64_t i = 0; i < dy.size(); ++i) sum += dy.data<double>()[i] * now.data<double>()[i];
    return sum;
  };
  for (size_t i = 0; i < wanted.size(); ++i) {
    SCOPED_TRACE("gradient of input " + std::to_string(wanted[i]));
    const Halide::Buffer<double> differences = central_differences(projected, tensors[wanted[i]]);
    expect_near(derived[i], differences, 1e-6, "derived, against differences");
    if (i >= by_hand.size()) continue;
    expect_near(by_hand[i], differences, 1e-6, "written down, against differences");
    expect_near(by_hand[i], derived[i], 1e-9, "written down, against the derived one");
  }
}

}  // namespace saltern
