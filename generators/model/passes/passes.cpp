#include "generators/model/passes/passes.h"

namespace saltern::generators {

Graph prepared_for_inference(Graph graph) {
  struct Pass {
    const char *name;
    Graph (*run)(Graph);
  };
  static constexpr Pass passes[] = {{"identities", without_identities},
                                    {"folded constants", with_folded_constants},
                                    {"folded batch norm", with_folded_batch_norm},
                                    {"batch norm as arithmetic", with_batch_norm_as_arithmetic},
                                    {"channel shuffles", with_channel_shuffles},
                                    {"recognised norms", with_recognised_norms},
                                    {"compilable operations", with_compilable_operations},
                                    {"sunk reshapes", with_sunk_reshapes},
                                    {"fused formulas", with_fused_formulas},
                                    {"sunk reshapes", with_sunk_reshapes},
                                    {"attention", with_attention},
                                    {"growing joins", with_growing_joins},
                                    {"layouts", with_layouts},
                                    {"dense on images", with_dense_on_images},
                                    {"fused statistics", with_fused_statistics}};
  graph.remove_unused();
  for (const Pass &pass : passes) {
    graph = pass.run(std::move(graph));
    try {
      validate(graph);
    } catch (const Error &e) {
      fail("the pass '", pass.name, "' left a wrong graph: ", e.what());
    }
  }
  return graph;
}

}  // namespace saltern::generators
