#include "runtime/nn/families.h"

namespace saltern::nn {

// One of each file with rows.
const void *activations();
const void *attention();
const void *blocks();
const void *boxes();
const void *channel_norms();
const void *class_losses();
const void *convolutions();
const void *deformable();
const void *distances();
const void *dropouts();
const void *elementwise();
const void *embeddings();
const void *initialisation();
const void *lazy();
const void *linears();
const void *losses();
const void *margin_losses();
const void *movement();
const void *noises();
const void *norms();
const void *packed_sequences();
const void *paddings();
const void *parametrizations();
const void *pools();
const void *products();
const void *rearrangements();
const void *recurrent();
const void *reductions();
const void *regions();
const void *resampling();
const void *sequence_losses();
const void *transformers();
const void *types();
const void *uneven_pools();

const void *families() {
  static const void *const all[] = {activations(),
                                    attention(),
                                    blocks(),
                                    boxes(),
                                    channel_norms(),
                                    class_losses(),
                                    convolutions(),
                                    deformable(),
                                    distances(),
                                    dropouts(),
                                    elementwise(),
                                    embeddings(),
                                    initialisation(),
                                    lazy(),
                                    linears(),
                                    losses(),
                                    margin_losses(),
                                    movement(),
                                    noises(),
                                    norms(),
                                    packed_sequences(),
                                    paddings(),
                                    parametrizations(),
                                    pools(),
                                    products(),
                                    rearrangements(),
                                    recurrent(),
                                    reductions(),
                                    regions(),
                                    resampling(),
                                    sequence_losses(),
                                    transformers(),
                                    types(),
                                    uneven_pools()};
  return all;
}

}  // namespace saltern::nn
