#pragma once
// Options of commands that take a model and fix its shapes: what loaded_model.h loads.

#include <map>
#include <string>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace CLI {
class App;
}

namespace saltern {

struct ModelOptions {
  std::string path;
  std::vector<std::string> shapes;     // NAME=1,3,224,224
  std::vector<std::string> constants;  // NAME=1,2 or NAME=FILE.pb

  void add_to(CLI::App &app);
  // Throws BadInput.
  std::map<std::string, Shape> given_shapes() const;
};

}  // namespace saltern
