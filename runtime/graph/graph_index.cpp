#include "runtime/graph/graph_index.h"

namespace saltern {

GraphIndex::GraphIndex(const Graph &graph) : graph_(graph) {
  entries_.reserve(graph.values.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) learn(n);
  for (const std::string &o : graph.outputs) {
    Entry &e = entries_[o];
    if (!e.output) ++e.uses;
    e.output = true;
  }
}

const GraphIndex::Entry &GraphIndex::entry(const std::string &value) const {
  static const Entry nothing;
  const auto it = entries_.find(value);
  return it == entries_.end() ? nothing : it->second;
}

const Graph::Node *GraphIndex::producer(const std::string &value) const {
  const std::ptrdiff_t place = place_of_producer(value);
  return place < 0 ? nullptr : &graph_.nodes[static_cast<size_t>(place)];
}

int GraphIndex::uses(const std::string &value) const { return entry(value).uses; }

bool GraphIndex::is_output(const std::string &value) const { return entry(value).output; }

std::ptrdiff_t GraphIndex::place_of_producer(const std::string &value) const { return entry(value).producer; }

std::ptrdiff_t GraphIndex::place_of_only_reader(const std::string &value) const {
  const Entry &e = entry(value);
  return e.uses == 1 && !e.output ? e.readers : -1;
}

void GraphIndex::forget(size_t place) {
  for (const std::string &i : graph_.nodes[place].inputs) {
    Entry &e = entries_[i];
    --e.uses;
    e.readers -= static_cast<std::ptrdiff_t>(place);
  }
  for (const std::string &o : graph_.nodes[place].outputs) entries_[o].producer = -1;
}

void GraphIndex::learn(size_t place) {
  for (const std::string &i : graph_.nodes[place].inputs) {
    Entry &e = entries_[i];
    ++e.uses;
    e.readers += static_cast<std::ptrdiff_t>(place);
  }
  for (const std::string &o : graph_.nodes[place].outputs) entries_[o].producer = static_cast<std::ptrdiff_t>(place);
}

}  // namespace saltern
