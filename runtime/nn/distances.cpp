// Distances of rows, norms, and the losses that are made of them.

#include "algorithms/distances.h"

#include "algorithms/losses.h"
#include "runtime/layers/movement.h"
#include "runtime/nn/families.h"
#include "runtime/nn/losses.h"

namespace saltern::nn {

namespace {

using namespace formula;

const Function normalize("normalize", "input, p=2.0, dim=1, eps=1e-12, out=None", by_formula([](const Arguments &a) {
                           const Value x = a.value("input");
                           const int axis = dimension(a.integer("dim"), std::max(x.rank(), 1), a.owner());
                           if (x.rank() == 0) return x / max(abs(x), a.real("eps"));
                           return x / named("norm", max(algorithms::norm(x, {axis}, a.real("p")), a.real("eps")));
                         }));

// Of two tensors that broadcast.
const Function cosine_similarity("cosine_similarity", "x1, x2, dim=1, eps=1e-08", by_formula([](const Arguments &a) {
                                   Value x = a.value("x1"), y = a.value("x2");
                                   if (x.rank() == 0) x = batched(x);  // a number has a dimension 0 to PyTorch
                                   if (y.rank() == 0) y = batched(y);
                                   const int axis =
                                       dimension(a.integer("dim"), std::max(x.rank(), y.rank()), a.owner());
                                   const Value always = inlined({}, [](const Axes &) { return truth(true); });
                                   const Value wide_x = where(always, x, y), wide_y = where(always, y, x);
                                   return algorithms::without_axis(
                                       algorithms::cosine(wide_x, wide_y, axis, a.real("eps")), axis);
                                 }));
const LayerRow cosine_similarity_layer("CosineSimilarity", "dim=1, eps=1e-08", calls("cosine_similarity", "x1, x2"));

const Function pairwise_distance("pairwise_distance", "x1, x2, p=2.0, eps=1e-06, keepdim=False",
                                 by_formula([](const Arguments &a) {
                                   const Value gap = a.value("x1") - a.value("x2") + a.real("eps");
                                   const Value d = algorithms::norm(gap, {-1}, a.real("p"));
                                   return a.flag("keepdim") ? d : algorithms::without_axis(d, -1);
                                 }));
const LayerRow pairwise_distance_layer("PairwiseDistance", "p=2.0, eps=1e-06, keepdim=False",
                                       calls("pairwise_distance", "x1, x2"));

// x1(..., p, m), x2(..., r, m) -> (..., p, r)
const Function cdist("cdist", "x1, x2, p=2.0, compute_mode='use_mm_for_euclid_dist_if_necessary'",
                     by_formula([](const Arguments &a) {
                       const auto rows = [&](const Value &x, std::ptrdiff_t place) {
                         std::vector<Expression> extents = x.extents();
                         extents.insert(extents.end() - place, Expression(1));
                         return inlined(extents, [&x, place](Axes at) {
                           at.erase(at.end() - place - 1);
                           return x.at(at);
                         });
                       };
                       const Value x = a.value("x1"), y = a.value("x2");
                       if (x.rank() < 2 || y.rank() < 2) a.refuse(x.rank() < 2 ? "x1" : "x2", "rows, (..., N, M)");
                       return algorithms::row_distance(rows(x, 1), rows(y, 2), a.real("p"), 0);
                     }));

// Of each row and those behind it: (0, 1), (0, 2), ..., (1, 2), ...
const Operation row_pairs("row_pairs", [](const Values &in, const Attributes &a) -> Values {
  const Value &x = in.at(0), &pairs = in.at(1);
  const auto rows = [&](int64_t which) {
    return inlined({pairs.extent(1), x.extent(1)}, [&](const Axes &at) { return x(pairs(which, at[0]), at[1]); });
  };
  return {algorithms::row_distance(rows(0), rows(1), a.real("p"), 0)};
});
const Function pdist("pdist", "input, p=2.0", [](const Arguments &a) {
  const Variable x = a.variable("input");
  if (x.shape().size() != 2) a.refuse("input", "rows, (N, M)");
  std::vector<int64_t> first, second;
  for (int64_t i = 0; i < x.shape()[0]; ++i)
    for (int64_t j = i + 1; j < x.shape()[0]; ++j) {
      first.push_back(i);
      second.push_back(j);
    }
  const auto count = static_cast<int64_t>(first.size());
  first.insert(first.end(), second.begin(), second.end());
  return apply_one(row_pairs, {x, Tensor::of({2, count}, first)}, {{"p", a.real("p")}});
});

// ---- Losses.

const std::string with_margin = "margin=0.0, " + reduced_as;

const Function margin_ranking("margin_ranking_loss", "input1, input2, target, " + with_margin,
                              by_formula([](const Arguments &a) {
                                const Value x = a.value("input1"), t = beside(x, a, "target");
                                const Value gap = t * (x - a.value("input2"));
                                return reduced_loss(algorithms::relu(a.real("margin") - gap), a);
                              }));
const LayerRow margin_ranking_layer("MarginRankingLoss", with_margin,
                                    calls("margin_ranking_loss", "input1, input2, target"));

const Function cosine_embedding("cosine_embedding_loss", "input1, input2, target, " + with_margin,
                                by_formula([](const Arguments &a) {
                                  const Value x = a.value("input1"), y = a.value("input2"), t = beside(x, a, "target");
                                  if (x.rank() != t.rank() + 1)
                                    a.refuse("target", "one dimension less than 'input1' has");
                                  const auto along = [](const Value &v) {
                                    return algorithms::without_axis(sum(v, {-1}), -1);
                                  };
                                  const Value squares = (along(x * x) + 1e-12) * (along(y * y) + 1e-12);
                                  const Value cosine = named("cosine", along(x * y) / sqrt(squares));
                                  const Value apart = algorithms::relu(cosine - a.real("margin"));
                                  return reduced_loss(where(t == 1, 1 - cosine, where(t == -1, apart, 0)), a);
                                }));
const LayerRow cosine_embedding_layer("CosineEmbeddingLoss", with_margin,
                                      calls("cosine_embedding_loss", "input1, input2, target"));

// Of the distances from the anchor to the positive and to the negative, and between these two.
Value triplet_loss(const Value &near, const Value &far, const Value &between, const Arguments &a) {
  if (!(a.real("margin") > 0)) a.refuse("margin", "a number above 0");
  const Value other = a.flag("swap") ? min(far, between) : far;
  return reduced_loss(algorithms::relu(a.real("margin") + near - other), a);
}

const std::string of_triplets = "margin=1.0, p=2.0, eps=1e-06, swap=False, " + reduced_as;
const Function triplet("triplet_margin_loss", "anchor, positive, negative, " + of_triplets,
                       by_formula([](const Arguments &a) {
                         const auto distance = [&](const char *x, const char *y) {
                           return algorithms::row_distance(a.value(x), a.value(y), a.real("p"), a.real("eps"));
                         };
                         return triplet_loss(distance("anchor", "positive"), distance("anchor", "negative"),
                                             distance("positive", "negative"), a);
                       }));
const LayerRow triplet_layer("TripletMarginLoss", of_triplets,
                             calls("triplet_margin_loss", "anchor, positive, negative"));

// By a distance of one's own, a layer of two tensors.
const Function of_distances("_triplet_of_distances", "near, far, between, *, margin=1.0, swap=False, reduction='mean'",
                            by_formula([](const Arguments &a) {
                              return triplet_loss(a.value("near"), a.value("far"), a.value("between"), a);
                            }));
const std::string by_distance = "*, distance_function=None, margin=1.0, swap=False, reduction='mean'";
const Function triplet_with_distance(
    "triplet_margin_with_distance_loss", "anchor, positive, negative, " + by_distance, [](const Arguments &a) {
      const auto distance = [&](const char *x, const char *y) -> Argument {
        const std::vector<Argument> both = {a[x], a[y]};
        if (!a.has("distance_function")) return pairwise_distance.call(both);
        const auto *part = a["distance_function"].as<Argument::Part>();
        auto *layer = part ? dynamic_cast<Layer *>(part->get()) : nullptr;
        if (!layer) a.refuse("distance_function", "a layer of two tensors, such as PairwiseDistance");
        return layer->call(both);
      };
      return of_distances.call(
          {distance("anchor", "positive"), distance("anchor", "negative"), distance("positive", "negative")},
          {{"margin", a["margin"]}, {"swap", a["swap"]}, {"reduction", a["reduction"]}});
    });
const LayerRow triplet_with_distance_layer("TripletMarginWithDistanceLoss", by_distance,
                                           calls("triplet_margin_with_distance_loss", "anchor, positive, negative"));

}  // namespace

const void *distances() { return &normalize; }

}  // namespace saltern::nn
