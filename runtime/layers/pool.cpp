#include "runtime/layers/pool.h"

#include "algorithms/pooling.h"
#include "runtime/kernels/kernels.h"
#include "runtime/operations.h"
#include "runtime/tensor/strided.h"

namespace saltern {

namespace {

struct Pooling {
  Window window;
  Pair kernel;

  explicit Pooling(const Attributes &a)
      : window(saltern::window(a)), kernel(integers(a, "kernel", 2, 1)[0], a.integers("kernel")[1]) {}

  Shape output_shape(const Tensor &x, const char *who) const {
    if (x.rank() != 4) fail(who, " takes an image (N, C, H, W), not ", to_string(x.shape()));
    for (const auto &[s, k] : {std::pair{window.x, kernel.x}, std::pair{window.y, kernel.y}})
      if (s.pad_before >= k * s.dilation || s.pad_after >= k * s.dilation)
        fail(who, ": a padding of ", std::max(s.pad_before, s.pad_after), " leaves windows of ", k,
             " with nothing inside");
    return {x.extent(0), x.extent(1), positions(who, x.extent(2), kernel.y, window.y),
            positions(who, x.extent(3), kernel.x, window.x)};
  }

  void run(const char *name, std::vector<KernelArgument> inputs, std::initializer_list<int64_t> integers,
           const std::vector<Tensor> &outputs) const {
    append(inputs, {kernel.x, kernel.y});
    append(inputs, window);
    append(inputs, integers);
    for (const Tensor &t : outputs) inputs.emplace_back(image(t));
    call(name, std::move(inputs));
  }
};

Attributes pool_attributes(Pair kernel, const PoolOptions &o) {
  const Pair stride(o.stride.y ? o.stride.y : kernel.y, o.stride.x ? o.stride.x : kernel.x);
  return window_attributes(stride, o.padding, o.dilation).with("kernel", Shape{kernel.y, kernel.x});
}

}  // namespace

namespace operations {

// (index, dy) -> dx; attributes: those of max_pool2d, and the shape of x
const Operation max_pool2d_gradient(
    "max_pool2d_gradient",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      const Shape &shape = integers(a, "shape", 4, 1);
      const Tensor dx = Tensor::empty(shape, Type::f32, Layout::channels_last);
      Pooling(a).run("max_pool2d_gradient", {image(in.at(0)), image(channels_last(in.at(1)))}, {shape[3], shape[2]},
                     {dx});
      return {dx};
    },
    [](const Values &in, const Attributes &a) -> Values {
      return {algorithms::max_pool_gradient(in.at(0), in.at(1), extents(a, "kernel"), slides(a), extents(a, "shape"))};
    },
    [](const Taped &t, const std::vector<Variable> &dd) -> std::vector<Variable> {
      return {Variable(), apply_one(max_pool2d_pick, {t.input(0), dd[0]}, t.attributes())};
    });

// (index, x) -> y, the element of each window at its index; attributes: those of max_pool2d_gradient, whose transpose
// it is
const Operation max_pool2d_pick(
    "max_pool2d_pick",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      const Tensor y = Tensor::empty(in.at(0).shape(), Type::f32, Layout::channels_last);
      Pooling(a).run("max_pool2d_pick", {image(in.at(0)), image(channels_last(in.at(1)))}, {}, {y});
      return {y};
    },
    [](const Taped &t, const std::vector<Variable> &dd) -> std::vector<Variable> {
      return {Variable(), apply_one(max_pool2d_gradient, {t.input(0), dd[0]}, t.attributes())};
    });

const Operation max_pool2d(
    "max_pool2d",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      const Pooling p(a);
      const Tensor x = channels_last(in.at(0));
      const Shape shape = p.output_shape(x, "max_pool2d");
      const Tensor y = Tensor::empty(shape, Type::f32, Layout::channels_last);
      const Tensor index = Tensor::empty(shape, Type::i32, Layout::channels_last);
      p.run("max_pool2d", {image(x)}, {}, {y, index});
      return {y, index};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      return {apply_one(max_pool2d_gradient, {t.output(1), dy[0]}, t.attributes().with("shape", t.shape(0)))};
    });

// dy -> dx; attributes: those of average_pool2d, and the shape of x
const Operation average_pool2d_gradient(
    "average_pool2d_gradient",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      const Shape &shape = integers(a, "shape", 4, 1);
      const Tensor dx = Tensor::empty(shape, Type::f32, Layout::channels_last);
      Pooling(a).run("average_pool2d_gradient", {image(channels_last(in.at(0)))},
                     {a.integer("count_padding", 1), shape[3], shape[2]}, {dx});
      return {dx};
    },
    [](const Values &in, const Attributes &a) -> Values {
      const auto counts = a.integer("count_padding", 1) ? algorithms::Counts::all : algorithms::Counts::inside;
      const auto kernel = extents(a, "kernel"), image = extents(a, "shape");
      return {algorithms::average_pool_gradient(in.at(0), kernel, slides(a), image,
                                                algorithms::divisor(kernel, slides(a), image, counts))};
    },
    [](const Taped &t, const std::vector<Variable> &dd) -> std::vector<Variable> {
      return {apply_one(average_pool2d, {dd[0]}, t.attributes())};  // linear, and the transpose of it
    });

const Operation average_pool2d(
    "average_pool2d",
    [](const std::vector<Tensor> &in, const Attributes &a) -> std::vector<Tensor> {
      const Pooling p(a);
      const Tensor x = channels_last(in.at(0));
      const Tensor y = Tensor::empty(p.output_shape(x, "average_pool2d"), Type::f32, Layout::channels_last);
      p.run("average_pool2d", {image(x)}, {a.integer("count_padding", 1)}, {y});
      return {y};
    },
    [](const Taped &t, const std::vector<Variable> &dy) -> std::vector<Variable> {
      return {apply_one(average_pool2d_gradient, {dy[0]}, t.attributes().with("shape", t.shape(0)))};
    });

}  // namespace operations

Variable max_pool2d(const Variable &x, Pair kernel, const PoolOptions &o) {
  return apply_one(operations::max_pool2d, {x}, pool_attributes(kernel, o));
}

Variable average_pool2d(const Variable &x, Pair kernel, const PoolOptions &o) {
  return apply_one(operations::average_pool2d, {x},
                   pool_attributes(kernel, o).with("count_padding", int64_t{o.count_padding}));
}

}  // namespace saltern
