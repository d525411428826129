#include "generators/model/direct_edges.h"

#include "generators/model/emit.h"
#include "runtime/graph/graph_index.h"

namespace saltern::generators {

std::map<std::string, int> direct_edges(const Graph &graph, const Homes &homes, const std::set<std::string> &written) {
  std::map<std::string, int> direct, outputs_in;  // the latter: how many lie in a value's memory
  for (const std::string &o : graph.outputs)
    if (!graph.value(o).constant.defined()) ++outputs_in[homes.of(o).value];
  const GraphIndex index(graph);
  int number = 0;
  for (const std::string &i : graph.given()) {
    if (!written.count(i) && !outputs_in.count(i) && !is_channels_last(graph.value(i))) direct.emplace(i, number);
    ++number;
  }
  for (const std::string &o : graph.asked()) {
    const Graph::Value &v = graph.value(o);
    const int here = number++;
    if (v.constant.defined() || is_channels_last(v)) continue;
    const Homes::Home home = homes.of(o);
    const Graph::Value &whole = graph.value(home.value);
    if (index.producer(home.value) && outputs_in.at(home.value) == 1 && home.piece.offset == 0 &&
        home.piece.is_dense() && whole.type == v.type && elements(whole.shape) == elements(v.shape))
      direct.emplace(home.value, here);
  }
  return direct;
}

}  // namespace saltern::generators
