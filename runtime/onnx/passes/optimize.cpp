#include "runtime/onnx/optimize.h"

namespace saltern {

namespace {

constexpr int most_rounds = 16;

void expect_valid(const Model &m, const ModelPass &pass) {
  try {
    validate_imported(m.graph);
  } catch (const Error &e) {
    fail("the pass '", pass.name, "' left a wrong graph: ", e.what());
  }
}

}  // namespace

const std::vector<ModelPass> &model_passes() {
  static const std::vector<ModelPass> all = {{"folded constants", with_folded_constants},
                                             {"identities", without_identities},
                                             {"pairs", with_merged_pairs},
                                             {"transposes", with_pushed_transposes},
                                             {"folded scales", with_folded_scales},
                                             {"common nodes", with_common_nodes_once},
                                             {"dead code", without_dead_code}};
  return all;
}

namespace {

// All passes until nothing changes, with a look at what each leaves or without.
Model rounds(Model m, bool look) {
  m = without_constant_inputs(std::move(m));
  Inferred known = infer_shapes(m);
  size_t before = m.graph.nodes.size() + 1;
  for (int round = 0; round < most_rounds && m.graph.nodes.size() < before; ++round) {
    before = m.graph.nodes.size();
    for (const ModelPass &pass : model_passes()) {
      if (!known.covers(m.graph)) known = infer_shapes(m);
      m = pass.run(std::move(m), known);
      if (look) expect_valid(m, pass);
    }
  }
  return m;
}

}  // namespace

Model optimized(const Model &given) {
  try {
    Model m = rounds(given, /*look=*/false);
    validate_imported(m.graph);
    return m;
  } catch (const std::exception &) {
    rounds(given, /*look=*/true);
    throw;
  }
}

}  // namespace saltern
