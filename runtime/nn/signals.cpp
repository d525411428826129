// Spectra of signals over time: stft and istft as PyTorch has them, spectrograms and mel spectrograms as torchaudio has them.
// All are made of frames, windows, Fourier transforms and products, and have gradients of any order.

#include <algorithm>
#include <cmath>

#include "dsl/derivative.h"
#include "runtime/layers/matmul.h"
#include "runtime/layers/unary.h"
#include "runtime/nn/complex_numbers.h"
#include "runtime/nn/families.h"
#include "runtime/nn/types.h"

namespace saltern::nn {

namespace {

using namespace formula;

// x(.., t) as frames of a size, one at each hop: y(.., f, k) = x(.., f hop + k).
Value framed(const Value &x, const Expression &count, int64_t size, int64_t hop) {
  std::vector<Expression> extents = x.extents();
  extents.back() = count;
  extents.push_back(size);
  return compute("frames", extents, [&](const Axes &at) {
    Axes from(at.begin(), at.end() - 1);
    from.back() = from.back() * hop + at.back();
    return x.at(from);
  });
}

const Operation frames("signal.frames", [](const Values &in, const Attributes &a) -> Values {
  const int64_t size = a.integer("size"), hop = a.integer("hop");
  return {framed(in.at(0), (in[0].extent(-1)->integer - size) / hop + 1, size, hop)};
});
// The way back: frames added up where they lie over each other.
const Operation overlapped("signal.overlapped", [](const Values &in, const Attributes &a) -> Values {
  const Value &y = in.at(0);
  const int64_t size = y.extent(-1)->integer, hop = a.integer("hop"), count = y.extent(-2)->integer;
  std::vector<Expression> extents = y.extents();
  extents.pop_back();
  extents.back() = (count - 1) * hop + size;
  return {adjoint(extents, y, [&](const Value &x) { return framed(x, count, size, hop); })};
});

// What transforms over time are made with.
struct Frames {
  int64_t size, hop;
  Variable window;  // as long as a frame

  // Unless told otherwise, stft() hops by a quarter of a frame and sees all of it alike; a spectrogram hops by half of its
  // window, which is Hann's.
  Frames(const Arguments &a, Type type, bool of_spectrogram) : size(a.integer("n_fft")) {
    if (size < 1) a.refuse("n_fft", "at least 1");
    const int64_t length = a.has("win_length") ? a.integer("win_length") : size;
    if (length < 1 || length > size) a.refuse("win_length", "1 to n_fft");
    hop = a.has("hop_length") ? a.integer("hop_length") : std::max<int64_t>(of_spectrogram ? length / 2 : size / 4, 1);
    if (hop < 1) a.refuse("hop_length", "at least 1");
    if (a.has("window"))
      window = a.variable("window");
    else if (of_spectrogram)
      window = variable_of(call("windows.hann", {length}, {{"sym", false}, {"dtype", std::string(facts(type).name)}}));
    else
      window = Tensor::full({length}, 1, type);
    if (window.shape() != Shape{length})
      a.refuse("window", "as many numbers as 'win_length', " + std::to_string(length));
    window = to_type(window, type);
    const int64_t left = (size - length) / 2;
    if (length < size) window = variable_of(call("pad", {window, {left, size - length - left}}));
  }
};

// Signals (.., t) as (rows, t).
Variable rows_of(const Variable &x) { return reshape(x, {-1, x.shape().back()}); }
Shape with_rows_of(const Shape &batch, const Variable &y) {
  Shape shape = batch;
  shape.insert(shape.end(), y.shape().begin() + 1, y.shape().end());
  return shape;
}

Variable real_signal(const Arguments &a, const char *name) {
  const Variable x = a.variable(name);
  if (x.shape().empty() || !is_real(x.type())) a.refuse(name, "a signal (..., time) of real numbers");
  return x;
}

// (.., t) -> pairs (.., frequency, frame, 2)
Variable spectra(const Arguments &a, const Variable &x, const Frames &f, bool onesided) {
  Variable rows = rows_of(x);
  if (a.flag("center")) {
    const int64_t half = f.size / 2;
    const std::string &mode = a.word("pad_mode");
    if (mode == "reflect" && half >= rows.shape()[1])
      a.refuse("n_fft",
               "at most twice the length of the signal, " + std::to_string(rows.shape()[1]) + ", to reflect it");
    rows = variable_of(call("pad", {reshape(rows, {1, rows.shape()[0], -1}), {half, half}, mode}));
    rows = reshape(rows, {rows.shape()[1], -1});
  }
  if (rows.shape()[1] < f.size) a.refuse("n_fft", "no more than the signal has, " + std::to_string(rows.shape()[1]));
  const Variable parts = apply_one(frames, {rows}, {{"size", f.size}, {"hop", f.hop}}) * f.window;
  const Variable z = onesided ? variable_of(call("fft.rfft", {parts}))
                              : variable_of(call("fft.fft", {complex::pairs(parts, parts * 0.0)}));
  const Variable y = transpose(z, {0, 2, 1, 3});
  return reshape(y, with_rows_of({x.shape().begin(), x.shape().end() - 1}, y));
}

const nn::Function stft("signal.stft",
                        "input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode='reflect', "
                        "normalized=False, onesided=True",
                        [](const Arguments &a) {
                          const Variable x = real_signal(a, "input");
                          const Frames f(a, x.type(), false);
                          const Variable y = spectra(a, x, f, a.flag("onesided"));
                          return a.flag("normalized") ? y / std::sqrt(static_cast<double>(f.size)) : y;
                        });

const nn::Function istft(
    "signal.istft",
    "input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=True, "
    "length=None",
    [](const Arguments &a) {
      const Variable z = a.variable("input");
      const Shape &shape = z.shape();
      const Frames f(a, z.type(), false);
      const int64_t frequencies = a.flag("onesided") ? f.size / 2 + 1 : f.size;
      if (shape.size() < 3 || shape.back() != 2 || shape[shape.size() - 3] != frequencies)
        a.refuse("input", "complex numbers (..., " + std::to_string(frequencies) + " frequencies, frames)");
      const int64_t count = shape[shape.size() - 2];
      if (count < 1) a.refuse("input", "at least one frame");
      const Variable turned = transpose(reshape(z, {-1, frequencies, count, 2}), {0, 2, 1, 3});
      Variable parts = a.flag("onesided") ? variable_of(call("fft.irfft", {turned, f.size}))
                                          : complex::real(variable_of(call("fft.ifft", {turned})));
      if (a.flag("normalized")) parts = parts * std::sqrt(static_cast<double>(f.size));
      const Attributes hop = {{"hop", f.hop}};
      const Variable sum = apply_one(overlapped, {parts * f.window}, hop);
      const Variable weight = apply_one(overlapped, {expand(f.window * f.window, {1, count, f.size})}, hop);
      const int64_t begin = a.flag("center") ? f.size / 2 : 0, whole = sum.shape()[1] - 2 * begin;
      const int64_t length = a.has("length") ? a.integer("length") : whole;
      if (length < 1) a.refuse(a.has("length") ? "length" : "input", "at least one sample");
      const int64_t there = std::min(length, sum.shape()[1] - begin);
      const Variable seen = slice(weight, 1, begin, there);
      if (!seen.value().is_outline())
        for (double w : seen.value().reals())
          if (!(w > 1e-11)) a.refuse("window", "windows that leave no sample out");
      Variable y = slice(sum, 1, begin, there) / seen;
      if (there < length) y = variable_of(call("pad", {y, {0, length - there}}));
      return reshape(y, with_rows_of({shape.begin(), shape.end() - 3}, y));
    });

const std::string spectrogram_arguments =
    "win_length=None, hop_length=None, pad=0, window=None, power=2.0, normalized=False, "
    "center=True, pad_mode='reflect'";

// |stft|^power with a periodic Hann window; `normalized` divides by the window's length as a vector.
Variable spectrogram_of(const Arguments &a) {
  Variable x = real_signal(a, "waveform");
  if (a.integer("pad") > 0) x = variable_of(call("pad", {x, {a.integer("pad"), a.integer("pad")}}));
  const Frames f(a, x.type(), true);
  Variable z = spectra(a, x, f, true);
  if (a.flag("normalized")) z = z / sqrt(sum(f.window * f.window));
  const Variable re = complex::real(z), im = complex::imaginary(z), squares = re * re + im * im;
  const double power = a.real("power");
  if (power == 2) return squares;
  const Variable size = variable_of(call("complex.abs", {z}));
  return power == 1 ? size : variable_of(call("pow", {size, power}));
}
const nn::Function spectrogram("signal.spectrogram", "waveform, n_fft=400, " + spectrogram_arguments,
                               [](const Arguments &a) { return spectrogram_of(a); });

const nn::Function mel_spectrogram("signal.mel_spectrogram",
                                   "waveform, sample_rate=16000, n_fft=400, " + spectrogram_arguments +
                                       ", f_min=0.0, f_max=None, n_mels=128, norm=None, mel_scale='htk'",
                                   [](const Arguments &a) {
                                     const Variable power = spectrogram_of(a);
                                     const int64_t rate = a.integer("sample_rate");
                                     const Argument most =
                                         a.has("f_max") ? a["f_max"] : Argument(static_cast<double>(rate / 2));
                                     const Variable bands =
                                         variable_of(call("signal.melscale_fbanks",
                                                          {a.integer("n_fft") / 2 + 1, a["f_min"], most, a["n_mels"],
                                                           rate, a["norm"], a["mel_scale"]},
                                                          {{"dtype", std::string(facts(power.type()).name)}}));
                                     return matmul(transposed(bands), power);
                                   });

}  // namespace

const void *signals() { return &stft; }

}  // namespace saltern::nn
