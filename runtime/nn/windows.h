#pragma once
// Windows and bands that signals are seen through: numbers, in f64.

#include <cstdint>
#include <vector>

namespace saltern {

// f(k, last) for k < count, where last is count - 1 of a symmetric window, and count of a periodic one; one alone is 1.
template <typename F>
std::vector<double> window_of(int64_t count, bool symmetric, const F &f) {
  std::vector<double> all;
  for (int64_t k = 0; k < count; ++k)
    all.push_back(count == 1 ? 1 : f(static_cast<double>(k), static_cast<double>(symmetric ? count - 1 : count)));
  return all;
}
// The sum over i of (-1)^i weights(i) cos(2 pi i k / last).
std::vector<double> cosine_window(int64_t count, bool symmetric, const std::vector<double> &weights);
// The modified Bessel function of the first kind, of order 0.
double bessel_i0(double x);

// Triangles on the mel scale, (frequencies, bands), as torchaudio has them: "htk" or "slaney"; with `by_area` each is divided
// by its width.
std::vector<double> mel_bands(int64_t frequencies, double least, double most, int64_t bands, int64_t rate, bool by_area,
                              bool slaney);

}  // namespace saltern
