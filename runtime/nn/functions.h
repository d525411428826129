#pragma once
// Functions by their names, with PyTorch's arguments:
//
//   Variable y = nn::einsum("ij,kj->ik", {a, b}), z = nn::where(y > 0, y, 0.0);
//   auto [values, places] = nn::topk(y, 3);
//   for (const Variable &part : nn::split(y, 2, "dim"_a = 1)) ...
//
// Those that give one tensor or two, as max() with a dimension, give one here: nn::call("max", {x, 1}) gives both. Those that
// give no tensor, allclose and equal, and those of families, linalg.solve, are called by nn::call.

#include "runtime/nn/named.h"

// clang-format off
#define SALTERN_FOR_EACH_FUNCTION_OF_ONE_RESULT(X) \
  X(abs) X(acos) X(acosh) X(adaptive_avg_pool1d) X(adaptive_avg_pool2d) X(adaptive_avg_pool3d) X(adaptive_max_pool1d) \
  X(adaptive_max_pool2d) X(adaptive_max_pool3d) X(add) X(addbmm) X(addcdiv) X(addcmul) X(addmm) X(addmv) X(addr) \
  X(affine_grid) X(all) X(alpha_dropout) X(amax) X(amin) X(any) X(argmax) X(argmin) X(argsort) X(argwhere) X(asin) \
  X(asinh) X(atan) X(atan2) X(atanh) X(atleast_1d) X(atleast_2d) X(atleast_3d) X(avg_pool1d) X(avg_pool2d) \
  X(avg_pool3d) X(baddbmm) X(batch_norm) X(batched_nms) X(bilinear) X(binary_cross_entropy) \
  X(binary_cross_entropy_with_logits) X(binary_crossentropy) X(binary_dense) X(binary_focal_crossentropy) \
  X(binary_sign) X(bincount) X(bitwise_and) X(bitwise_left_shift) X(bitwise_not) X(bitwise_or) X(bitwise_right_shift) \
  X(bitwise_xor) X(block_diag) X(bmm) X(box_area) X(box_convert) X(box_iou) X(broadcast_to) X(bucketize) \
  X(cartesian_prod) X(cast) X(cat) X(categorical_crossentropy) X(categorical_focal_crossentropy) \
  X(categorical_generalized_cross_entropy) X(categorical_hinge) X(cdist) X(ceil) X(celu) X(celu_) X(channel_shuffle) \
  X(cholesky_inverse) X(cholesky_solve) X(circle_loss) X(clamp) X(clamp_max) X(clamp_min) X(clip_boxes_to_image) \
  X(clone) X(column_stack) X(combinations) X(complete_box_iou) X(complete_box_iou_loss) X(contiguous) X(conv1d) \
  X(conv2d) X(conv3d) X(conv_tbc) X(conv_transpose1d) X(conv_transpose2d) X(conv_transpose3d) X(copysign) X(corrcoef) \
  X(cos) X(cosh) X(cosine_embedding_loss) X(cosine_similarity) X(cosine_similarity_loss) X(count_nonzero) X(cov) \
  X(cross) X(cross_entropy) X(ctc_loss) X(ctc_of_scores) X(cumprod) X(cumsum) X(cumulative_trapezoid) X(deform_conv2d) \
  X(deg2rad) X(dequantize) X(dequantized) X(diag) X(diag_embed) X(diagflat) X(diagonal) X(diagonal_scatter) \
  X(dice_loss) X(diff) X(digamma) X(discretized) X(dist) X(distance_box_iou) X(distance_box_iou_loss) X(div) X(dot) \
  X(drop_block2d) X(drop_block3d) X(dropout) X(dropout1d) X(dropout2d) X(dropout3d) X(dstack) X(einsum) X(elu) X(elu_) \
  X(embedding) X(embedding_bag) X(encoded_categories) X(eq) X(erf) X(erfc) X(erfinv) X(exp) X(exp2) X(expand) \
  X(expand_as) X(expm1) X(fake_quantize_per_channel_affine) X(fake_quantize_per_tensor_affine) X(fake_quantized) \
  X(feature_alpha_dropout) X(flatten) X(flip) X(fliplr) X(flipud) X(float_power) X(floor) X(floor_divide) X(fmax) \
  X(fmin) X(fmod) X(fold) X(frac) X(fractional_max_pool2d) X(fractional_max_pool3d) X(gammainc) X(gammaincc) X(gather) \
  X(gather_along) X(gaussian_dropout) X(gaussian_nll_loss) X(gaussian_noise) X(gcd) X(ge) X(gelu) \
  X(generalized_box_iou) X(generalized_box_iou_loss) X(glu) X(grid_sample) X(group_norm) X(grouped_mm) X(gru_cell) \
  X(gt) X(gumbel_softmax) X(hardshrink) X(hardsigmoid) X(hardswish) X(hardtanh) X(hardtanh_) X(heaviside) \
  X(hinge_embedding_loss) X(hinge_loss) X(histc) X(hstack) X(huber_loss) X(hypot) X(i0) X(igamma) X(igammac) X(index) \
  X(index_add) X(index_copy) X(index_fill) X(index_put) X(index_reduce) X(index_select) X(index_select_along) X(inner) \
  X(instance_norm) X(interpolate) X(isclose) X(isfinite) X(isin) X(isinf) X(isnan) X(isneginf) X(isposinf) X(isreal) \
  X(kl_div) X(kl_divergence) X(kron) X(l1_loss) X(layer_norm) X(lcm) X(ldexp) X(le) X(leaky_relu) X(leaky_relu_) \
  X(lerp) X(lgamma) X(linear) X(linear_cross_entropy) X(local_response_norm) X(log) X(log10) X(log1p) X(log2) \
  X(log_cosh) X(log_softmax) X(logaddexp) X(logaddexp2) X(logcumsumexp) X(logdet) X(logical_and) X(logical_not) \
  X(logical_or) X(logical_xor) X(logit) X(logsigmoid) X(logsumexp) X(lp_pool1d) X(lp_pool2d) X(lp_pool3d) X(lt) \
  X(margin_ranking_loss) X(masked_fill) X(masked_scatter) X(masked_select) X(masked_steps) X(masks_to_boxes) X(matmul) \
  X(matrix_exp) X(max) X(max_pool1d) X(max_pool2d) X(max_pool3d) X(max_unpool1d) X(max_unpool2d) X(max_unpool3d) \
  X(maximum) X(mean) X(mean_absolute_percentage_error) X(mean_squared_logarithmic_error) X(median) X(min) X(minimum) \
  X(mish) X(mm) X(movedim) X(mse_loss) X(msort) X(mul) X(multi_margin_loss) X(multilabel_margin_loss) \
  X(multilabel_soft_margin_loss) X(mv) X(mvlgamma) X(nan_to_num) X(nanmean) X(nanmedian) X(nanquantile) X(nansum) \
  X(narrow) X(native_channel_shuffle) X(ne) X(neg) X(nextafter) X(nll_loss) X(nms) X(nonzero) X(norm) \
  X(norm_except_dim) X(normalize) X(one_hot) X(outer) X(pad) X(pad_sequence) X(pairwise_distance) X(pdist) X(permute) \
  X(pinverse) X(pixel_shuffle) X(pixel_unshuffle) X(places_among) X(poisson_loss) X(poisson_nll_loss) X(polygamma) \
  X(positive) X(pow) X(prelu) X(prod) X(ps_roi_align) X(ps_roi_pool) X(put) X(quantile) X(quantiles_along) \
  X(quantize_per_channel) X(quantize_per_tensor) X(quantized) X(rad2deg) X(ravel) X(reciprocal) X(relu) X(relu6) \
  X(relu_) X(remainder) X(remove_small_boxes) X(renorm) X(repeat) X(repeat_interleave) X(reshape) X(reshape_as) \
  X(rms_norm) X(rnn_cell) X(roi_align) X(roi_pool) X(roll) X(roll_along) X(rot90) X(round) X(rrelu) X(rrelu_) X(rsqrt) \
  X(rsub) X(rsub_of) X(scaled_dot_product_attention) X(scatter) X(scatter_add) X(scatter_add_along) X(scatter_reduce) \
  X(scatter_reduced_along) X(searchsorted) X(select) X(select_scatter) X(selu) X(selu_) X(sgn) X(sigmoid) \
  X(sigmoid_focal_loss) X(sign) X(signbit) X(silu) X(sin) X(sinc) X(sinh) X(slice_scatter) X(slice_written) \
  X(smooth_l1_loss) X(soft_margin_loss) X(softmax) X(softmin) X(softplus) X(softshrink) X(softsign) \
  X(sparse_categorical_crossentropy) X(sqrt) X(square) X(squared_hinge_loss) X(squeeze) X(stack) X(std) \
  X(stochastic_depth) X(strided_slice) X(sub) X(sum) X(sum_to_size) X(t) X(take) X(take_along_dim) X(tan) X(tanh) \
  X(tanhshrink) X(tensordot) X(threshold) X(threshold_) X(tile) X(trace) X(transpose) X(trapezoid) X(trapz) X(tril) \
  X(triplet_margin_loss) X(triplet_margin_with_distance_loss) X(triu) X(true_divide) X(trunc) X(tversky_loss) \
  X(unflatten) X(unfold) X(unsqueeze) X(upsample) X(upsample_bilinear) X(upsample_nearest) X(var) X(vdot) X(view) \
  X(view_as) X(vstack) X(where) X(windows_along) X(xlogy)
#define SALTERN_FOR_EACH_FUNCTION_OF_TWO_RESULTS(X) \
  X(adaptive_max_pool1d_with_indices) X(adaptive_max_pool2d_with_indices) X(adaptive_max_pool3d_with_indices) \
  X(aminmax) X(best_along) X(cummax) X(cummin) X(fractional_max_pool2d_with_indices) \
  X(fractional_max_pool3d_with_indices) X(kthvalue) X(lstm_cell) X(max_pool1d_with_indices) X(max_pool2d_with_indices) \
  X(max_pool3d_with_indices) X(mode) X(pad_packed_sequence) X(sort) X(std_mean) X(topk) X(triangular_solve) \
  X(var_mean)
#define SALTERN_FOR_EACH_FUNCTION_OF_A_LIST(X) \
  X(broadcast_tensors) X(chunk) X(dsplit) X(hsplit) X(meshgrid) X(multi_head_attention_forward) \
  X(pack_padded_sequence) X(pack_sequence) X(split) X(split_with_sizes) X(svd) X(tensor_split) X(unbind) X(unique) \
  X(unique_consecutive) X(unpad_sequence) X(vsplit)
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
