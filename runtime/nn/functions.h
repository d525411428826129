#pragma once
// Functions by their names, with PyTorch's arguments:
//
//   Variable y = nn::einsum("ij,kj->ik", {a, b}), z = nn::where(y > 0, y, 0.0);
//   auto [values, places] = nn::topk(y, 3);
//   for (const Variable &part : nn::split(y, 2, "dim"_a = 1)) ...
//
// Those that give one tensor or two, as max() with a dimension, give one here: nn::call("max", {x, 1}) gives both.

#include "runtime/nn/named.h"

// clang-format off
#define SALTERN_FOR_EACH_FUNCTION_OF_ONE_RESULT(X) \
  X(abs) X(acos) X(acosh) X(adaptive_avg_pool1d) X(adaptive_avg_pool2d) X(adaptive_avg_pool3d) \
  X(adaptive_max_pool1d) X(adaptive_max_pool2d) X(adaptive_max_pool3d) X(add) X(addmm) X(affine_grid) X(all) \
  X(alpha_dropout) X(amax) X(amin) X(any) X(argmax) X(argmin) X(argsort) X(asin) X(asinh) X(atan) X(atanh) \
  X(avg_pool1d) X(avg_pool2d) X(avg_pool3d) X(baddbmm) X(batch_norm) X(bilinear) X(binary_cross_entropy) \
  X(binary_cross_entropy_with_logits) X(bitwise_and) X(bitwise_not) X(bitwise_or) X(bitwise_xor) X(bmm) X(cast) \
  X(cat) X(cdist) X(ceil) X(celu) X(channel_shuffle) X(clamp) X(conv1d) X(conv2d) X(conv3d) X(conv_tbc) \
  X(conv_transpose1d) X(conv_transpose2d) X(conv_transpose3d) X(cos) X(cosh) X(cosine_embedding_loss) \
  X(cosine_similarity) X(cross_entropy) X(ctc_loss) X(cumprod) X(cumsum) X(div) X(dot) X(dropout) X(dropout1d) \
  X(dropout2d) X(dropout3d) X(einsum) X(elu) X(embedding) X(embedding_bag) X(eq) X(erf) X(erfc) X(exp) X(exp2) \
  X(expand) X(expm1) X(feature_alpha_dropout) X(flatten) X(flip) X(floor) X(floor_divide) X(fmod) X(fold) X(frac) \
  X(fractional_max_pool2d) X(fractional_max_pool3d) X(gather) X(gather_along) X(gaussian_nll_loss) X(ge) X(gelu) \
  X(glu) X(grid_sample) X(group_norm) X(gru_cell) X(gt) X(gumbel_softmax) X(hardshrink) X(hardsigmoid) X(hardswish) \
  X(hardtanh) X(hinge_embedding_loss) X(huber_loss) X(index) X(index_select) X(index_select_along) X(instance_norm) \
  X(interpolate) X(isinf) X(isnan) X(kl_div) X(l1_loss) X(layer_norm) X(le) X(leaky_relu) X(lerp) X(linear) \
  X(linear_cross_entropy) X(local_response_norm) X(log) X(log10) X(log1p) X(log2) X(log_softmax) X(logical_and) \
  X(logical_not) X(logical_or) X(logical_xor) X(logit) X(logsigmoid) X(logsumexp) X(lp_pool1d) X(lp_pool2d) \
  X(lp_pool3d) X(lt) X(margin_ranking_loss) X(masked_fill) X(matmul) X(max) X(max_pool1d) X(max_pool2d) \
  X(max_pool3d) X(max_unpool1d) X(max_unpool2d) X(max_unpool3d) X(maximum) X(mean) X(min) X(minimum) X(mish) X(mm) \
  X(mse_loss) X(mul) X(multi_margin_loss) X(multilabel_margin_loss) X(multilabel_soft_margin_loss) X(mv) X(narrow) \
  X(native_channel_shuffle) X(ne) X(neg) X(nll_loss) X(norm) X(norm_except_dim) X(normalize) X(one_hot) X(outer) \
  X(pad) X(pairwise_distance) X(pdist) X(permute) X(pixel_shuffle) X(pixel_unshuffle) X(poisson_nll_loss) \
  X(positive) X(pow) X(prelu) X(prod) X(reciprocal) X(relu) X(relu6) X(remainder) X(repeat) X(reshape) X(rms_norm) \
  X(rnn_cell) X(roll) X(roll_along) X(round) X(rrelu) X(rsqrt) X(scaled_dot_product_attention) X(scatter_add) \
  X(scatter_add_along) X(select) X(selu) X(sigmoid) X(sign) X(silu) X(sin) X(sinc) X(sinh) X(smooth_l1_loss) \
  X(soft_margin_loss) X(softmax) X(softmin) X(softplus) X(softshrink) X(softsign) X(sqrt) X(square) X(squeeze) \
  X(stack) X(std) X(strided_slice) X(sub) X(sum) X(t) X(tan) X(tanh) X(tanhshrink) X(threshold) X(transpose) X(tril) \
  X(triplet_margin_loss) X(triplet_margin_with_distance_loss) X(triu) X(trunc) X(unflatten) X(unfold) X(unsqueeze) \
  X(upsample) X(upsample_bilinear) X(upsample_nearest) X(var) X(view) X(where)
#define SALTERN_FOR_EACH_FUNCTION_OF_TWO_RESULTS(X) \
  X(adaptive_max_pool1d_with_indices) X(adaptive_max_pool2d_with_indices) X(adaptive_max_pool3d_with_indices) \
  X(best_along) X(fractional_max_pool2d_with_indices) X(fractional_max_pool3d_with_indices) X(lstm_cell) \
  X(max_pool1d_with_indices) X(max_pool2d_with_indices) X(max_pool3d_with_indices) X(sort) X(topk)
#define SALTERN_FOR_EACH_FUNCTION_OF_A_LIST(X) \
  X(chunk) X(split) X(unbind)
// clang-format on

namespace saltern {

namespace nn {

#define SALTERN_FUNCTION(NAME) inline constexpr NamedFunction<Variable> NAME{#NAME};
SALTERN_FOR_EACH_FUNCTION_OF_ONE_RESULT(SALTERN_FUNCTION)
#undef SALTERN_FUNCTION
#define SALTERN_FUNCTION(NAME) inline constexpr NamedFunction<Pair> NAME{#NAME};
SALTERN_FOR_EACH_FUNCTION_OF_TWO_RESULTS(SALTERN_FUNCTION)
#undef SALTERN_FUNCTION
#define SALTERN_FUNCTION(NAME) inline constexpr NamedFunction<List> NAME{#NAME};
SALTERN_FOR_EACH_FUNCTION_OF_A_LIST(SALTERN_FUNCTION)
#undef SALTERN_FUNCTION

}  // namespace nn

// Truths, of tensors or of a tensor and a number; x[x > 0] is what is larger.
#define SALTERN_OPERATOR(SIGN, NAME)                                                             \
  inline Variable operator SIGN(const Variable &a, const Variable &b) { return nn::NAME(a, b); } \
  inline Variable operator SIGN(const Variable &a, double b) { return nn::NAME(a, b); }          \
  inline Variable operator SIGN(double a, const Variable &b) { return nn::NAME(a, b); }
SALTERN_OPERATOR(<, lt)
SALTERN_OPERATOR(<=, le)
SALTERN_OPERATOR(>, gt)
SALTERN_OPERATOR(>=, ge)
SALTERN_OPERATOR(==, eq)
SALTERN_OPERATOR(!=, ne)
#undef SALTERN_OPERATOR
inline Variable operator&(const Variable &a, const Variable &b) { return nn::bitwise_and(a, b); }
inline Variable operator|(const Variable &a, const Variable &b) { return nn::bitwise_or(a, b); }
inline Variable operator~(const Variable &a) { return nn::bitwise_not(a); }

}  // namespace saltern
