#pragma once
// Values (dsl/value.h) as Halide functions: one for each stage, its innermost index first.
//
// Sizes and parameters are what `symbols` says they are: numbers, extents of buffers, arguments of a kernel. A load that
// is inside of its stage for all axes is written without a clamp. The order of a reduction is a function of the machine
// alone, so that schedules do not change bits.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dsl/value.h"
#include "generators/padding_code.h"
#include "generators/reduction_code.h"
#include "schedules/forms/tensor.h"

namespace saltern::generators {

struct StageFunction {
  Halide::Func func;                // in the compute type
  std::vector<Halide::Func> parts;  // what it is made of where it reduces by lanes (reduce_by_lanes)
  Halide::Func by_column;           // of a contraction: the operand that varies with column, with zeros around it
  int component = 0;                // which of the values of func it is, where there are several
};

class StageFunctions {
 public:
  using Symbols = std::map<std::string, Halide::Expr>;

  // Reductions of rows are partial results, one a lane of the machine; without one, they go in order.
  explicit StageFunctions(std::optional<Machine> lanes_of = std::nullopt) : lanes_of_(lanes_of) {}

  // Tiles of contractions are not to reach past an edge: a schedule moves them inwards. Without, they may, and read there
  // what does no harm.
  void keep_tiles_inside() { tiles_are_inside_ = true; }
  void set_symbol(const std::string &name, const Halide::Expr &value) { symbols_[name] = value; }
  // What an input reads: elements as they are stored.
  void add_input(const formula::Value &input, const Halide::Func &stored);
  // Makes a stage read as zero outside of its extents, or outside of those of some dimensions (padding_code.h); it is to be
  // told before its readers are made. Its function has the zeros.
  void read_as_zero_outside(const formula::Value &v, std::set<int> dimensions = {});
  // All stages of these, which are not there yet.
  void add(const formula::Values &outputs);

  const StageFunction &of(const formula::Stage &s) const;
  const StageFunction &of(const formula::Value &v) const { return of(*v.get()); }
  // Without inputs, each after what it loads.
  const std::vector<std::shared_ptr<const formula::Stage>> &order() const { return order_; }
  // The values of a stage as its type is stored.
  forms::Tensor stored(const formula::Value &v) const;
  Halide::Expr size(const formula::Expression &e) const;

 private:
  friend class StageCode;
  struct Made {
    std::shared_ptr<const formula::Stage> stage;
    StageFunction function;
  };
  StageFunction function_of(const formula::Stage &s) const;
  void add_zeros(Made &made) const;
  // Several reductions over the same steps in one walk: sums of the same rows, the best element and its place.
  bool join(const std::vector<std::shared_ptr<const formula::Stage>> &order, const formula::Stage &s);

  RowSplit split(const formula::Stage &s) const { return lanes_of_ ? row_split(s, *lanes_of_) : RowSplit(); }

  std::optional<Machine> lanes_of_;
  bool tiles_are_inside_ = false;
  ZerosOutside zeros_;
  Symbols symbols_;
  std::map<const formula::Stage *, Made> made_;
  std::vector<std::shared_ptr<const formula::Stage>> order_;
};

}  // namespace saltern::generators
