#pragma once
// What the models of ai.onnx.ml have in common: scores (N, E) become results by a named transform, and the number of a
// class becomes its label.

#include "runtime/onnx/operators/operators.h"

namespace saltern {

// Samples as rows (N, F); a vector is one sample. In f32, or f64 where they are.
Operand sample_rows(Lowering &n);

// x (N, F) times `rows` weight vectors, plus a bias for each (or none).
Operand linear_scores(Lowering &n, const Operand &x, const std::vector<double> &weights, int64_t rows,
                      const std::vector<double> &bias);

inline std::string post_transform(const Lowering &n) { return n.attributes().word("post_transform", "NONE"); }

// NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO (zeros stay about zero) or PROBIT.
Operand transformed_scores(Lowering &n, const Operand &scores, const std::string &transform);

// (-s, s) of a score (N, 1): the two classes that one number tells apart.
Operand both_sides(Lowering &n, const Operand &score);

// Of each row the first greatest.
Operand best_class(Lowering &n, const Operand &scores);

// The labels of classes (N), from an attribute of integers; the numbers themselves where there is none. Lowerings have
// no texts: class_texts() sees to those.
Operand class_labels(Lowering &n, const Operand &classes, const char *attribute);
size_t class_count(const Attributes &attributes, const char *attribute);

// Computes a classifier whose labels may be texts: by its lowering, with numbers in their place. `attribute` is where
// the lowering looks for integer labels.
std::vector<HostValue> class_texts(const HostCall &call, const char *attribute);

// An attribute of reals, as f32 or from its double form (NAME_as_tensor); empty where both are absent.
std::vector<double> reals_of(const Attributes &attributes, const std::string &name);

// Numbers as a vector of `type`, f32 or f64; and constants of them.
Tensor in_type(Type type, const std::vector<double> &values);
Operand constant_of(Lowering &n, Type type, const Shape &shape, const std::vector<double> &values);
Operand constant_of(Lowering &n, const std::vector<int64_t> &values);

extern const char *const ml_domain;

}  // namespace saltern
