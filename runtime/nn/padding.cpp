// Edges around tensors, and their layers.

#include "algorithms/padding.h"

#include "runtime/nn/images.h"
#include "runtime/nn/layer.h"

namespace saltern::nn {

namespace {

using namespace formula;

algorithms::EdgeSource source_of(const Arguments &a) {
  std::vector<std::string> modes;
  for (const auto &[name, source] : algorithms::edge_sources()) modes.push_back(name);
  return algorithms::edge_sources().at(a.word("mode", modes));
}

// PyTorch gives the last dimension first. A circle goes round once at most, and a mirror shows what there is.
std::vector<algorithms::Edges> edges_of(const Arguments &a, const Value &x) {
  const std::vector<int64_t> given = a.integers("pad");
  const auto rank = static_cast<size_t>(x.rank());
  if (given.size() % 2 != 0 || given.size() / 2 > rank)
    a.refuse("pad", "two integers for each of the last dimensions, of " + std::to_string(rank) + " at most");
  const std::string &mode = a.word("mode");
  if (mode != "constant" && rank != given.size() / 2 + 1 && rank != given.size() / 2 + 2)
    a.refuse("pad", "two integers for each dimension behind (N, C) or (C)");
  std::vector<algorithms::Edges> edges(rank);
  for (size_t i = 0; i < given.size() / 2; ++i) {
    const size_t d = rank - 1 - i;
    const algorithms::Edges e = {given[2 * i], given[2 * i + 1]};
    const auto extent = static_cast<int64_t>(typical_value(x.extent(static_cast<int>(d))));
    const int64_t most = std::max(e.before, e.after), least = std::min(e.before, e.after);
    if (most > INT32_MAX || least < INT32_MIN) a.refuse("pad", "integers of 32 bits");
    if (extent + e.before + e.after < 0 || extent + least < 0)
      a.refuse("pad", "one that cuts off no more than the " + std::to_string(extent) + " elements of dimension " +
                          std::to_string(d));
    if ((mode == "reflect" && most > 0 && most >= extent) ||
        (mode == "circular" && most > std::min(extent, extent + least)) ||
        (mode == "replicate" && most > 0 && extent == 0))
      a.refuse("pad", "less than the " + std::to_string(extent) + " elements of dimension " + std::to_string(d));
    edges[d] = e;
  }
  return edges;
}

const Function pad("pad", "input, pad, mode='constant', value=None", by_formula([](const Arguments &a) {
                     const Value x = a.value("input");
                     const auto seen = a.word("mode") == "circular" ? algorithms::Seen::kept : algorithms::Seen::all;
                     return algorithms::padded(x, edges_of(a, x), source_of(a), seen,
                                               a.has("value") ? a.real("value") : 0);
                   }));

// One number stands for all edges.
Forward around(const std::string &mode, int axes) {
  return {"input", [mode, axes](Layer &self, const Arguments &in) {
            const Arguments &a = self.made_with();
            const Argument value = a.signature().has("value") ? a["value"] : Argument();
            return call("pad", {in["input"], a.integers("padding", 2 * static_cast<size_t>(axes)), mode, value});
          }};
}

struct Paddings {
  Paddings(int axes)
      : constant(with_axes("ConstantPad", axes), "padding, value", around("constant", axes)),
        zero(with_axes("ZeroPad", axes), "padding", around("constant", axes)),
        reflection(with_axes("ReflectionPad", axes), "padding", around("reflect", axes)),
        replication(with_axes("ReplicationPad", axes), "padding", around("replicate", axes)),
        circular(with_axes("CircularPad", axes), "padding", around("circular", axes)) {}

  LayerRow constant, zero, reflection, replication, circular;
};
const Paddings paddings_of_axes[] = {{1}, {2}, {3}};

}  // namespace

const void *paddings() { return paddings_of_axes; }

}  // namespace saltern::nn
