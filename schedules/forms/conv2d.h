#pragma once
// Two-dimensional convolution with stride, dilation, padding and groups, and its gradient with respect to x; that with
// respect to w comes from the formula.
//
//   x(ci, g, x, y, n)  w(ci, kx, ky, co, g)  b(co, g)
//     ->  y(co, g, x, y, n) = b(co, g) + sum_{ci, kx, ky} w(ci, kx, ky, co, g) x(ci, g, X(x, kx), Y(y, ky), n)
//   where X(x, kx) = x stride_x + kx dilation_x - pad_left, and Y likewise.
//
//   dx(ci, g, x, y, n)      = sum_{co, kx, ky} w(ci, kx, ky, co, g) dy(co, g, x', y', n)
//                             over the x', y' with X(x', kx) = x and Y(y', ky) = y
//
// A group is a dimension of its own, of extent 1 in the ordinary convolution. x and dy must read as zero outside their
// extents (forms::zero_padded): that is the padding.

#include "schedules/forms/window.h"

namespace saltern::forms {

// A convolution whose pixels are numbered (window.h): its sums are a function of their own, for a schedule to place.
struct NumberedConvolution2d {
  Halide::Func sums;                  // (channel, g, p, n), of a gradient (channel, g, p, n, phase_x, phase_y)
  Halide::Func pixels;                // p -> (x, y)
  Line line;                          // what the window slides over
  Sliding2d phases;                   // x stride_x + phase_x is where the pixel lies in the image, and likewise y
  std::vector<Halide::Expr> extents;  // of the image

  // An image without values, for the sums to be put in.
  Tensor empty() const {
    Halide::Func f("empty");
    f(Tensor(sums, extents).vars()) = Halide::undef(sums.type());
    return {f, extents};
  }
  // Writes every pixel of image(channel, g, x, y, n).
  void put_in(Halide::Func image) const {
    const Halide::Var channel = image.args()[0], g = image.args()[1], n = image.args()[4];
    const bool whole = sums.dimensions() == 4;
    const Halide::Expr &width = extents[2], &height = extents[3];
    if (whole) {
      Halide::RDom p(0, width * height, "p");
      image(channel, g, pixels(p)[0], pixels(p)[1], n) = sums(channel, g, p, n);
      return;
    }
    Halide::RDom p(0, steps(width, phases.x) * steps(height, phases.y), 0, phases.x.stride, 0, phases.y.stride, "p");
    const Halide::Expr x = pixels(p.x)[0] * phases.x.stride + p.y, y = pixels(p.x)[1] * phases.y.stride + p.z;
    p.where(x < width && y < height);
    image(channel, g, Halide::min(x, width - 1), Halide::min(y, height - 1), n) = sums(channel, g, p.x, n, p.y, p.z);
  }
  Tensor image() const {
    Tensor all = empty();
    put_in(all.func());
    return all;
  }
};

// element(ci, g, kx, ky, n) is what the window at pixel `at` holds.
template <typename Element>
Halide::Func conv2d_sums(const Element &element, const Tensor &w, const Tensor &b, const Pixels &at) {
  Halide::Var co("co"), g("g"), n("n");
  std::vector<Halide::Var> index = {co, g, n};
  index.insert(index.begin() + 2, at.index.begin(), at.index.end());
  Halide::RDom r(0, w.extent(0), 0, w.extent(1), 0, w.extent(2), "r");
  Halide::Func y("conv2d");
  y(index) = b(co, g);
  y(index) += w(r.x, r.y, r.z, co, g) * element(r.x, g, r.y, r.z, n);
  return y;
}

inline std::vector<Halide::Expr> conv2d_extents(const Tensor &x, const Tensor &w, const Sliding2d &s) {
  return {w.extent(3), w.extent(4), window_positions(x.extent(2), w.extent(1), s.x),
          window_positions(x.extent(3), w.extent(2), s.y), x.extent(4)};
}

// Its pixels are numbered along rows.
inline NumberedConvolution2d numbered_conv2d(const Tensor &x, const Tensor &w, const Tensor &b, const Sliding2d &s) {
  const std::vector<Halide::Expr> extents = conv2d_extents(x, w, s);
  const Pixels at = numbered(extents[2], extents[3]);
  const auto reach = [](const Halide::Expr &positions, const Halide::Expr &window, const Sliding1d &a) {
    return (positions - 1) * a.stride + (window - 1) * a.dilation + 1;
  };
  const Line image = line(x, -s.x.pad_before, reach(extents[2], w.extent(1), s.x), -s.y.pad_before,
                          reach(extents[3], w.extent(2), s.y), at, s);
  const auto element = [&](const Halide::Expr &ci, const Halide::Var &g, const Halide::Expr &kx, const Halide::Expr &ky,
                           const Halide::Var &n) {
    return image.values(image.corner(at.index) + image.number(kx * s.x.dilation, ky * s.y.dilation) + ci, g, n);
  };
  return {conv2d_sums(element, w, b, at), at.table, image, s, extents};
}

// width and height are those of x. A strided window meets the pixels of x in stride_x stride_y phases (window.h), each
// with some of its elements only; pixels are numbered along the rows of their phase.
inline NumberedConvolution2d conv2d_gradient_x(const Tensor &w, const Tensor &dy, const Sliding2d &s,
                                               const Halide::Expr &width, const Halide::Expr &height) {
  Halide::Var ci("ci"), g("g"), n("n"), phase_x("phase_x"), phase_y("phase_y");
  Halide::RDom r(0, w.extent(3), 0, w.extent(1), 0, w.extent(2), "r");
  const Phase along_x = phase_of(phase_x, s.x), along_y = phase_of(phase_y, s.y);
  r.where(along_x.meets(r.y) && along_y.meets(r.z));
  const Pixels at = numbered(steps(width, s.x), steps(height, s.y));
  const Halide::Var p = at.index[0];
  const Positions over_x = positions(w.extent(1), s.x), over_y = positions(w.extent(2), s.y);
  const Line image = line(dy, over_x.first, steps(width, s.x) + over_x.past - over_x.first - 1, over_y.first,
                          steps(height, s.y) + over_y.past - over_y.first - 1, at, {{1, 1, 0, 0}, {1, 1, 0, 0}});
  Halide::Func dx("conv2d_dx");
  dx(ci, g, p, n, phase_x, phase_y) = Halide::cast(w.type(), 0);
  dx(ci, g, p, n, phase_x, phase_y) +=
      w(ci, r.y, r.z, r.x, g) *
      image.values(image.corner(p) +
                       image.number(along_x.position(r.y) - over_x.first, along_y.position(r.z) - over_y.first) + r.x,
                   g, n);
  return {dx, at.table, image, s, {w.extent(0), w.extent(4), width, height, dy.extent(4)}};
}

}  // namespace saltern::forms
