#include "runtime/onnx/undecided_branch.h"

#include <exception>
#include <limits>

namespace saltern {

namespace {

using Operands = std::vector<Operand>;

// What values that one can be chosen of have in common.
std::string kind_of(const Operand &v) {
  if (!v.sequence) return v.present() ? std::string(facts(v.type).name) + " " + to_string(v.shape) : "nothing";
  std::string all = "a sequence (";
  for (const Operand &e : *v.sequence) all += (&e == v.sequence->data() ? "" : ", ") + kind_of(e);
  return all + ")";
}

Operand each(const Operand &sequence, const std::function<Operand(size_t i)> &element) {
  Operands all;
  for (size_t i = 0; i < sequence.sequence->size(); ++i) all.push_back(element(i));
  return sequence_of(std::move(all), sequence.type);
}

// Of values of one kind.
Operand chosen(Lowering &n, const Operand &condition, const Operand &then, const Operand &otherwise) {
  if (!then.present()) return {};
  if (then.sequence)
    return each(then, [&](size_t i) { return chosen(n, condition, (*then.sequence)[i], (*otherwise.sequence)[i]); });
  return n.computed(formula::where(condition, then, otherwise));
}

// The value where the condition is `wanted`.
Operand only_where(Lowering &n, const Operand &condition, bool wanted, const Operand &value) {
  if (value.sequence)
    return each(value, [&](size_t i) { return only_where(n, condition, wanted, (*value.sequence)[i]); });
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  return n.computed(wanted ? formula::where(condition, value, nothing) : formula::where(condition, nothing, value));
}

bool all_real(const Operands &values) {
  for (const Operand &v : values) {
    if (!v.present()) return false;
    for (const Operand &t : tensors_in(v))
      if (!is_real(t.type)) return false;
  }
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
  for (size_t i = 0; i < of[true].size(); ++i) {
    const std::string then = kind_of(of[true][i]), otherwise = kind_of(of[false][i]);
    if (then != otherwise)
      unsupported("its condition ", known_late(n.graph(), condition), ", and its branches give ", then, " and ",
                  otherwise);
    results.push_back(chosen(n, decides, of[true][i], of[false][i]));
  }
  return results;
}

}  // namespace saltern
