#pragma once
// Tables as texts: lines of cells with a separator between them, quoted where they hold it (RFC 4180).
//
//   const Table t = read_csv("wine.csv");
//   const Tensor x = t.columns_but({"quality"}), y = t.columns({"quality"});

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace saltern {

struct CsvOptions {
  char separator = ',';
  bool has_names = true;                   // the first line; else columns are called "0", "1", ...
  uint64_t max_bytes = uint64_t{1} << 30;  // of the file
  std::set<std::string> words = {};        // columns that are of words even where all cells look like numbers: codes
};

struct Table {
  std::vector<std::string> names;
  // f64 (rows, columns). A column of numbers is these, NaN where a cell is empty; any other is of words, and has their places
  // in `words`.
  Tensor values;
  std::map<std::string, std::vector<std::string>> words;  // by the column's name, sorted

  // f32 (rows, columns). Throws where there is no such column.
  Tensor columns(const std::vector<std::string> &wanted) const;
  Tensor columns_but(const std::vector<std::string> &unwanted) const;
};

// Errors name the file and the line.
Table read_csv(const std::string &path, const CsvOptions &options = {});
// The same from memory; errors call it `name`.
Table decode_csv(const std::string &text, const std::string &name, const CsvOptions &options = {});

}  // namespace saltern
