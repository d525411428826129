#include "runtime/layers/dropout.h"

#include <limits>

#include "runtime/kernels/kernels.h"
#include "runtime/operations.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace operations {

const Operation dropout(
    "dropout",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      // One layout always: element i of x and element i of dy must be the same element.
      const Tensor x = channels_last(in.at(0)), y = Tensor::like(x);
      call("dropout", {flat(x), static_cast<int32_t>(a.integer("seed")), static_cast<int32_t>(a.integer("offset")),
                       static_cast<float>(a.real("probability")), flat(y)});
      return {y};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      return {apply_one(dropout, {dy[0]}, t.attributes())};
    });

}  // namespace operations

Dropout::Dropout(Random &random, double probability) : probability_(probability) {
  if (!(probability >= 0 && probability < 1)) fail("Dropout(", probability, "): expected at least 0 and less than 1");
  constexpr uint64_t positive = 0x7fffffff;
  random_ = Tensor::of<int64_t>({2}, {static_cast<int64_t>(random.bits() & positive), 0});
}

Variable Dropout::forward(const Variable &x) {
  if (!training() || probability_ == 0) return x;
  int64_t *state = random_.data<int64_t>();
  const int64_t offset = state[1], size = x.value().size();
  // Kernels count in 32 bits: a stream that is used up goes on with another seed.
  if (offset + size > std::numeric_limits<int32_t>::max()) {
    state[0] = static_cast<int64_t>(Random(static_cast<uint64_t>(state[0])).bits() & 0x7fffffff);
    state[1] = 0;
  }
  const Attributes a = {{"seed", state[0]}, {"offset", state[1]}, {"probability", probability_}};
  state[1] += size;
  return apply_one(operations::dropout, {x}, a);
}

}  // namespace saltern
