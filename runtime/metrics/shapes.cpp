// Shapes of points.

#include <algorithm>
#include <cmath>

#include "runtime/metrics/metric.h"
#include "runtime/nn/function.h"

namespace saltern::metrics {

namespace {

// ---- Points that are moved, turned and scaled upon others: what is left.

const MetricRow procrustes(
    "ProcrustesDisparity", "procrustes_disparity", "reduction='mean'", "point_cloud1, point_cloud2",
    [](const Arguments &, const Arguments &in) {
      auto [a, b] = alike(in, "point_cloud1", "point_cloud2");
      if (a.rank() != 3) in.refuse("point_cloud1", "[batch, points, dimensions]");
      const auto points = static_cast<size_t>(a.extent(1)), dims = static_cast<size_t>(a.extent(2)),
                 inner = points * dims;
      std::vector<double> all;
      for (size_t i = 0; i < a.size(); i += inner) {
        for (double *cloud : {a.begin() + i, b.begin() + i}) {
          double squares = 0;
          for (size_t d = 0; d < dims; ++d) {
            double middle = 0;
            for (size_t p = 0; p < points; ++p) middle += cloud[p * dims + d] / static_cast<double>(points);
            for (size_t p = 0; p < points; ++p) cloud[p * dims + d] -= middle;
          }
          for (size_t k = 0; k < inner; ++k) squares += cloud[k] * cloud[k];
          for (size_t k = 0; k < inner; ++k) cloud[k] /= std::sqrt(squares);
        }
        Numbers product = Numbers::zeros({a.extent(2), a.extent(2)});
        for (size_t p = 0; p < points; ++p)
          for (size_t r = 0; r < dims; ++r)
            for (size_t c = 0; c < dims; ++c) product[r * dims + c] += a[i + p * dims + r] * b[i + p * dims + c];
        double scale = 0;
        for (const double value : variable_of(nn::call("linalg.svdvals", {result(product)})).value().reals())
          scale += value;
        all.push_back(1 - scale * scale);
      }
      State s;
      s.list("each", all);
      return s;
    },
    [](const Arguments &o, const State &s) {
      return result(o.word("reduction", {"mean", "sum"}) == "mean" ? mean(s["each"]) : sum(s["each"]));
    },
    nullptr, "point_cloud1, point_cloud2", [](const Arguments &, const State &s) { return result(s["each"]); });

// Of a face that speaks: the largest error of a point of its mouth in each frame.
const MetricRow lips(
    "LipVertexError", "lip_vertex_error", "mouth_map, validate_args=True", "vertices_pred, vertices_gt",
    [](const Arguments &o, const Arguments &in) {
      const Numbers p = numbers(in, "vertices_pred"), t = numbers(in, "vertices_gt");
      if (p.rank() != 3 || t.rank() != 3 || p.extent_from(1) != t.extent_from(1) || p.extent(1) != t.extent(1))
        in.refuse("vertices_gt", "[frames, vertices, coordinates], as 'vertices_pred' has them");
      const std::vector<int64_t> mouth = o.integers("mouth_map");
      const auto dims = static_cast<size_t>(p.extent(2)), inner = static_cast<size_t>(p.extent_from(1));
      std::vector<double> all;
      for (size_t i = 0; i < std::min(p.size(), t.size()); i += inner) {
        double most = 0;
        for (const int64_t v : mouth) {
          if (v < 0 || v >= p.extent(1)) o.refuse("mouth_map", "vertices below " + std::to_string(p.extent(1)));
          double squares = 0;
          for (size_t d = 0; d < dims; ++d) {
            const size_t at = i + static_cast<size_t>(v) * dims + d;
            squares += (p[at] - t[at]) * (p[at] - t[at]);
          }
          most = std::max(most, squares);
        }
        all.push_back(most);
      }
      State s;
      s.list("each", all);
      return s;
    },
    [](const Arguments &, const State &s) { return result(mean(s["each"])); });

}  // namespace

const void *shapes() { return &procrustes; }

}  // namespace saltern::metrics
