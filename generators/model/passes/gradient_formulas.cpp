#include "generators/model/passes/gradient_formulas.h"

#include <limits>
#include <map>

#include "algorithms/elementwise.h"
#include "algorithms/probabilities.h"

namespace saltern::generators {

namespace {

using namespace formula;
using Algorithm = Operation::Algorithm;

// ---- Of functions of two: (a, b, dy) -> da or db under the full shape.

Value broadcasted(const Value &v, const Value &like) {
  return compute("operand", like.extents(), [&](const Axes &at) {
    Axes from(at.end() - v.rank(), at.end());
    for (int d = 0; d < v.rank(); ++d)
      if (is_number(v.extent(d), 1)) from[static_cast<size_t>(d)] = 0;
    return v.at(from);
  });
}

Algorithm of_binary(const algorithms::BinaryRow &row, size_t wanted) {
  return [f = row.of, wanted](const Values &in, const Attributes &) {
    const Value &dy = in.at(2);
    const Values operands = {broadcasted(in[0], dy), broadcasted(in[1], dy)};
    return gradient({f(operands[0], operands[1])}, {dy}, {operands[wanted]});
  };
}

// ---- Of products.

Values dense_x(const Values &in, const Attributes &) {
  const Value &w = in.at(0), &dy = in.at(1);
  return {compute("dense_gradient_x", {dy.extent(0), w.extent(1)}, [&](Expression n, Expression i) {
    return sum({w.extent(0)}, [&](const Axes &o) { return w(o[0], i) * dy(n, o[0]); });
  })};
}

Values dense_w(const Values &in, const Attributes &) {
  const Value &x = in.at(0), &dy = in.at(1);
  return {compute("dense_gradient_w", {dy.extent(1), x.extent(1)}, [&](Expression o, Expression i) {
    return sum({x.extent(0)}, [&](const Axes &n) { return x(n[0], i) * dy(n[0], o); });
  })};
}

// Over all but dimension 1, as a vector.
Value summed_by_channel(const Value &v) {
  std::vector<Expression> others = v.extents();
  others.erase(others.begin() + 1);
  return compute("by_channel", {v.extent(1)}, [&](const Axes &c) {
    return sum(others, [&](Axes at) {
      at.insert(at.begin() + 1, c[0]);
      return v.at(at);
    });
  });
}

// ---- Of windows.

struct Windows {
  const std::vector<int64_t> &strides, &dilations, &pads;
  explicit Windows(const Attributes &a)
      : strides(a.integers("strides")), dilations(a.integers("dilations")), pads(a.integers("pads")) {}
  Expression source(size_t d, const Expression &position, const Expression &k) const {
    return position * strides[d] + k * dilations[d] - pads[d];
  }
};

Values conv2d_w(const Values &in, const Attributes &a) {
  const Value &x = in.at(0), &dy = in.at(1);
  const Windows w(a);
  const std::vector<int64_t> &shape = a.integers("shape");
  const int64_t outputs = shape[0] / a.integer("groups", 1);  // of a group
  return {compute("conv2d_gradient_w", {shape[0], shape[1], shape[2], shape[3]},
                  [&](Expression o, Expression c, Expression ky, Expression kx) {
                    return sum({x.extent(0), dy.extent(2), dy.extent(3)},
                               [&](Expression n, Expression p, Expression q) {
                                 return dy(n, o, p, q) * x.or_zero(n, quotient(o, outputs) * shape[1] + c,
                                                                   w.source(0, p, ky), w.source(1, q, kx));
                               });
                  })};
}

// dx(n, c, h, w) = sum of what part(k, n, c, p, q) is, over all k at which the window at (p, q) covers (h, w).
Value over_windows(const Value &dy, const Attributes &a,
                   const std::function<Expression(const Axes &k, const Axes &at)> &part) {
  const Windows w(a);
  const std::vector<int64_t> &shape = a.integers("shape"), &kernel = a.integers("kernel");
  return compute("pool_gradient", {shape[0], shape[1], shape[2], shape[3]}, [&](const Axes &at) {
    return sum({kernel[0], kernel[1]}, [&](const Axes &k) {
      Expression covers = truth(true);
      Axes from = at;
      for (size_t d = 0; d < 2; ++d) {
        const Expression place = at[d + 2] + w.pads[d] - k[d] * w.dilations[d];
        from[d + 2] = quotient(place, w.strides[d]);
        covers = covers && modulo(place, w.strides[d]) == 0 && 0 <= from[d + 2] &&
                 from[d + 2] < dy.extent(static_cast<int>(d) + 2);
      }
      return select(covers, part(k, from), constant(dy.type(), 0));
    });
  });
}

Values max_pool(const Values &in, const Attributes &a) {
  const Value &position = in.at(0), &dy = in.at(1);
  const int64_t width = a.integers("kernel")[1];
  return {over_windows(dy, a, [&](const Axes &k, const Axes &at) {
    return select(cast(Type::i64, position.at(at)) == k[0] * width + k[1], dy.at(at), constant(dy.type(), 0));
  })};
}

Values average_pool(const Values &in, const Attributes &a) {
  const Value &dy = in.at(0);
  const Windows w(a);
  const std::vector<int64_t> &shape = a.integers("shape"), &kernel = a.integers("kernel");
  // Of the window at a place, how many of its elements count.
  const Value count = compute("count", {dy.extent(2), dy.extent(3)}, [&](Expression p, Expression q) {
    return sum({kernel[0], kernel[1]}, [&](Expression ky, Expression kx) {
      const Expression h = w.source(0, p, ky), v = w.source(1, q, kx);
      const Expression inside = 0 <= h && h < shape[2] && 0 <= v && v < shape[3];
      const Expression one = constant(dy.type(), 1);
      return a.integer("count_padding", 1) ? one : select(inside, one, constant(dy.type(), 0));
    });
  });
  return {over_windows(dy, a, [&](const Axes &, const Axes &at) { return dy.at(at) / count(at[2], at[3]); })};
}

// ---- Of norms and losses.

Values softmax(const Values &in, const Attributes &a) {
  return {algorithms::softmax_gradient(in.at(0), in.at(1), static_cast<int>(a.integer("axis")))};
}

Values log_softmax(const Values &in, const Attributes &a) {
  return {algorithms::log_softmax_gradient(in.at(0), in.at(1), static_cast<int>(a.integer("axis")))};
}

Values cross_entropy(const Values &in, const Attributes &a) {
  const Value dx = algorithms::cross_entropy_gradient(in.at(0), in.at(1), in.at(2));
  if (!a.has("ignore")) return {dx};
  return {compute("left_out", dx.extents(), [&](const Axes &at) {
    const Expression label = cast(Type::i64, in[1](at[0]));
    return select(label == constant_integer(Type::i64, a.integer("ignore")), constant(dx.type(), 0), dx.at(at));
  })};
}

const std::map<std::string, Algorithm> &table() {
  static const std::map<std::string, Algorithm> rows = [] {
    std::map<std::string, Algorithm> all = {
        {"dense_gradient_x", dense_x},
        {"dense_gradient_w", dense_w},
        {"dense_gradient_b",
         [](const Values &in, const Attributes &) -> Values { return {summed_by_channel(in.at(0))}; }},
        {"conv2d_gradient_w", conv2d_w},
        {"max_pool2d_gradient", max_pool},
        {"average_pool2d_gradient", average_pool},
        {"softmax_gradient", softmax},
        {"log_softmax_gradient", log_softmax},
        {"cross_entropy_gradient", cross_entropy},
    };
    for (const algorithms::BinaryRow &row : algorithms::binary_rows()) {
      all[row.name + "_gradient_a"] = of_binary(row, 0);
      all[row.name + "_gradient_b"] = of_binary(row, 1);
    }
    return all;
  }();
  return rows;
}

}  // namespace

Values positions_of_maxima(const Values &in, const Attributes &a) {
  const Value &x = in.at(0);
  const Windows w(a);
  const std::vector<int64_t> &kernel = a.integers("kernel");
  const auto positions = [&](size_t d) {
    return quotient(
               x.extent(static_cast<int>(d) + 2) + w.pads[d] + w.pads[d + 2] - (kernel[d] - 1) * w.dilations[d] - 1,
               w.strides[d]) +
           1;
  };
  const Value place =
      compute("place", {x.extent(0), x.extent(1), positions(0), positions(1)},
              [&](Expression n, Expression c, Expression p, Expression q) {
                return reduce_open(Function::first_greatest, {kernel[0], kernel[1]}, [&](const Axes &k) {
                  return x.or_else(-std::numeric_limits<double>::infinity(),
                                   {n, c, w.source(0, p, k[0]), w.source(1, q, k[1])});
                });
              });
  return {cast(Type::i32, place)};
}

const Operation::Algorithm *gradient_formula(const std::string &operation) {
  const auto row = table().find(operation);
  if (row != table().end()) return &row->second;
  const Operation *own = find_operation(operation);
  return own && own->has_kernels && own->algorithm ? &own->algorithm : nullptr;
}

}  // namespace saltern::generators
