#include "generators/model/passes/passes.h"

namespace saltern::generators {

Graph prepared_for_inference(Graph graph) {
  using Pass = Graph (*)(Graph);
  static constexpr Pass passes[] = {without_identities,
                                    with_folded_constants,
                                    with_folded_batch_norm,
                                    with_batch_norm_as_arithmetic,
                                    with_channel_shuffles,
                                    with_recognised_norms,
                                    with_compilable_operations,
                                    with_sunk_reshapes,
                                    with_fused_formulas,
                                    with_sunk_reshapes,
                                    with_attention,
                                    with_growing_joins,
                                    with_layouts,
                                    with_dense_on_images};
  graph.remove_unused();
  for (Pass pass : passes) graph = pass(std::move(graph));
  validate(graph);
  return graph;
}

}  // namespace saltern::generators
