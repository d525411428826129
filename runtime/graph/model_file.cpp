#include "runtime/graph/model_file.h"

#include "runtime/graph/text.h"

namespace saltern {

namespace {

constexpr const char *graph_key = "graph";

}  // namespace

void save_model(const std::string &path, const Graph &graph) {
  validate(graph);
  const GraphText written = text_of(graph, -1);  // all tensors beside the text, for other tools to read
  Checkpoint checkpoint;
  checkpoint.tensors = written.tensors;
  checkpoint.metadata[graph_key] = written.text;
  save_checkpoint(path, checkpoint);
}

bool holds_model(const Checkpoint &checkpoint) { return checkpoint.metadata.count(graph_key) > 0; }

Graph load_model(const std::string &path) {
  LoadOptions options;
  options.expect_finite = true;
  const Checkpoint checkpoint = load_checkpoint(path, options);
  const auto text = checkpoint.metadata.find(graph_key);
  if (text == checkpoint.metadata.end())
    fail(path, ": holds tensors but no graph; a model file has the graph's text in its metadata under '", graph_key,
         "'");
  return parse_graph(text->second, checkpoint.tensors, path);
}

}  // namespace saltern
