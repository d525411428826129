#pragma once
// A model as an ONNX file has it.

#include <map>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"

namespace saltern {

using Opsets = std::map<std::string, int64_t>;  // the version of each domain's operators; ONNX's own is ""

// A function that a model brings along: its body runs where a node has its name.
struct ModelFunction {
  std::string domain, name, overload;
  std::vector<std::string> attributes;  // that a call may set
  Attributes defaults;
  Graph body;
  Opsets opsets;
};

struct Model {
  Graph graph;
  Opsets opsets;
  std::vector<ModelFunction> functions;
  int64_t ir_version = 0;
  std::string producer;
  std::map<std::string, std::string> metadata;

  int64_t opset(const std::string &domain = "") const;
  // Null where there is none.
  const ModelFunction *function(const std::string &domain, const std::string &name) const;
};

// Reads an ONNX file, with the data that stands in files beside it. Throws an Error that names the file and the fault.
Model load_onnx(const std::string &path);
// The same from memory; errors call it `name`, and data that stands in files of its own is sought in `folder`.
Model decode_onnx(const std::vector<uint8_t> &bytes, const std::string &name, const std::string &folder);

}  // namespace saltern
