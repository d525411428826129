#include "generators/model/device_kernels.h"

#include "generators/kernel.h"
#include "generators/model/loaded_kernel.h"

namespace saltern::generators {

CompiledKernel device_kernel(Device device, const std::string &kernel) {
  const Kernel &declared = find_kernel(kernel);
  return loaded_kernel(kernel + " for " + std::string(name(device)), "library", kernel, device,
                       [&](const std::string &name, const std::string &symbol, const std::string &file) {
                         const Halide::Target target(name);
                         const Build b = declared.build(target, Build::Schedule::own);
                         if (const std::string reason = b.why_no_gpu(); !reason.empty()) fail(reason);
                         b.pipeline().compile_to_object(file, b.arguments(), symbol, target);
                       });
}

}  // namespace saltern::generators
