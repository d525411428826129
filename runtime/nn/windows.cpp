// Windows with the names of torch.signal.windows, and the bands of the mel scale.

#include "runtime/nn/windows.h"

#include <algorithm>
#include <cmath>

#include "runtime/nn/families.h"
#include "runtime/nn/types.h"

namespace saltern {

namespace {

constexpr double pi = 3.14159265358979323846;

// The mel scale: a logarithm (HTK), or linear up to 1000 Hz and a logarithm from there (Slaney).
struct MelScale {
  bool slaney;
  static constexpr double step = 200.0 / 3, corner = 1000, corner_mel = corner / step;
  static double per_mel() { return std::log(6.4) / 27; }

  double mel(double hertz) const {
    if (!slaney) return 2595 * std::log10(1 + hertz / 700);
    return hertz < corner ? hertz / step : corner_mel + std::log(hertz / corner) / per_mel();
  }
  double hertz(double mel) const {
    if (!slaney) return 700 * (std::pow(10, mel / 2595) - 1);
    return mel < corner_mel ? mel * step : corner * std::exp(per_mel() * (mel - corner_mel));
  }
};

}  // namespace

std::vector<double> cosine_window(int64_t count, bool symmetric, const std::vector<double> &weights) {
  return window_of(count, symmetric, [&](double k, double last) {
    double y = 0;
    for (size_t i = 0; i < weights.size(); ++i)
      y += (i % 2 == 0 ? 1 : -1) * weights[i] * std::cos(2 * pi * static_cast<double>(i) * k / last);
    return y;
  });
}

double bessel_i0(double x) {
  double term = 1, sum = 1;
  for (int k = 1; term > 1e-17 * sum; ++k) {
    term *= (x / 2 / k) * (x / 2 / k);
    sum += term;
  }
  return sum;
}

std::vector<double> mel_bands(int64_t frequencies, double least, double most, int64_t bands, int64_t rate, bool by_area,
                              bool slaney) {
  const MelScale scale{slaney};
  const double from = scale.mel(least), to = scale.mel(most);
  std::vector<double> edges;
  for (int64_t b = 0; b < bands + 2; ++b)
    edges.push_back(scale.hertz(from + (to - from) * static_cast<double>(b) / static_cast<double>(bands + 1)));
  std::vector<double> all;
  const auto nyquist = static_cast<double>(rate / 2);
  for (int64_t f = 0; f < frequencies; ++f)
    for (size_t b = 0; b < static_cast<size_t>(bands); ++b) {
      const double at = frequencies == 1 ? 0 : nyquist * static_cast<double>(f) / static_cast<double>(frequencies - 1);
      const double up = (at - edges[b]) / (edges[b + 1] - edges[b]);
      const double down = (edges[b + 2] - at) / (edges[b + 2] - edges[b + 1]);
      all.push_back(std::max(0.0, std::min(up, down)) * (by_area ? 2 / (edges[b + 2] - edges[b]) : 1));
    }
  return all;
}

namespace nn {

namespace {

// Of a name, what it takes besides, and its elements.
struct Window {
  Window(const std::string &name, const std::string &more,
         const std::function<std::vector<double>(const Arguments &, int64_t count, bool symmetric)> &of)
      : function(
            "windows." + name, "M, *, " + more + "sym=True, dtype='float32'", [of](const Arguments &a) -> Argument {
              const int64_t count = a.integer("M");
              if (count < 0) a.refuse("M", "at least 0");
              return to_type(Tensor::of<double>({count}, of(a, count, a.flag("sym"))), type_named(a.word("dtype")));
            }) {}
  // A sum of cosines.
  Window(const std::string &name, const std::vector<double> &weights)
      : Window(name, "", [weights](const Arguments &, int64_t n, bool s) { return cosine_window(n, s, weights); }) {}
  Function function;
};

double positive(const Arguments &a, const char *name) {
  if (!(a.real(name) > 0)) a.refuse(name, "a positive number");
  return a.real(name);
}

const Window all[] = {
    {"hann", {0.5, 0.5}},
    {"hamming", {0.54, 0.46}},
    {"blackman", {0.42, 0.5, 0.08}},
    {"nuttall", {0.3635819, 0.4891775, 0.1365995, 0.0106411}},
    {"general_hamming", "alpha=0.54, ",
     [](const Arguments &a, int64_t n, bool s) {
       return cosine_window(n, s, {a.real("alpha"), 1 - a.real("alpha")});
     }},
    {"general_cosine", "a, ", [](const Arguments &a, int64_t n, bool s) { return cosine_window(n, s, a.reals("a")); }},
    {"bartlett", "",
     [](const Arguments &, int64_t n, bool s) {
       return window_of(n, s, [](double k, double last) { return 1 - std::abs(2 * k / last - 1); });
     }},
    {"cosine", "",
     [](const Arguments &, int64_t n, bool s) {
       return window_of(n, s, [](double k, double last) { return std::sin(pi * (k + 0.5) / (last + 1)); });
     }},
    {"gaussian", "std=1.0, ",
     [](const Arguments &a, int64_t n, bool s) {
       const double deviation = positive(a, "std");
       return window_of(n, s, [=](double k, double last) {
         const double z = (k - last / 2) / deviation;
         return std::exp(-z * z / 2);
       });
     }},
    {"exponential", "center=None, tau=1.0, ",
     [](const Arguments &a, int64_t n, bool s) {
       const double tau = positive(a, "tau");
       return window_of(n, s, [&](double k, double last) {
         return std::exp(-std::abs(k - (a.has("center") ? a.real("center") : last / 2)) / tau);
       });
     }},
    {"kaiser", "beta=12.0, ",
     [](const Arguments &a, int64_t n, bool s) {
       const double beta = a.real("beta");
       if (beta < 0) a.refuse("beta", "at least 0");
       return window_of(n, s, [=](double k, double last) {
         const double x = 2 * k / last - 1;
         return bessel_i0(beta * std::sqrt(std::max(0.0, 1 - x * x))) / bessel_i0(beta);
       });
     }},
};

const Function melscale_fbanks(
    "signal.melscale_fbanks",
    "n_freqs, f_min, f_max, n_mels, sample_rate, norm=None, mel_scale='htk', *, dtype='float32'",
    [](const Arguments &a) -> Argument {
      const int64_t frequencies = a.integer("n_freqs"), bands = a.integer("n_mels");
      if (frequencies < 1) a.refuse("n_freqs", "at least 1");
      if (bands < 1) a.refuse("n_mels", "at least 1");
      if (!(a.real("f_max") > a.real("f_min") && a.real("f_min") >= 0)) a.refuse("f_max", "more than 'f_min'");
      const bool by_area = a.has("norm") && a.word("norm", {"slaney"}) == "slaney";
      const bool slaney = a.word("mel_scale", {"htk", "slaney"}) == "slaney";
      const std::vector<double> values =
          mel_bands(frequencies, a.real("f_min"), a.real("f_max"), bands, a.integer("sample_rate"), by_area, slaney);
      return to_type(Tensor::of<double>({frequencies, bands}, values), type_named(a.word("dtype")));
    });

}  // namespace

const void *windows() { return &all; }

}  // namespace nn

}  // namespace saltern
