#include "apps/saltern/table.h"

#include <algorithm>

namespace saltern {

std::string in_columns(const std::vector<std::vector<std::string>> &rows) {
  std::vector<size_t> widths(rows.at(0).size());
  for (const auto &row : rows)
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], std::min<size_t>(row[c].size(), 60));
  std::string text;
  for (const auto &row : rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      text += row[c];
      if (c + 1 < row.size()) text += std::string(widths[c] - std::min(widths[c], row[c].size()) + 2, ' ');
    }
    text += '\n';
  }
  return text;
}

}  // namespace saltern
