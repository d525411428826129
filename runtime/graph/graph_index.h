#pragma once
// Who makes and who reads each value of a graph, told at once: Graph's own answers look at all nodes, which a pass that
// asks for each node cannot wait for.
//
// It knows the graph as it was when this was made. Whoever changes a node says so:
//
//   index.forget(place);
//   graph.nodes[place] = ...;        // an empty node is dropped by remove_unused()
//   index.learn(place);

#include <unordered_map>

#include "runtime/graph/graph.h"

namespace saltern {

class GraphIndex {
 public:
  // The graph must live as long as this, and its nodes stay where they are.
  explicit GraphIndex(const Graph &graph);

  // As the graph's own.
  const Graph::Node *producer(const std::string &value) const;
  int uses(const std::string &value) const;
  bool is_output(const std::string &value) const;

  // The places of the node that makes a value, and of the one that reads it where it is used once; without one, -1.
  std::ptrdiff_t place_of_producer(const std::string &value) const;
  std::ptrdiff_t place_of_only_reader(const std::string &value) const;

  void forget(size_t place);
  void learn(size_t place);

 private:
  struct Entry {
    std::ptrdiff_t producer = -1;
    int uses = 0;
    bool output = false;
    // The places of all readers, added up: of one reader, its place. A list of them would take long to change where
    // thousands read one value.
    std::ptrdiff_t readers = 0;
  };
  const Entry &entry(const std::string &value) const;

  const Graph &graph_;
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace saltern
