#pragma once
// Convolutions worth checking and timing, as calls of the kernels of conv2d and depthwise2d.

#include <array>
#include <string>
#include <vector>

#include "dsl/shapes.h"
#include "generators/kernel.h"

namespace saltern::generators {

struct ConvolutionCase {
  int ci, groups, width, height, n, kernel_x, kernel_y, co;  // channels of one group
  Sliding2d<int> s;

  int out_width() const { return window_positions(width, kernel_x, s.x); }
  int out_height() const { return window_positions(height, kernel_y, s.y); }
  double flops() const { return 2.0 * ci * co * groups * kernel_x * kernel_y * out_width() * out_height() * n; }

  Call with_sliding(Call call, std::initializer_list<int> more = {}) const {
    for (const Sliding<int> &a : {s.x, s.y})
      for (int v : {a.stride, a.dilation, a.pad_before, a.pad_after}) call.emplace_back(v);
    for (int v : more) call.emplace_back(v);
    return call;
  }

  CallArgument x() const { return {ci, groups, width, height, n}; }
  CallArgument w() const { return {ci, kernel_x, kernel_y, co, groups}; }
  CallArgument dy() const { return {co, groups, out_width(), out_height(), n}; }
  Call forward() const { return with_sliding({x(), w(), {co, groups}}); }
  Call gradient_x() const { return with_sliding({w(), dy()}, {width, height}); }
  Call gradient_w() const { return with_sliding({x(), dy()}, {kernel_x, kernel_y}); }

  // The same with one channel a group: the groups are the channels.
  CallArgument depthwise_x() const { return {groups, width, height, n}; }
  CallArgument depthwise_w() const { return {groups, kernel_x, kernel_y}; }
  CallArgument depthwise_dy() const { return {groups, out_width(), out_height(), n}; }
  Call depthwise_forward() const { return with_sliding({depthwise_x(), depthwise_w(), {groups}}); }
  Call depthwise_gradient_x() const { return with_sliding({depthwise_w(), depthwise_dy()}, {width, height}); }
  Call depthwise_gradient_w() const { return with_sliding({depthwise_x(), depthwise_dy()}, {kernel_x, kernel_y}); }
};

using ConvolutionCall = Call (ConvolutionCase::*)() const;

inline std::vector<Call> calls(const std::vector<ConvolutionCase> &cases, ConvolutionCall call) {
  std::vector<Call> all;
  for (const ConvolutionCase &c : cases) all.push_back((c.*call)());
  return all;
}

// Square images and windows, "same" padding.
struct SquareConvolution {
  int ci, co, groups, size, kernel, stride, batch;
};

inline std::vector<Timing> timings(const std::vector<SquareConvolution> &squares, ConvolutionCall call) {
  std::vector<Timing> all;
  for (const SquareConvolution &q : squares) {
    const int pad = q.kernel / 2;
    const Sliding<int> s = {q.stride, 1, pad, pad};
    const ConvolutionCase c = {q.ci, q.groups, q.size, q.size, q.batch, q.kernel, q.kernel, q.co, {s, s}};
    const std::string k = std::to_string(q.kernel);
    all.push_back({k + "x" + k + " " + std::to_string(q.ci * q.groups) + "-" + std::to_string(q.co * q.groups) + " @" +
                       std::to_string(q.size) + " stride " + std::to_string(q.stride) + " batch " +
                       std::to_string(q.batch),
                   (c.*call)(), c.flops()});
  }
  return all;
}

}  // namespace saltern::generators
