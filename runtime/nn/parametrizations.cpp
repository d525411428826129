// Weights that are made of others: of a length and a direction, or such that no vector becomes longer by them.

#include "algorithms/distances.h"
#include "runtime/autograd/state.h"
#include "runtime/layers/unary.h"
#include "runtime/nn/families.h"
#include "runtime/nn/layer.h"
#include "runtime/nn/types.h"

namespace saltern::nn {

namespace {

using namespace formula;

// Over all dimensions but one, whose norms keep the others with extent 1; over all of them, a number, where it is -1.
Value lengths(const Value &v, const Arguments &a, double p) {
  const int64_t kept = a.has("dim") ? a.integer("dim") : -1;
  if (kept >= v.rank()) a.refuse("dim", "a dimension of " + std::to_string(v.rank()));
  std::vector<int> over;
  for (int d = 0; d < v.rank(); ++d)
    if (d != kept) over.push_back(d);
  if (over.empty()) return abs(v);
  Value length = named("length", algorithms::norm(v, over, p));
  while (kept < 0 && length.rank() > 0) length = algorithms::without_axis(length, 0);
  return length;
}

const Function norm_except_dim("norm_except_dim", "v, pow=2, dim=0",
                               by_formula([](const Arguments &a) { return lengths(a.value("v"), a, a.real("pow")); }));
const Function weight_norm("_weight_norm", "v, g, dim=0", by_formula([](const Arguments &a) {
                             const Value v = a.value("v");
                             return v * (a.value("g") / lengths(v, a, 2));
                           }));
const LayerRow weight_norm_layer("_WeightNorm", "dim=0",
                                 {"weight_g, weight_v", [](Layer &self, const Arguments &in) {
                                    return weight_norm.call({in["weight_v"], in["weight_g"], self.made_with()["dim"]});
                                  }});

// ---- The greatest singular value of a matrix w(h, k), whose vectors u(h) and v(k) a few products bring closer.

const Operation power_step("power_step", [](const Values &in, const Attributes &a) -> Values {
  const Value &w = in.at(0), &v = in.at(1);
  const auto unit = [&](const char *name, const Value &x) {
    return named(name, x / named("length", max(algorithms::norm(x, {0}, 2), a.real("eps"))));
  };
  const Value u = unit("u", compute("wv", {w.extent(0)}, [&](const Axes &i) {
                         return sum({w.extent(1)}, [&](const Axes &k) { return w(i[0], k[0]) * v(k[0]); });
                       }));
  return {u, unit("v", compute("uw", {w.extent(1)}, [&](const Axes &i) {
                    return sum({w.extent(0)}, [&](const Axes &k) { return w(k[0], i[0]) * u(k[0]); });
                  }))};
});
const Operation stretch("stretch", [](const Value &w, const Value &u, const Value &v) {
  return compute("stretch", {}, [&](const Axes &) {
    return sum({w.extent(0), w.extent(1)}, [&](const Axes &k) { return u(k[0]) * w(k[0], k[1]) * v(k[1]); });
  });
});

// Dimension `dim` first, the others as one.
Variable as_matrix(const Variable &weight, int dim) {
  std::vector<int64_t> order = all_dimensions(weight);
  order.erase(order.begin() + dim);
  order.insert(order.begin(), dim);
  const int64_t height = weight.shape()[static_cast<size_t>(dim)];
  return reshape(dim == 0 ? weight : transpose(weight, order), {height, weight.size() / height});
}

const LayerRow spectral_norm(
    "_SpectralNorm", "weight, n_power_iterations=1, dim=0, eps=1e-12",
    {"weight",
     [](Layer &self, const Arguments &in) -> Argument {
       const Arguments &made = self.made_with();
       const Variable weight = in.variable("weight");
       if (!self.buffer("_u").defined()) return call("normalize", {weight}, {{"dim", 0}, {"eps", made["eps"]}});
       const Variable w = as_matrix(weight, dimension(made.integer("dim"), weight.rank(), in.owner()));
       Variable u = latest(self.buffer("_u")), v = latest(self.buffer("_v"));
       for (int64_t i = 0; self.training() && i < made.integer("n_power_iterations"); ++i) {
         const std::vector<Variable> next = apply(power_step, {w, v}, {{"eps", made.real("eps")}});
         keep(self.buffer("_u"), u = next[0].detached());
         keep(self.buffer("_v"), v = next[1].detached());
       }
       // What the buffers hold next must not be seen by this one's gradient.
       const auto copied = [](const Variable &x) { return x.value().is_outline() ? x : Variable(x.value().clone()); };
       return weight / stretch(w, copied(u), copied(v));
     }},
    [](Layer &self) {
      const Arguments &a = self.made_with();
      const Variable weight = a.variable("weight");
      if (a.integer("n_power_iterations") < 1) a.refuse("n_power_iterations", "at least 1");
      if (weight.shape().empty() || weight.size() == 0)
        a.refuse("weight", "a weight of at least one dimension");
      const int dim = dimension(a.integer("dim"), weight.rank(), a.owner());
      self.buffer("_u", Tensor());
      self.buffer("_v", Tensor());
      if (weight.rank() == 1) return;
      const NoGradient guard;
      const Variable w = as_matrix(weight, dim);
      std::vector<Variable> both = {Variable(),
                                    to_type(random_numbers().normal_tensor({w.shape()[1]}), weight.type())};
      for (int i = 0; i < 15; ++i) both = apply(power_step, {w, both[1]}, {{"eps", a.real("eps")}});
      self.buffer("_u") = both[0].value();
      self.buffer("_v") = both[1].value();
    });

}  // namespace

const void *parametrizations() { return &weight_norm; }

}  // namespace saltern::nn
