#include "runtime/metrics/metric.h"

// One of each file with rows.
// clang-format off
#define SALTERN_FOR_EACH_FAMILY(X) \
  X(aggregation) X(audio) X(classification) X(clustering) X(confusions) X(correlation) X(curve_metrics) X(image_errors) X(keras_classes) X(keras_means) X(keras_probabilities) X(keras_thresholds) X(margins) X(edit_distances) X(ngrams) X(nominal) X(panoptic) X(pansharpening) X(regression) X(retrieval) X(rouges) X(segmentation) X(shapes) X(structural_similarity) X(translation_edit_rates)
// clang-format on

namespace saltern::metrics {

#define SALTERN_FAMILY(NAME) const void *NAME();
SALTERN_FOR_EACH_FAMILY(SALTERN_FAMILY)
#undef SALTERN_FAMILY

const void *families() {
#define SALTERN_FAMILY(NAME) NAME(),
  static const void *const all[] = {SALTERN_FOR_EACH_FAMILY(SALTERN_FAMILY)};
#undef SALTERN_FAMILY
  return all;
}

}  // namespace saltern::metrics
