// Attention by sums instead of products, and attention whose queries share keys and values; with Keras' names.

#include <cmath>

#include "runtime/layers/matmul.h"
#include "runtime/layers/movement.h"
#include "runtime/nn/families.h"
#include "runtime/nn/layer.h"

namespace saltern::nn {

namespace {

using namespace formula;

// q(n, i, d), k(n, j, d), scale(d), which may be left out: s(n, i, j) = sum over d of scale(d) tanh(q(n, i, d) + k(n, j, d))
const Operation sums("additive_scores", [](const Values &in, const Attributes &) -> Values {
  const Value &q = in.at(0), &k = in.at(1);
  return {compute("scores", {q.extent(0), q.extent(1), k.extent(1)}, [&](Expression n, Expression i, Expression j) {
    return sum({q.extent(2)}, [&](Expression d) {
      const Expression t = call(formula::Function::tanh, q(n, i, d) + k(n, j, d));
      return in.size() > 2 ? t * in[2](d) : t;
    });
  })};
});

void expect_rank_3(const Arguments &in, const char *name) {
  if (in.variable(name).shape().size() != 3) in.refuse(name, "a tensor (n, t, d)");
}

// A mask says, where it is boolean, which keys count; else it is added.
const LayerRow additive("AdditiveAttention", "embed_dim, use_scale=True, dropout=0.0",
                        {"query, key, value, attn_mask=None",
                         [](Layer &self, const Arguments &in) -> Argument {
                           for (const char *name : {"query", "key", "value"}) expect_rank_3(in, name);
                           const Variable q = in.variable("query"), k = in.variable("key"), v = in.variable("value");
                           const int64_t width = self.made_with().integer("embed_dim");
                           for (const char *name : {"query", "key"})
                             if (in.variable(name).shape()[2] != width)
                               in.refuse(name, std::to_string(width) + " numbers");
                           if (k.shape()[1] != v.shape()[1] || q.shape()[0] != k.shape()[0] ||
                               k.shape()[0] != v.shape()[0])
                             in.refuse("key", "as many as there are values, and of as many samples as queries");
                           std::vector<Variable> of = {q, k};
                           if (self.has_parameter("scale")) of.push_back(self.parameter("scale"));
                           Argument scores = apply_one(sums, of);
                           if (in.has("attn_mask")) {
                             const bool chooses = in.variable("attn_mask").type() == Type::boolean;
                             scores = chooses ? call("where", {in["attn_mask"], scores, -INFINITY})
                                              : call("add", {scores, in["attn_mask"]});
                           }
                           const Argument shares = call("dropout", {call("softmax", {scores, -1}),
                                                                    self.made_with()["dropout"], self.training()});
                           return matmul(variable_of(shares), v);
                         }},
                        [](Layer &self) {
                          const int64_t width = self.made_with().integer("embed_dim");
                          if (width < 1) self.made_with().refuse("embed_dim", "1 or more");
                          const double bound = std::sqrt(6 / static_cast<double>(1 + width));
                          const bool scaled = self.made_with().flag("use_scale");
                          self.parameter("scale", scaled ? uniform_parameter({width}, bound) : Variable());
                        });

// ---- Queries in groups that share keys and values.

// (n, t, heads d) as (n, heads, t, d), and back.
Variable in_heads(const Variable &x, int64_t heads) {
  const Shape &s = x.shape();
  return transpose(reshape(x, {s[0], s[1], heads, s[2] / heads}), {0, 2, 1, 3});
}
Variable of_heads(const Variable &x) {
  const Shape &s = x.shape();
  return reshape(transpose(x, {0, 2, 1, 3}), {s[0], s[2], s[1] * s[3]});
}

const LayerRow grouped("GroupQueryAttention",
                       "embed_dim, num_heads, num_key_value_heads, head_dim=None, dropout=0.0, bias=True",
                       {"query, key=None, value=None, attn_mask=None, is_causal=False",
                        [](Layer &self, const Arguments &in) -> Argument {
                          const Arguments &a = self.made_with();
                          const Argument key = in.has("key") ? in["key"] : in["query"];
                          const Argument value = in.has("value") ? in["value"] : key;
                          expect_rank_3(in, "query");
                          const auto part = [&](const char *name, const Argument &x, const char *heads) {
                            return in_heads(inside(name, self.part(name), variable_of(x)), a.integer(heads));
                          };
                          const Argument y = call(
                              "scaled_dot_product_attention",
                              {part("q_proj", in["query"], "num_heads"), part("k_proj", key, "num_key_value_heads"),
                               part("v_proj", value, "num_key_value_heads"), in["attn_mask"],
                               self.training() ? a["dropout"] : Argument(0.0), in["is_causal"]},
                              {{"enable_gqa", true}});
                          return inside("out_proj", self.part("out_proj"), of_heads(variable_of(y)));
                        }},
                       [](Layer &self) {
                         const Arguments &a = self.made_with();
                         const int64_t width = a.integer("embed_dim"), heads = a.integer("num_heads"),
                                       shared = a.integer("num_key_value_heads");
                         if (heads < 1 || (!a.has("head_dim") && width % heads != 0))
                           a.refuse("num_heads", "a divisor of embed_dim, or a head_dim");
                         if (shared < 1 || heads % shared != 0)
                           a.refuse("num_key_value_heads", "a divisor of num_heads");
                         const int64_t of_head = a.has("head_dim") ? a.integer("head_dim") : width / heads;
                         if (of_head < 1) a.refuse("head_dim", "1 or more");
                         const Named bias = {{"bias", a["bias"]}};
                         self.part("q_proj", "Linear", {width, heads * of_head}, bias);
                         self.part("k_proj", "Linear", {width, shared * of_head}, bias);
                         self.part("v_proj", "Linear", {width, shared * of_head}, bias);
                         self.part("out_proj", "Linear", {heads * of_head, width}, bias);
                       });

}  // namespace

const void *further_attention() { return &additive; }

}  // namespace saltern::nn
