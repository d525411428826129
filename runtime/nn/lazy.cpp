// Layers that learn with their first input how much goes into them, and are from then on those that they are named after.

#include "runtime/nn/families.h"
#include "runtime/nn/layer.h"

namespace saltern::nn {

namespace {

// `missing` is the extent of a dimension of the input: one of `rank` dimensions, or less by that of the batch.
struct LazyRow : LayerRow {
  LazyRow(const std::string &of, const std::string &made_with, const std::string &missing, size_t rank = 0)
      : LayerRow("Lazy" + of, made_with,
                 {"input", [=](Layer &self, const Arguments &in) {
                    const Variable x = in.variable("input");
                    if (x.shape().empty()) in.refuse("input", "at least one dimension");
                    const size_t dimension = rank == 0 ? x.shape().size() - 1 : x.shape().size() < rank ? 0 : 1;
                    const Arguments &given = self.made_with();
                    Named named = {{missing, x.shape().at(dimension)}};
                    for (const Parameter &p : given.signature().parameters()) named[p.name] = given[p.name];
                    Layer made = nn::make(of, {}, named);
                    if (is_real(x.value().type())) convert(made, x.value().type());
                    made.train(self.training());
                    self = made;
                    return self.call({x});
                  }}) {}
};

const LazyRow linear("Linear", "out_features, bias=True", "in_features");

const std::string of_batches = "eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, *, bias=True";
const std::string of_instances = "eps=1e-05, momentum=0.1, affine=False, track_running_stats=False, *, bias=True";
const LazyRow batch_norm1d("BatchNorm1d", of_batches, "num_features", 2),
    batch_norm2d("BatchNorm2d", of_batches, "num_features", 4),
    batch_norm3d("BatchNorm3d", of_batches, "num_features", 5),
    instance_norm1d("InstanceNorm1d", of_instances, "num_features", 3),
    instance_norm2d("InstanceNorm2d", of_instances, "num_features", 4),
    instance_norm3d("InstanceNorm3d", of_instances, "num_features", 5);

}  // namespace

const void *lazy() { return &linear; }

}  // namespace saltern::nn
