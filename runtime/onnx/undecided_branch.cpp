#include "runtime/onnx/undecided_branch.h"

#include <exception>
#include <limits>

namespace saltern {

namespace {

using Operands = std::vector<Operand>;

// Of values that have one type and shape.
Operand chosen(Lowering &n, const Operand &condition, const Operand &then, const Operand &otherwise) {
  if (then.type != otherwise.type || then.shape != otherwise.shape)
    unsupported("its condition depends on data, and its branches give ", facts(then.type).name, " ",
                to_string(then.shape), " and ", facts(otherwise.type).name, " ", to_string(otherwise.shape));
  return n.formula(then.type, then.shape, {condition, then, otherwise},
                   [](const Reads &r, const Axes &) { return select(r[0]({}), r[1].here(), r[2].here()); });
}

// The value where the condition is `wanted`.
Operand only_where(Lowering &n, const Operand &condition, bool wanted, const Operand &value) {
  return n.formula(value.type, value.shape, {condition, value}, [&](const Reads &r, const Axes &) {
    const Expression c = r[0]({}), nothing = formula::constant(value.type, std::numeric_limits<double>::quiet_NaN());
    return wanted ? select(c, r[1].here(), nothing) : select(c, nothing, r[1].here());
  });
}

bool all_real(const Operands &values) {
  for (const Operand &v : values)
    if (!v.present() || !is_real(v.type)) return false;
  return true;
}

}  // namespace

Operands either(Lowering n, const Operand &condition, const std::function<Operands(bool then)> &branch,
                const std::function<void(bool then, const std::string &why)> &left_out) {
  const Operand decides = n.reshaped(condition, {});
  Operands of[2];
  std::exception_ptr refused[2];
  std::string why[2];
  for (const bool then : {false, true}) try {
      of[then] = branch(then);
    } catch (const Error &e) {
      refused[then] = std::current_exception();
      why[then] = e.what();
    }
  Operands results;
  for (const bool then : {false, true}) {
    if (!refused[!then]) continue;
    if (refused[then] || !all_real(of[then])) std::rethrow_exception(refused[!then]);
    left_out(!then, why[!then]);
    for (const Operand &v : of[then]) results.push_back(only_where(n, decides, then, v));
    return results;
  }
  if (of[true].size() != of[false].size())
    fail("its branches give ", of[true].size(), " and ", of[false].size(), " values");
  for (size_t i = 0; i < of[true].size(); ++i) results.push_back(chosen(n, decides, of[true][i], of[false][i]));
  return results;
}

}  // namespace saltern
