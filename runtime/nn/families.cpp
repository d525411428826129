#include "runtime/nn/families.h"

// One of each file with rows.
// clang-format off
#define SALTERN_FOR_EACH_FAMILY(X) \
  X(activations) X(arithmetic) X(attention) X(blocks) X(boxes) X(channel_norms) X(class_losses) X(complex_numbers) \
  X(conv_lstm) X(convolutions) X(counting) X(deformable) X(diagonals) X(distances) X(distribution_rows) X(dropouts) \
  X(elementwise) X(embeddings) X(fourier) X(further_algebra) X(further_attention) X(image_changes) X(initialisation) \
  X(keras_arrays) X(keras_layers) X(keras_losses) X(keras_math) X(keras_nets) X(keras_numbers) X(linear_algebra) \
  X(linears) X(local_convolutions) X(losses) X(margin_losses) X(matrix_norms) X(merges) X(movement) X(noises) X(norms) \
  X(order) X(packed_sequences) X(paddings) X(parametrizations) X(pools) X(preparations) X(products) X(quantisation) \
  X(rearrangements) X(recurrent) X(reductions) X(regions) X(resampling) X(sequence_losses) X(signals) \
  X(special_family) X(special_functions) X(stacking) X(transformers) X(types) X(uneven_pools) X(windows) X(wrappers) \
  X(writing) X(written_over)
// clang-format on

namespace saltern::nn {

#define SALTERN_FAMILY(NAME) const void *NAME();
SALTERN_FOR_EACH_FAMILY(SALTERN_FAMILY)
#undef SALTERN_FAMILY

const void *families() {
#define SALTERN_FAMILY(NAME) NAME(),
  static const void *const all[] = {SALTERN_FOR_EACH_FAMILY(SALTERN_FAMILY)};
#undef SALTERN_FAMILY
  return all;
}

}  // namespace saltern::nn
