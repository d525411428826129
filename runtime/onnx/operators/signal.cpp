// Spectra: discrete Fourier transforms, windows, and the bands of the mel scale.
//
// A transform of N = p1 p2 ... elements is a formula for each prime factor, N (p1 + p2 + ...) products in all. Real and
// imaginary part are the last dimension.

#include <cmath>

#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/onnx_types.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using formula::constant_integer;
using namespace formula;

constexpr double pi = 3.14159265358979323846;

// Fours come first: half as many passes as twos, for as many products.
std::vector<int64_t> radices(int64_t length) {
  std::vector<int64_t> all;
  for (int64_t p = 4; length > 1;) {
    if (length % p == 0) {
      all.push_back(p);
      length /= p;
    } else {
      p = p == 4 ? 2 : p == 2 ? 3 : p * p > length ? length : p + 2;
    }
  }
  return all;
}

// For k < count: cos(a), -sin(a) and sin(a) of a = 2 pi k / count times `sign`.
Operand turns(Lowering &n, Type type, int64_t count, int sign) {
  const Tensor t = Tensor::empty({count, 3}, Type::f64);
  for (int64_t k = 0; k < count; ++k) {
    const double angle = sign * 2 * pi * static_cast<double>(k) / static_cast<double>(count);
    double *row = t.data<double>() + 3 * k;
    row[0] = std::cos(angle);
    row[1] = -std::sin(angle);
    row[2] = std::sin(angle);
  }
  return n.casted(n.constant(t), type);
}

// z (rows, N, 2) -> (rows, N, 2), not divided by N.
//
// Before a pass z is (rows, m, s, 2): m elements to be transformed for each of s results known so far. With i, j the
// digits of an element's number (i + m/p j) and r the next digit of the result's:
//   z'(i, t + s r) = sum over j of z(i + m/p j, t) e^(-+ 2 pi i (i + m/p j) r / m)
Operand transformed(Lowering &n, const Operand &x, bool inverse) {
  const int64_t rows = x.shape[0], length = x.shape[1];
  int64_t m = length, s = 1;
  Operand z = n.reshaped(x, {rows, m, s, 2});
  for (const int64_t p : radices(length)) {
    const Operand table = turns(n, x.type, m, inverse ? 1 : -1);
    const int64_t apart = m / p;
    const Value from = z, turns = table;
    z = n.computed(compute("butterflies", extents({rows, apart, s * p, 2}), [&](const Axes &at) {
      const Expression digit = at[2] / s, t = at[2] % s, part = at[3];
      return reduce(Function::sum, {p}, [&](const auto &j) {
        const Expression i = at[1] + j[0] * apart, turn = i * digit % m;
        const Expression same = from(at[0], i, t, part), other = from(at[0], i, t, 1 - part);
        return same * turns(turn, 0) + other * turns(turn, part + 1);
      });
    }));
    m = apart;
    s *= p;
  }
  return n.reshaped(z, {rows, length, 2});
}

int64_t known_number(const Lowering &n, size_t input, const char *what) {
  const std::vector<int64_t> values = n.known_integers(input, what);
  if (values.size() != 1) fail(what, " has ", values.size(), " values; expected one");
  return values[0];
}

// signals (rows, extent, 1 or 2) -> (rows, results, parts), computed in the type of signals.
Operand spectrum(Lowering &n, const Operand &x, int64_t length, bool inverse, bool onesided) {
  const int64_t extent = x.shape[1], half = length / 2 + 1;
  const bool is_real_input = x.shape[2] == 1, mirrored = inverse && onesided;
  // As many elements as asked for, and of both sides: the second is the first, mirrored and conjugated.
  const Operand full = n.computed(compute("full", extents({x.shape[0], length, 2}), [&](const Axes &at) {
    const Expression i = mirrored ? select(at[1] < half, at[1], length - at[1]) : at[1];
    Expression e = Value(x).at({at[0], i, is_real_input ? constant_integer(Type::i64, 0) : at[2]});
    const Expression zero = literal(e, 0), imaginary = at[2] == 1;
    if (is_real_input) e = select(imaginary, zero, e);
    if (mirrored) e = select(imaginary && at[1] >= half, -e, e);
    return select(i < extent, e, zero);
  }));
  const Operand y = transformed(n, full, inverse);
  const Shape shape = {x.shape[0], onesided && !inverse ? half : length, mirrored ? int64_t{1} : int64_t{2}};
  const double scale = inverse ? 1 / static_cast<double>(length) : 1;
  return n.computed(inlined(extents(shape), [&](const Axes &at) { return Value(y).at(at) * scale; }));
}

void dft(Lowering &n) {
  const Operand &x = n.input(0);
  const bool inverse = n.attributes().integer("inverse", 0) != 0, onesided = n.attributes().integer("onesided", 0) != 0;
  const int64_t given = n.opset() < 20 ? n.attributes().integer("axis", 1)
                        : n.has(2)     ? known_number(n, 2, "the axis")
                                       : -2;
  const int axis = n.axis(given, x.rank());
  if (axis == x.rank() - 1) fail("the last dimension of ", to_string(x.shape), " holds the parts of a number");
  if (x.shape.back() != 1 && x.shape.back() != 2)
    fail("the last dimension of ", to_string(x.shape), " is expected to be 1 (real) or 2 (complex)");
  if (onesided && (x.shape.back() == 2) != inverse)
    fail("a one-sided ", inverse ? "inverse transform is of complex" : "transform is of real", " numbers");
  const int64_t extent = x.shape[static_cast<size_t>(axis)];
  const int64_t length = n.has(1) ? known_number(n, 1, "dft_length") : inverse && onesided ? 2 * (extent - 1) : extent;
  if (length < 1) fail("a transform of ", length, " elements");

  // The axis goes next to the last one; then all others are rows.
  std::vector<int> order, back(static_cast<size_t>(x.rank()));
  for (int d = 0; d + 1 < x.rank(); ++d)
    if (d != axis) order.push_back(d);
  order.insert(order.end(), {axis, x.rank() - 1});
  for (size_t d = 0; d < order.size(); ++d) back[static_cast<size_t>(order[d])] = static_cast<int>(d);
  const Operand moved = n.transposed(n.casted(x, working_type(x.type)), order);
  int64_t rows = 1;
  for (int d = 0; d + 2 < x.rank(); ++d) rows *= moved.shape[static_cast<size_t>(d)];
  const Operand y = spectrum(n, n.reshaped(moved, {rows, extent, x.shape.back()}), length, inverse, onesided);
  Shape shape = moved.shape;
  shape[shape.size() - 2] = y.shape[1];
  shape.back() = y.shape[2];
  n.give(0, n.casted(n.transposed(n.reshaped(y, shape), back), x.type));
}

void stft(Lowering &n) {
  // Some exporters leave the last dimension of real signals out.
  const Operand &given = n.input(0);
  const Operand x = given.rank() == 2 ? n.reshaped(given, {given.shape[0], given.shape[1], 1}) : given;
  const bool has_window = n.has(2), onesided = n.attributes().integer("onesided", 1) != 0;
  if (x.rank() != 3 || (x.shape[2] != 1 && x.shape[2] != 2))
    fail("a signal of ", to_string(x.shape), "; expected (batch, length, 1 or 2)");
  if (onesided && x.shape[2] == 2) fail("a one-sided transform is of real numbers");
  const int64_t step = known_number(n, 1, "frame_step");
  const int64_t window = has_window ? n.input(2).shape.at(0) : 0;
  const int64_t length = n.has(3) ? known_number(n, 3, "frame_length") : has_window ? window : x.shape[1];
  if (step < 1 || length < 1 || length > x.shape[1])
    fail("frames of ", length, " elements, ", step, " apart, of a signal of ", x.shape[1]);
  const int64_t frames = 1 + (x.shape[1] - length) / step;
  const Type type = working_type(x.type);
  const Value from = x, shaped = has_window ? Value(n.input(2)) : Value();
  const Operand framed =
      n.computed(compute("framed", extents({x.shape[0] * frames, length, x.shape[2]}), [&](const Axes &at) {
        const Expression e = cast(type, from(at[0] / frames, at[0] % frames * step + at[1], at[2]));
        if (!has_window) return e;
        return select(at[1] < window, e * cast(type, shaped(at[1])), literal(e, 0));
      }));
  const Operand y = spectrum(n, framed, length, false, onesided);
  n.give(0, n.casted(n.reshaped(y, {x.shape[0], frames, y.shape[1], 2}), x.type));
}

// ---- Windows, of the angle 2 pi i / N: they depend on nothing but numbers that are known, so they are constants.

void give_constant(Lowering &n, const Tensor &value) {
  n.give(0, n.casted(n.constant(value), type_of_onnx(n.attributes().integer("output_datatype", 1))));
}

template <double (*at_angle)(double)>
void window(Lowering &n) {
  const int64_t size = known_number(n, 0, "the size of a window");
  if (size < 0) fail("a window of ", size, " elements");
  const bool periodic = n.attributes().integer("periodic", 1) != 0;
  const Tensor w = Tensor::empty({size}, Type::f64);
  const auto turn = static_cast<double>(periodic ? size : size - 1);
  for (int64_t i = 0; i < size; ++i) w.data<double>()[i] = at_angle(2 * pi * static_cast<double>(i) / turn);
  give_constant(n, w);
}

double hann(double a) { return 0.5 - 0.5 * std::cos(a); }
double hamming(double a) { return 25.0 / 46 - 21.0 / 46 * std::cos(a); }
double blackman(double a) { return 0.42 - 0.5 * std::cos(a) + 0.08 * std::cos(2 * a); }

// Triangles between neighbouring bins that are evenly spaced on the mel scale.
void mel_weights(Lowering &n) {
  const int64_t bands = known_number(n, 0, "num_mel_bins"), length = known_number(n, 1, "dft_length"),
                rate = known_number(n, 2, "sample_rate");
  const double low = n.known(3, "lower_edge_hertz").item(), high = n.known(4, "upper_edge_hertz").item();
  if (bands < 0 || length < 1 || rate < 1) fail(bands, " bands of ", length, " elements at ", rate, " hertz");
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double step = (mel(high) - mel(low)) / static_cast<double>(bands + 2);
  const int64_t bins = length / 2 + 1;
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + mel(low)) / 2595) - 1);
    edges.push_back(
        static_cast<int64_t>(std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
  }
  const Tensor weights = Tensor::zeros({bins, bands}, Type::f64);
  for (int64_t i = 0; i < bands; ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t left = edges[at], center = edges[at + 1], right = edges[at + 2];
    const auto set = [&](int64_t bin, int64_t above, int64_t of) {
      if (bin < 0 || bin >= bins) fail("a band reaches bin ", bin, " of ", bins, "; upper_edge_hertz is ", high);
      weights.data<double>()[bin * bands + i] = static_cast<double>(above) / static_cast<double>(of);
    };
    if (left == center) set(center, 1, 1);
    for (int64_t j = left; left < center && j <= center; ++j) set(j, j - left, center - left);
    for (int64_t j = center; j < right; ++j) set(j, right - j, right - center);
  }
  give_constant(n, weights);
}

}  // namespace

const OperatorList signal_operators = {
    {"BlackmanWindow", window<blackman>}, {"DFT", dft},
    {"HammingWindow", window<hamming>},   {"HannWindow", window<hann>},
    {"MelWeightMatrix", mel_weights},     {"STFT", stft},
};

}  // namespace saltern
