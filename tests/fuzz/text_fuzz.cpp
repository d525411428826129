// Bytes as a graph's text. What is read must be written as something that reads as the same, and be good or refused at
// every size.

#include <cstdlib>

#include "runtime/graph/open_sizes.h"
#include "runtime/graph/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::map<std::string, saltern::Tensor> constants = {{"w", saltern::Tensor::zeros({2, 3})},
                                                                   {"b", saltern::Tensor::zeros({2})}};
  saltern::Graph graph;
  try {
    graph = saltern::parse_graph(std::string(data, data + size), constants, "text");
  } catch (const saltern::Error &) {  // what bad bytes get
    return 0;
  }
  const std::string text = saltern::to_text(graph);
  if (saltern::to_text(saltern::parse_graph(text, constants, "text")) != text) std::abort();
  saltern::Graph::Sizes sizes;
  for (const auto &[name, size] : graph.sizes) sizes[name] = 3;
  try {
    saltern::at_sizes(graph, sizes);
  } catch (const saltern::Error &) {
  }
  return 0;
}
