#include "generators/model/passes/passes.h"

#include <algorithm>

#include "runtime/graph/open_sizes.h"

namespace saltern::generators {

namespace {

struct Pass {
  const char *name;
  Graph (*run)(Graph);
  const char *needs = nullptr;  // an operation without which there is nothing to do
};

constexpr Pass passes[] = {{"identities", without_identities},
                           {"folded constants", with_folded_constants},
                           {"folded batch norm", with_folded_batch_norm, "batch_norm"},
                           {"batch norm as arithmetic", with_batch_norm_as_arithmetic, "batch_norm"},
                           {"channel shuffles", with_channel_shuffles, "transpose"},
                           {"compilable operations", with_compilable_operations},
                           {"masks of results", with_masks_of_results, "formula"},
                           {"dense products", with_dense_products, "formula"},
                           {"sunk reshapes", with_sunk_reshapes, "reshape"},
                           {"fused formulas", with_fused_formulas},
                           {"sunk reshapes", with_sunk_reshapes, "reshape"},
                           {"attention", with_attention, "matmul"},
                           {"growing joins", with_growing_joins, "concat"},
                           {"layouts", with_layouts},
                           {"dense on images", with_dense_on_images, "dense"},
                           {"fused statistics", with_fused_statistics, "formula"}};

Graph after(const Pass &pass, Graph graph) {
  const auto is_needed = [&](const Graph::Node &n) { return !pass.needs || n.operation == pass.needs; };
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), is_needed)) return graph;
  return pass.run(std::move(graph));
}

// Throws an Error that names the first pass that leaves a wrong graph.
void find_wrong_pass(Graph graph) {
  graph.remove_unused();
  for (const Pass &pass : passes) {
    graph = after(pass, std::move(graph));
    try {
      validate(graph);
    } catch (const Error &e) {
      fail("the pass '", pass.name, "' left a wrong graph: ", e.what());
    }
  }
}

}  // namespace

Graph prepared_for_inference(const Graph &given) {
  Graph graph = at_sizes(given, {});  // none may be open
  graph.remove_unused();
  // The last one's graph is looked at, and those before only where it is wrong: a tenth of the time goes to looking.
  try {
    for (const Pass &pass : passes) graph = after(pass, std::move(graph));
    validate(graph);
    return graph;
  } catch (const std::exception &) {
    find_wrong_pass(given);
    throw;
  }
}

Graph prepared_to_compile(const Graph &graph, bool exact_convolutions) {
  validate(graph);
  Graph prepared = prepared_for_inference(graph);
  return exact_convolutions ? prepared : with_winograd(std::move(prepared));
}

}  // namespace saltern::generators
