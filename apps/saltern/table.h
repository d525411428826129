#pragma once
// Rows of words, set under each other.

#include <string>
#include <vector>

namespace saltern {

std::string in_columns(const std::vector<std::vector<std::string>> &rows);

}  // namespace saltern
