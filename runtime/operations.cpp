#include "runtime/operations.h"

#include "runtime/layers/binary.h"
#include "runtime/layers/unary.h"

namespace saltern {

const void *operation_families() {
  static const struct {
    std::vector<const Operation *> rows;
    Variable (*unary)(const Variable &);
    Variable (*binary)(const Variable &, const Variable &);
    const std::vector<const Operation *> &(*updates)();
  } families = {{&operations::attention, &operations::batch_norm, &operations::conv2d, &operations::cross_entropy,
                 &operations::dense, &operations::dropout, &operations::indexed, &operations::integer_conv2d,
                 &operations::layer_norm, &operations::lstm, &operations::matmul, &operations::max_pool2d,
                 &operations::reshape, &operations::softmax, &operations::sum},
                relu,
                add,
                operations::updates};
  return &families;
}

}  // namespace saltern
