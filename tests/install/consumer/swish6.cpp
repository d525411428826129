// A plug-in with two operators: my.domain::Swish6, x * min(max(x + shift, 0), 6) / 6, by a formula; and
// my.domain::Sorted, the elements of a list in ascending order, by a function.

#include <algorithm>
#include <string>

#include "runtime/onnx/plugin.h"

namespace {

void swish6(saltern_call *n) {
  if (n->input_count != 1 || n->inputs[0].type != std::string("f32")) return n->fail(n, "expected one input of f32");
  const saltern_tensor &x = n->inputs[0];
  const std::string element = "t0 = " + std::string(n->here(n, 0, x.rank)) +
                              "; multiply(t0, divide(minimum(maximum(add(t0, f32 " +
                              std::to_string(n->real(n, "shift", 3)) + "), f32 0), f32 6), f32 6))";
  n->give(n, 0, n->formula(n, "f32", x.rank, x.extents, element.c_str()));
}

void sorted(saltern_call *n) {
  if (n->input_count != 1 || n->inputs[0].type != std::string("f32") || n->inputs[0].rank != 1)
    return n->fail(n, "expected one list of f32");
  const saltern_tensor &x = n->inputs[0];
  const auto *from = static_cast<const float *>(x.data);
  auto *to = static_cast<float *>(n->make(n, 0, "f32", 1, x.extents));
  if (to) std::partial_sort_copy(from, from + x.extents[0], to, to + x.extents[0]);
}

const saltern_operator operators[] = {{"my.domain", "Swish6", swish6, nullptr},
                                      {"my.domain", "Sorted", nullptr, sorted}};

}  // namespace

const saltern_operators *saltern_plugin() {
  static const saltern_operators all = {SALTERN_PLUGIN_ABI, 2, operators};
  return &all;
}
