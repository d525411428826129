#include "algorithms/optimizers.h"

#include "generators/kernel.h"

namespace saltern::generators {
namespace {

using algorithms::UpdateKernel;
using formula::Value;

const int million = 1 << 20;

// p, g, slots, numbers. In checks numbers are between 0.5 and 1, and slots such that no variance is below 0.
Call call_of(const UpdateKernel &k, int n) {
  Call all(2 + k.slots, std::vector<int>{n});
  for (size_t i = 0; i < k.numbers.size(); ++i) all.emplace_back(0.5 + 0.03 * static_cast<double>(i));
  return all;
}

void define(const UpdateKernel &kernel, Build &k) {
  algorithms::UpdateInputs in = {k.input("p", {"n"}), k.input("g", {"n"})};
  std::vector<std::string> names = {"new_p"};
  for (size_t i = 0; i < kernel.slots; ++i) {
    const std::string name = "s" + std::to_string(i);
    in.slots.push_back(k.input(name, {"n"}, Type::f32, {0, 0.5}));
    names.push_back("new_" + name);
  }
  for (const std::string &name : kernel.numbers) in.numbers[name] = k.parameter(name);
  const formula::Values made = kernel.formula(in);
  if (made.size() == 1)
    k.output(names[0], made[0]);
  else
    k.outputs(names, made);
}

std::vector<Kernel> declare() {
  std::vector<Kernel> kernels;
  for (const UpdateKernel &u : algorithms::update_kernels())
    kernels.emplace_back(
        u.name, [&u](Build &k) { define(u, k); }, std::vector<Call>{call_of(u, 1), call_of(u, 17), call_of(u, 40001)},
        std::vector<Timing>{{"1M", call_of(u, million), 8.0 * million}});
  return kernels;
}

const std::vector<Kernel> kernels = declare();

}  // namespace
}  // namespace saltern::generators
