// Keras' ops of segments, signals and matrices, with Keras' arguments: rows `keras.NAME`. A complex tensor is its real and its
// imaginary part.

#include <cmath>

#include "runtime/layers/movement.h"
#include "runtime/nn/complex_numbers.h"
#include "runtime/nn/composed.h"
#include "runtime/nn/families.h"
#include "runtime/nn/types.h"

namespace saltern::nn {

namespace {

// ---- Rows of data, by the segment that each is of.

Function::Body over_segments(const std::string &how) {
  return [how](const Arguments &a) -> Argument {
    const Variable data = a.variable("data"), ids = a.variable("segment_ids");
    const size_t rank = ids.shape().size();
    if (rank < 1 || rank > data.shape().size() ||
        !std::equal(ids.shape().begin(), ids.shape().end(), data.shape().begin()))
      a.refuse("segment_ids", "one for each of the first dimensions of 'data'");
    int64_t count = a.has("num_segments") ? a.integer("num_segments") : 0;
    if (!a.has("num_segments"))
      for (int64_t id : ids.value().integers()) count = std::max(count, id + 1);
    Shape shape(data.shape().begin() + static_cast<std::ptrdiff_t>(rank), data.shape().end());
    shape.insert(shape.begin(), -1);
    const Variable rows = reshape(data, shape);
    shape[0] = count;
    const Type type = data.value().type();
    const bool largest = how == "amax";
    const double none = how == "sum"    ? 0
                        : how == "prod" ? 1
                        : is_real(type) ? (largest ? -INFINITY : INFINITY)
                                        : std::ldexp(largest ? -1 : 1, facts(type).bits - 2);
    const Variable begin = Tensor::full(shape, none, type);
    const Variable at = reshape(ids, {-1});
    if (how == "sum") return call("index_add", {begin, 0, at, rows});
    // What a segment without rows has is beside the point in others, whose whole numbers may lie beyond it.
    return call("index_reduce", {begin, 0, at, rows, how}, {{"include_self", false}});
  };
}
const char *const of_segments = "data, segment_ids, num_segments=None, sorted=False";

// ---- Signals.

Variable pairs_of(const Arguments &a, const char *name = "x") {
  const std::vector<Variable> both = a.variables(name);
  if (both.size() != 2) a.refuse(name, "a real and an imaginary part");
  return complex::pairs(both[0], both[1]);
}
Argument parts_of(const Variable &z) { return Argument::List{complex::real(z), complex::imaginary(z)}; }

Function::Body transformed(const char *name) {
  return [name](const Arguments &a) { return parts_of(composed(name, {pairs_of(a)})); };
}

// Windows as Keras has them: periodic, of a frame's length; padded to that of the transform in the middle.
Named of_frames(const Arguments &a, Type type) {
  Argument window;
  const int64_t length = a.integer("sequence_length");
  if (a["window"].as<std::string>())
    window = call("windows." + a.word("window", {"hann", "hamming"}), {length},
                  {{"sym", false}, {"dtype", std::string(facts(type).name)}});
  else if (a.has("window"))
    window = a["window"];
  return {{"n_fft", a["fft_length"]},
          {"hop_length", a["sequence_stride"]},
          {"win_length", length},
          {"window", window},
          {"center", a["center"]}};
}

const Function math_of_keras[] = {
    {"keras.segment_sum", of_segments, over_segments("sum")},
    {"keras.segment_prod", of_segments, over_segments("prod")},
    {"keras.segment_max", of_segments, over_segments("amax")},
    {"keras.segment_min", of_segments, over_segments("amin")},
    {"keras.fft", "x", transformed("fft.fft")},
    {"keras.fft2", "x", transformed("fft.fft2")},
    {"keras.ifft2", "x", transformed("fft.ifft2")},
    {"keras.rfft", "x, fft_length=None",
     [](const Arguments &a) {
       return parts_of(composed("fft.rfft", {a["x"], a["fft_length"]}));
     }},
    {"keras.irfft", "x, fft_length=None",
     [](const Arguments &a) {
       return call("fft.irfft", {pairs_of(a), a["fft_length"]});
     }},
    // (.., t) -> (.., frame, frequency)
    {"keras.stft", "x, sequence_length, sequence_stride, fft_length, window='hann', center=True",
     [](const Arguments &a) {
       const Variable x = a.variable("x");
       return parts_of(composed("transpose", {call("signal.stft", {x}, of_frames(a, x.value().type())), -3, -2}));
     }},
    {"keras.istft", "x, sequence_length, sequence_stride, fft_length, length=None, window='hann', center=True",
     [](const Arguments &a) {
       const Variable z = pairs_of(a);
       Named options = of_frames(a, z.value().type());
       options["length"] = a["length"];
       return call("signal.istft", {call("transpose", {z, -3, -2})}, options);
     }},
    {"keras.extract_sequences", "x, sequence_length, sequence_stride",
     [](const Arguments &a) {
       return call("windows_along", {a["x"], -1, a["sequence_length"], a["sequence_stride"]});
     }},
    // ---- Matrices.
    {"keras.cholesky_inverse", "x, upper=False", [](const Arguments &a) { return call("linalg.inv", {a["x"]}); }},
    {"keras.lstsq", "a, b, rcond=None",
     [](const Arguments &a) {
       const Variable b = a.variable("b");
       const bool is_vector = b.shape().size() == 1;
       const Argument y = call("linalg.lstsq", {a["a"], is_vector ? reshape(b, {-1, 1}) : b, a["rcond"]});
       const Argument &solution = y.as<Argument::List>()->at(0);
       return is_vector ? call("squeeze", {solution, -1}) : solution;
     }},
    {"keras.svd", "x, full_matrices=True, compute_uv=True",
     [](const Arguments &a) {
       return a.flag("compute_uv") ? call("linalg.svd", {a["x"], a["full_matrices"]})
                                   : call("linalg.svdvals", {a["x"]});
     }},
    {"keras.solve", "a, b",
     [](const Arguments &a) {
       return call("linalg.solve", {a["a"], a["b"]});
     }},
    {"keras.solve_triangular", "a, b, lower=False",
     [](const Arguments &a) {
       const Variable b = a.variable("b");
       const bool is_vector = b.shape().size() == a.variable("a").shape().size() - 1;
       const Argument y =
           call("linalg.solve_triangular", {a["a"], is_vector ? call("unsqueeze", {b, -1}) : Argument(b)},
                {{"upper", !a.flag("lower")}});
       return is_vector ? call("squeeze", {y, -1}) : y;
     }},
};

}  // namespace

const void *keras_math() { return math_of_keras; }

}  // namespace saltern::nn
