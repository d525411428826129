#include "runtime/layers/dropout.h"

#include "algorithms/random.h"
#include "runtime/kernels/kernels.h"
#include "runtime/layers/random_stream.h"
#include "runtime/operations.h"
#include "runtime/tensor/strided.h"

namespace saltern {

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

Variable dropout(const Variable &x, double probability, const std::string &who) {
  return apply_one(operations::dropout, {x, drawn_beside(x, who)}, {{"probability", probability}});
}

}  // namespace saltern
