#include "runtime/layers/movement.h"

#include <algorithm>
#include <numeric>

#include "runtime/operations.h"
#include "runtime/tensor/parts.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace operations {

const Operation reshape(
    "reshape",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      return {row_major(in[0]).reshaped(a.integers("shape"))};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      return {saltern::reshape(dy[0], t.shape(0))};
    });

const Operation transpose(
    "transpose",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      const std::vector<int64_t> &order = a.integers("order");
      const Tensor &x = in[0];
      std::vector<int64_t> sorted = order;
      std::sort(sorted.begin(), sorted.end());
      for (size_t d = 0; d < sorted.size(); ++d)
        if (sorted.size() != x.shape().size() || sorted[d] != static_cast<int64_t>(d))
          fail("transpose: ", to_string(order), " is not an order of the dimensions of ", to_string(x.shape()));
      Shape shape, strides;
      for (int64_t d : order) {
        shape.push_back(x.shape()[d]);
        strides.push_back(x.strides()[d]);
      }
      return {x.viewed(shape, strides)};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      const std::vector<int64_t> &order = t.attributes().integers("order");
      std::vector<int64_t> inverse(order.size());
      for (size_t d = 0; d < order.size(); ++d) inverse[order[d]] = static_cast<int64_t>(d);
      return {saltern::transpose(dy[0], inverse)};
    });

const Operation concat(
    "concat",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      if (in.empty()) fail("concat: there is nothing to join");
      return {joined(in, dimension(a.integer("axis"), in[0].rank(), "concat"))};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      const int axis = dimension(t.attributes().integer("axis"), static_cast<int>(t.shape(0).size()), "concat");
      std::vector<Variable> gradients;
      int64_t begin = 0;
      for (size_t i = 0; i < t.input_count(); ++i) {
        const int64_t count = t.shape(i)[static_cast<size_t>(axis)];
        gradients.push_back(saltern::slice(dy[0], axis, begin, count));
        begin += count;
      }
      return gradients;
    });

const Operation slice(
    "slice",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      const Tensor &x = in.at(0);
      const int axis = dimension(a.integer("axis"), x.rank(), "slice");
      const int64_t begin = a.integer("begin"), count = a.integer("count"), extent = x.extent(axis);
      if (begin < 0 || count < 0 || begin > extent || count > extent - begin)
        fail("slice: ", count, " from ", begin, " along dimension ", axis, " of ", to_string(x.shape()));
      return {x.slice(axis, begin, count)};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      const Shape &x = t.shape(0);
      const auto axis =
          static_cast<size_t>(dimension(t.attributes().integer("axis"), static_cast<int>(x.size()), "slice"));
      const int64_t begin = t.attributes().integer("begin"), count = t.attributes().integer("count");
      const auto zeros = [&](int64_t extent) {
        Shape shape = x;
        shape[axis] = extent;
        return Variable(Tensor::zeros(shape, t.type(0)));
      };
      return {saltern::concat({zeros(begin), dy[0], zeros(x[axis] - begin - count)}, static_cast<int64_t>(axis))};
    });

}  // namespace operations

Variable reshape(const Variable &x, Shape shape) {
  auto rest = std::find(shape.begin(), shape.end(), -1);
  if (rest != shape.end()) {
    *rest = 1;
    const int64_t others = elements(shape);
    if (others == 0 || x.size() % others != 0)
      fail("reshape: ", to_string(x.shape()), " does not divide into ", to_string(shape));
    *rest = x.size() / others;
  }
  return apply_one(operations::reshape, {x}, {{"shape", std::move(shape)}});
}

Variable transpose(const Variable &x, const std::vector<int64_t> &order) {
  return apply_one(operations::transpose, {x}, {{"order", order}});
}

Variable transposed(const Variable &x) {
  std::vector<int64_t> order = all_dimensions(x);
  if (order.size() < 2) fail("transposed: ", to_string(x.shape()), " is not a matrix");
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transpose(x, order);
}

Variable concat(const std::vector<Variable> &parts, int64_t axis) {
  return apply_one(operations::concat, parts, {{"axis", axis}});
}

Variable slice(const Variable &x, int64_t axis, int64_t begin, int64_t count) {
  return apply_one(operations::slice, {x}, {{"axis", axis}, {"begin", begin}, {"count", count}});
}

int dimension(int64_t d, int rank, const std::string &who) {
  if (d < -rank || d >= rank)
    throw BadIndex(who + ": dimension " + std::to_string(d) + " of a tensor of rank " + std::to_string(rank));
  return static_cast<int>(d < 0 ? d + rank : d);
}

std::vector<int64_t> all_dimensions(const Variable &x) {
  std::vector<int64_t> axes(x.shape().size());
  std::iota(axes.begin(), axes.end(), int64_t{0});
  return axes;
}

}  // namespace saltern
