#pragma once
// Options of commands that take a model with fixed shapes: an ONNX file, or a net that was traced and saved.

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "runtime/onnx/model.h"

namespace saltern {

struct ModelOptions {
  std::string path;
  std::vector<std::string> shapes;     // NAME=1,3,224,224
  std::vector<std::string> constants;  // NAME=1,2 or NAME=FILE.pb

  void add_to(CLI::App &app);
  // Throw BadInput, or Unsupported.
  std::map<std::string, Shape> given_shapes() const;
  Graph graph() const;
  // With so many samples in every input. `batch` is what the model calls the first dimension, or the word batch.
  Graph graph(const std::string &batch, int64_t samples) const;
};

// Optimised for these shapes of inputs, and lowered: shapes that are known before allow more than those that are not.
Graph lowered_for(Model model, const std::map<std::string, Shape> &shapes);

// By the file's name: whether it is ONNX.
bool is_onnx(const std::string &path);

}  // namespace saltern
