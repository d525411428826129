#include "runtime/onnx/optimize.h"

namespace saltern {

namespace {

constexpr int most_rounds = 16;

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

Model optimized(Model m) {
  m = without_constant_inputs(std::move(m));
  Inferred known = infer_shapes(m);
  size_t before = m.graph.nodes.size() + 1;
  for (int round = 0; round < most_rounds && m.graph.nodes.size() < before; ++round) {
    before = m.graph.nodes.size();
    for (const ModelPass &pass : model_passes()) {
      if (!known.covers(m.graph)) known = infer_shapes(m);
      m = pass.run(std::move(m), known);
      try {
        validate_imported(m.graph);
      } catch (const Error &e) {
        fail("the pass '", pass.name, "' left a wrong graph: ", e.what());
      }
    }
  }
  return m;
}

}  // namespace saltern
