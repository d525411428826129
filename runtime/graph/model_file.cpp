#include "runtime/graph/model_file.h"

#include "runtime/graph/text.h"

namespace saltern {

namespace {

constexpr const char *graph_key = "graph";
const LoadOptions numbers = {/*expect_finite=*/false, /*expect_numbers=*/true};

Graph graph_of(const Checkpoint &checkpoint, const std::string &path) {
  const auto text = checkpoint.metadata.find(graph_key);
  if (text == checkpoint.metadata.end())
    fail(path, ": holds tensors but no graph; a model file has the graph's text in its metadata under '", graph_key,
         "'");
  return parse_graph(text->second, checkpoint.tensors, path);
}

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

Graph load_model(const std::string &path) { return graph_of(load_checkpoint(path, numbers), path); }

Graph decode_model(const std::vector<uint8_t> &bytes, const std::string &name) {
  return graph_of(decode_checkpoint(bytes, name, numbers), name);
}

}  // namespace saltern
