// Boxes (..., 4) and what detectors make of them, with torchvision's names.

#include "algorithms/boxes.h"

#include <algorithm>
#include <numeric>

#include "algorithms/further_losses.h"
#include "runtime/nn/families.h"
#include "runtime/nn/losses.h"

namespace saltern::nn {

namespace {

using namespace formula;
using algorithms::Box;
using algorithms::Overlap;

// ---- One box.

void expect_boxes(const Arguments &a, const char *name, size_t rank = 0) {
  const Shape &shape = a.variable(name).shape();
  if (shape.empty() || shape.back() != 4 || (rank > 0 && shape.size() != rank))
    a.refuse(name, rank == 2 ? "boxes (n, 4)" : "boxes (..., 4)");
}
Function::Body boxes_expected(const std::vector<const char *> &names) {
  return [names](const Arguments &a) -> Argument {
    for (const char *name : names) expect_boxes(a, name);
    return {};
  };
}

const algorithms::BoxFormat &format(const Arguments &a, const char *name) {
  std::vector<std::string> names;
  for (const auto &f : algorithms::box_formats) names.emplace_back(f.name);
  const std::string &word = a.word(name, names);
  return algorithms::box_formats[std::find(names.begin(), names.end(), word) - names.begin()];
}

const Function box_convert("box_convert", "boxes, in_fmt, out_fmt", by_formula([](const Arguments &a) {
                             return format(a, "out_fmt").write(format(a, "in_fmt").read(a.value("boxes")));
                           }),
                           boxes_expected({"boxes"}));
const Function box_area("box_area", "boxes, fmt='xyxy'",
                        by_formula([](const Arguments &a) { return format(a, "fmt").read(a.value("boxes")).area(); }),
                        boxes_expected({"boxes"}));
const Function clip_boxes("clip_boxes_to_image", "boxes, size", by_formula([](const Arguments &a) {
                            const auto size = a.integers("size", 2);
                            const auto height = static_cast<double>(size[0]), width = static_cast<double>(size[1]);
                            const Box b = algorithms::box_of(a.value("boxes"));
                            const auto in = [](const Value &v, double most) { return min(max(v, 0), most); };
                            return algorithms::joined(in(b.x1, width), in(b.y1, height), in(b.x2, width),
                                                      in(b.y2, height));
                          }),
                          boxes_expected({"boxes"}));

// ---- Two boxes: (..., n, 4) and (..., m, 4) -> (..., n, m).

using Measure = Value (*)(const Box &a, const Box &b, const Overlap &, const Arguments &);

struct Pairs {
  Pairs(const char *name, const std::string &options, Measure measure)
      : function(name, "boxes1, boxes2" + options, by_formula([measure](const Arguments &a) {
                   const Value u = a.value("boxes1"), v = a.value("boxes2");
                   const auto read = a.signature().has("fmt") ? format(a, "fmt").read : algorithms::box_of;
                   const Box one = with_axis(read(u), u.rank() - 1), other = with_axis(read(v), v.rank() - 2);
                   return measure(one, other, overlap_of(one, other), a);
                 }),
                 [](const Arguments &a) -> Argument {
                   for (const char *boxes : {"boxes1", "boxes2"}) {
                     expect_boxes(a, boxes);
                     if (a.variable(boxes).shape().size() < 2) a.refuse(boxes, "boxes (..., n, 4)");
                   }
                   return {};
                 }) {}
  Function function;
};

const Pairs pairs[] = {
    {"box_iou", ", fmt='xyxy'",
     [](const Box &, const Box &, const Overlap &o, const Arguments &) { return o.ratio(); }},
    {"generalized_box_iou", "",
     [](const Box &, const Box &, const Overlap &o, const Arguments &) { return generalized_overlap(o); }},
    {"distance_box_iou", ", eps=1e-07",
     [](const Box &a, const Box &b, const Overlap &o, const Arguments &given) {
       return distance_overlap(a, b, o, given.real("eps"), 0);
     }},
    {"complete_box_iou", ", eps=1e-07",
     [](const Box &a, const Box &b, const Overlap &o, const Arguments &given) {
       return complete_overlap(a, b, o, given.real("eps"), 0);
     }},
};

struct BoxLoss {
  BoxLoss(const char *name, Measure measure)
      : function(name, "boxes1, boxes2, reduction='none', eps=1e-07", by_formula([measure](const Arguments &a) {
                   const Box one = algorithms::box_of(a.value("boxes1")), other = algorithms::box_of(a.value("boxes2"));
                   return reduced_loss(1 - measure(one, other, overlap_of(one, other), a), a);
                 }),
                 boxes_expected({"boxes1", "boxes2"})) {}
  Function function;
};

const BoxLoss losses_of_boxes[] = {
    {"generalized_box_iou_loss", [](const Box &, const Box &, const Overlap &o,
                                    const Arguments &a) { return generalized_overlap(o, a.real("eps")); }},
    {"distance_box_iou_loss",
     [](const Box &u, const Box &v, const Overlap &o, const Arguments &a) {
       return distance_overlap(u, v, o, a.real("eps"), a.real("eps"));
     }},
    {"complete_box_iou_loss",
     [](const Box &u, const Box &v, const Overlap &o, const Arguments &a) {
       return complete_overlap(u, v, o, a.real("eps"), a.real("eps"));
     }},
};

const Function focal("sigmoid_focal_loss", "inputs, targets, alpha=0.25, gamma=2, reduction='none'",
                     by_formula([](const Arguments &a) {
                       const Value x = a.value("inputs");
                       const double alpha = a.real("alpha");
                       if (!(alpha >= 0 && alpha <= 1) && alpha != -1) a.refuse("alpha", "a number from 0 to 1, or -1");
                       return reduced_loss(algorithms::focal_loss(x, beside(x, a, "targets"), alpha, a.real("gamma")),
                                           a);
                     }));

// ---- Which boxes to keep: results whose sizes depend on data.

const Tensor &known(const Arguments &a, const Variable &v) {
  if (v.value().is_outline()) fail(a.owner(), ": how many boxes are kept depends on data, which a graph has not");
  return v.value();
}

Tensor indices(const std::vector<int64_t> &all) { return Tensor::of<int64_t>({static_cast<int64_t>(all.size())}, all); }

// Boxes in the order of their scores, without those that overlap a better one of the same class by more than the threshold.
Tensor kept_boxes(const Arguments &a, const std::vector<int64_t> &classes) {
  expect_boxes(a, "boxes", 2);
  const Variable scores = a.variable("scores");
  const int64_t count = a.variable("boxes").shape()[0];
  if (scores.shape() != Shape{count}) a.refuse("scores", "one for each of " + std::to_string(count) + " boxes");
  const std::vector<double> box = known(a, a.variable("boxes")).reals(), score = known(a, scores).reals();
  const double threshold = a.real("iou_threshold");
  std::vector<size_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) { return score[i] > score[j]; });
  const auto overlap = [&](size_t i, size_t j) {
    const double *u = &box[4 * i], *v = &box[4 * j];
    const auto length = [&](int d) { return std::max(std::min(u[d + 2], v[d + 2]) - std::max(u[d], v[d]), 0.0); };
    const auto area = [](const double *b) { return (b[2] - b[0]) * (b[3] - b[1]); };
    const double shared = length(0) * length(1);
    return shared / (area(u) + area(v) - shared);
  };
  std::vector<int64_t> kept;
  for (size_t i : order)
    if (std::none_of(kept.begin(), kept.end(), [&](int64_t k) {
          const auto j = static_cast<size_t>(k);
          return (classes.empty() || classes[i] == classes[j]) && overlap(i, j) > threshold;
        }))
      kept.push_back(static_cast<int64_t>(i));
  return indices(kept);
}

const Function nms("nms", "boxes, scores, iou_threshold", [](const Arguments &a) { return kept_boxes(a, {}); });
const Function batched_nms("batched_nms", "boxes, scores, idxs, iou_threshold", [](const Arguments &a) {
  const Variable classes = a.variable("idxs");
  if (classes.shape() != a.variable("scores").shape()) a.refuse("idxs", "a class for each box");
  const std::vector<double> all = known(a, classes).reals();
  return kept_boxes(a, {all.begin(), all.end()});
});

const Function remove_small_boxes("remove_small_boxes", "boxes, min_size", [](const Arguments &a) {
  expect_boxes(a, "boxes", 2);
  const std::vector<double> box = known(a, a.variable("boxes")).reals();
  std::vector<int64_t> kept;
  for (size_t i = 0; 4 * i < box.size(); ++i)
    if (const double *b = &box[4 * i]; b[2] - b[0] >= a.real("min_size") && b[3] - b[1] >= a.real("min_size"))
      kept.push_back(static_cast<int64_t>(i));
  return indices(kept);
});

// masks (n, h, w) -> (n, 4): the first and last column and row that is not 0 everywhere; zeros where all are.
Value bound(const Value &there, size_t axis, bool is_last) {
  const std::vector<Expression> over = {there.extent(1), there.extent(2)};
  const Expression none = cast(Type::f32, is_last ? Expression(0) : over[axis]);
  const auto reduction = is_last ? formula::Function::greatest : formula::Function::least;
  const Value place = compute("bound", {there.extent(0)}, [&](const Axes &at) {
    return reduce_open(reduction, over,
                       [&](const Axes &s) { return select(there(at[0], s[0], s[1]), cast(Type::f32, s[axis]), none); });
  });
  return is_last ? place : inlined(place.extents(), [&](const Axes &at) {
    return select(place.at(at) == none, constant(Type::f32, 0), place.at(at));
  });
}
const Function masks_to_boxes("masks_to_boxes", "masks", by_formula([](const Arguments &a) {
                                const Value masks = a.value("masks");
                                const Value there = masks.type() == Type::boolean ? masks : !(masks == 0);
                                return algorithms::joined(bound(there, 1, false), bound(there, 0, false),
                                                          bound(there, 1, true), bound(there, 0, true));
                              }),
                              [](const Arguments &a) -> Argument {
                                const Shape &shape = a.variable("masks").shape();
                                if (shape.size() != 3) a.refuse("masks", "masks (n, h, w)");
                                return elements(shape) == 0 ? Argument(Tensor::zeros({shape[0], 4})) : Argument();
                              });

}  // namespace

const void *boxes() { return &box_area; }

}  // namespace saltern::nn
