#include "runtime/kernels/cpu_model.h"

#include <fstream>

namespace saltern {

std::string cpu_model() {
  std::ifstream facts("/proc/cpuinfo");
  for (std::string line; std::getline(facts, line);)
    if (const size_t colon = line.find(": "); line.rfind("model name", 0) == 0 && colon != std::string::npos)
      return line.substr(colon + 2);
  return "unknown";
}

}  // namespace saltern
