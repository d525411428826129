#include "runtime/layers/dropout.h"

#include "algorithms/random.h"
#include "runtime/autograd/state.h"
#include "runtime/kernels/kernels.h"
#include "runtime/operations.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

const Operation drawn("drawn", [](const Values &in, const Attributes &a) -> Values {
  const algorithms::Drawn d = algorithms::drawn(in.at(0), a.integer("count"));
  return {d.from, d.next};
});

}  // namespace

namespace operations {

const Operation dropout(
    "dropout",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      // One layout always: element i of x and element i of dy must be the same element.
      const Tensor x = channels_last(in.at(0)), y = Tensor::like(x);
      if (in.at(1).shape() != Shape{2} || in[1].type() != Type::i64)
        fail("dropout: seed and offset are ", facts(in[1].type()).name, to_string(in[1].shape()), "; expected i64[2]");
      const std::vector<int64_t> random = y.is_outline() ? std::vector<int64_t>(2) : in[1].integers();
      call("dropout", {flat(x), static_cast<int32_t>(random[0]), static_cast<int32_t>(random[1]),
                       static_cast<float>(a.real("probability")), flat(y)});
      return {y};
    },
    [](const Values &in, const Attributes &a) -> Values {
      const Value probability = formula::constant_value(Type::f32, a.real("probability"));
      return {algorithms::dropout(in.at(0), in.at(1)(0), in[1](1), probability)};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      return {apply_one(dropout, {dy[0], t.input(1)}, t.attributes()), Variable()};
    });

}  // namespace operations

Dropout::Dropout(Random &random, double probability) : probability_(probability) {
  if (!(probability >= 0 && probability < 1)) fail("Dropout(", probability, "): expected at least 0 and less than 1");
  constexpr uint64_t positive = 0x7fffffff;
  random_ = Tensor::of<int64_t>({2}, {static_cast<int64_t>(random.bits() & positive), 0});
}

Variable Dropout::forward(const Variable &x) {
  if (!training() || probability_ == 0) return x;
  const std::vector<Variable> random = apply(drawn, {latest(random_)}, {{"count", x.value().size()}});
  keep(random_, random[1]);
  return apply_one(operations::dropout, {x, random[0]}, {{"probability", probability_}});
}

}  // namespace saltern
