#pragma once
// How the columns of a table become the numbers that a net is given: a column of numbers is one, a column of words one for
// each word, 1 where that is the cell and 0 elsewhere. An empty cell of a column of numbers counts as the column's mean.
//
//   const Encoding e = encoding_of(table, "flats.csv", "price", {"id"});
//   const Tensor x = encoded(e, table, "flats.csv"), y = table.columns({"price"});

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/data/csv.h"

namespace saltern {

struct Encoding {
  struct Column {
    std::string name;
    std::vector<std::string> words;  // none: it is of numbers
    double mean = 0;                 // of those
  };
  std::string target;
  std::vector<Column> columns;

  int64_t features() const;
  // Which of the columns are of words, as read_csv is told.
  std::set<std::string> of_words() const;
};

// Of all columns but the target and those left out. Errors call the table by its name, and say which column is at fault.
Encoding encoding_of(const Table &table, const std::string &name, const std::string &target,
                     const std::vector<std::string> &left_out);

// f32 (rows, features).
Tensor encoded(const Encoding &encoding, const Table &table, const std::string &name);

// f32 (rows, 1) of a target, whose cells may not be empty.
Tensor targets(const Encoding &encoding, const Table &table, const std::string &name);
// Whether a table has the truth, too, in every row.
bool has_targets(const Encoding &encoding, const Table &table);

nlohmann::json to_json(const Encoding &encoding);
Encoding encoding_from(const nlohmann::json &json, const std::string &name);

}  // namespace saltern
