#include "apps/cifar_resnet/made_pictures.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/files/file.h"
#include "runtime/tensor/random.h"

namespace saltern {

namespace {

constexpr int side = 32;
constexpr double turn = 6.283185307179586;

struct Kind {
  const char *name;
  bool (*holds)(double x, double y);  // of points about a circle of radius 1
};

double radius(double x, double y) { return std::hypot(x, y); }
double longer(double x, double y) { return std::max(std::fabs(x), std::fabs(y)); }

const std::array<Kind, 10> kinds = {{
    {"disc", [](double x, double y) { return radius(x, y) < 0.9; }},
    {"ring", [](double x, double y) { return radius(x, y) < 1 && radius(x, y) > 0.6; }},
    {"square", [](double x, double y) { return longer(x, y) < 0.8; }},
    {"frame", [](double x, double y) { return longer(x, y) < 0.9 && longer(x, y) > 0.55; }},
    {"triangle", [](double x, double y) { return y > -0.5 && 0.866 * std::fabs(x) + 0.5 * y < 0.5; }},
    {"cross", [](double x, double y) { return longer(x, y) < 1 && std::min(std::fabs(x), std::fabs(y)) < 0.28; }},
    {"moon", [](double x, double y) { return radius(x, y) < 1 && radius(x - 0.5, y) > 0.75; }},
    {"star", [](double x, double y) { return radius(x, y) < 0.55 + 0.45 * std::cos(5 * std::atan2(y, x)); }},
    {"stripes", [](double x, double y) { return radius(x, y) < 1 && std::sin(10 * x) > 0; }},
    {"checks", [](double x, double y) { return longer(x, y) < 0.9 && std::sin(7 * x) * std::sin(7 * y) > 0; }},
}};

using Rgb = std::array<double, 3>;

struct Drawn {
  explicit Drawn(uint64_t seed, uint64_t number) : random(seed, number << 24) {}
  Random random;

  double uniform(double low, double high) { return low + (high - low) * static_cast<double>(random.uniform()); }
  Rgb colour(double low, double high) { return {uniform(low, high), uniform(low, high), uniform(low, high)}; }

  // A byte with the class, then 32 x 32 bytes of red, of green, of blue.
  std::string picture(size_t kind) {
    const Rgb shape = colour(0.5, 1), ground = colour(0, 0.5), far_ground = colour(0, 0.5);
    const double angle = uniform(0, turn), scale = uniform(9, 14), middle_x = uniform(13, 19),
                 middle_y = uniform(13, 19);
    const double slope = uniform(0, turn), noise = uniform(0.02, 0.08);
    std::string bytes(1 + 3 * side * side, static_cast<char>(kind));
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        double covered = 0;  // four points a pixel, for smooth edges
        for (double dy : {0.25, 0.75})
          for (double dx : {0.25, 0.75}) {
            const double u = (x + dx - middle_x) / scale, v = (y + dy - middle_y) / scale;
            covered +=
                kinds[kind].holds(u * std::cos(angle) + v * std::sin(angle), v * std::cos(angle) - u * std::sin(angle))
                    ? 0.25
                    : 0;
          }
        const double far = 0.5 + ((x - 15.5) * std::cos(slope) + (y - 15.5) * std::sin(slope)) / 44;
        for (size_t c = 0; c < 3; ++c) {
          const double behind = ground[c] * (1 - far) + far_ground[c] * far;
          const double value =
              covered * shape[c] + (1 - covered) * behind + noise * static_cast<double>(random.normal());
          bytes[1 + c * side * side + static_cast<size_t>(y * side + x)] =
              static_cast<char>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
        }
      }
    return bytes;
  }
};

std::string pictures(int64_t first, int64_t count, uint64_t seed) {
  std::string all;
  for (int64_t i = 0; i < count; ++i)
    all += Drawn(seed, static_cast<uint64_t>(first + i)).picture(static_cast<size_t>(i) % kinds.size());
  return all;
}

}  // namespace

void make_pictures(const std::string &folder, int64_t train, int64_t test, uint64_t seed) {
  write_atomically(folder + "/data_batch_1.bin", pictures(0, train, seed));
  write_atomically(folder + "/test_batch.bin", pictures(train, test, seed));
  std::string names;
  for (const Kind &k : kinds) names += std::string(k.name) + "\n";
  write_atomically(folder + "/batches.meta.txt", names);
}

}  // namespace saltern
