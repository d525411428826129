#pragma once
// A table to try the program with: flats and their prices in thousands, by a formula that no straight line has, with noise. Some cells are
// empty, as they are in tables that people keep.

#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "runtime/tensor/random.h"

namespace saltern {

inline std::string flats_csv(int64_t rows, uint64_t seed) {
  struct District {
    const char *name;
    double price;  // of a square metre, in the centre
  };
  constexpr std::array<District, 4> districts = {
      {{"harbour", 6100}, {"hill", 7400}, {"mill", 4600}, {"old town", 8300}}};
  constexpr std::array<const char *, 3> heatings = {"district", "gas", "oil"};
  std::string text = "area,rooms,year,distance,district,heating,price\n";
  Random random(seed);
  for (int64_t r = 0; r < rows; ++r) {
    const double area = static_cast<double>(random.uniform(25, 160)),
                 distance = static_cast<double>(random.uniform(0.2F, 15));
    const auto rooms = static_cast<int>(1 + area / 35 + static_cast<double>(random.uniform()));
    const auto year = static_cast<int>(1890 + random.below(135));
    const District &district = districts[random.below(districts.size())];
    const size_t heating = random.below(heatings.size());
    // Near the centre a square metre is dearer, and old houses and new ones are dearer than those between.
    const double era = 1 + 0.25 * std::pow((year - 1960) / 65.0, 2);
    const double price =
        area * district.price * std::exp(-distance / 9) * era * (heating == 2 ? 0.92 : 1) + 9000 * rooms;
    const double sold = price * std::exp(0.05 * static_cast<double>(random.normal()));
    const std::string known_year = random.below(50) == 0 ? "" : std::to_string(year);
    char line[160];
    std::snprintf(line, sizeof line, "%.1f,%d,%s,%.2f,%s,%s,%.1f\n", area, rooms, known_year.c_str(), distance,
                  district.name, heatings[heating], sold / 1000);
    text += line;
  }
  return text;
}

}  // namespace saltern
