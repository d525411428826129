#pragma once
// The operations that `bench` and `tune` know by name: how their shapes are given on the command line, which kernel
// calls that makes, and how many floating-point operations each does.

#include <functional>
#include <string>
#include <vector>

#include "generators/call.h"

namespace CLI {
class App;
}

namespace saltern {

// One kernel call to time.
struct TimedOperation {
  std::string label;   // "matmul 1024 1024 1024", and what is not as usual
  std::string kernel;  // the declared kernel that does it
  generators::Call call;
  double flops;
};

struct OperationRow {
  const char *name, *summary;
  // Adds the options of the shape; the returned function gives the operations asked for, once options are parsed.
  std::function<std::vector<TimedOperation>()> (*define)(CLI::App &app);
};

const std::vector<OperationRow> &operations();

}  // namespace saltern
