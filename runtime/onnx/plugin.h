#ifndef SALTERN_PLUGIN_H
#define SALTERN_PLUGIN_H
/* Operators of your own, in a shared library that `saltern --plugin lib.so ...` or load_plugin() takes: no rebuild of
   Saltern, and nothing to link. C99, and C++. The library exports one function, saltern_plugin(), which gives its
   operators: each by a formula, which runs and compiles, or by a function on tensors, which runs.

   A formula says in a text how one element of a result comes from elements of operands (dsl/expression.h):
     multiply(x0.f32[a0, a1], f32 2)            a0 and a1 are the indices of the result's element, x0 the first operand
   Operands are the node's inputs, and then results of formulas in the order in which they were made. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SALTERN_PLUGIN_ABI 1

/* Row-major. Types have Saltern's names: "f32", "f64", "f16", "bf16", "i8" ... "i64", "u8" ... "u64", "bool", ... */
typedef struct saltern_tensor {
  const char *type; /* null: an input that is absent */
  int32_t rank;
  const int64_t *extents;
  const void *data; /* null where elements are not known yet: for a formula, when a model is compiled */
} saltern_tensor;

/* One node. What is given here is valid until the operator's function returns. */
typedef struct saltern_call saltern_call;
struct saltern_call {
  size_t input_count, output_count;
  const saltern_tensor *inputs;
  int64_t opset; /* of the operator's domain, as the model has it */

  /* Attributes; `otherwise` where the node has none of that name and kind. */
  int64_t (*integer)(saltern_call *, const char *name, int64_t otherwise);
  double (*real)(saltern_call *, const char *name, double otherwise);
  const char *(*word)(saltern_call *, const char *name, const char *otherwise);

  /* For lower(): a new operand, whose number is returned; -1 after a fault. Types and shapes of operands are known. */
  int (*formula)(saltern_call *, const char *type, int32_t rank, const int64_t *extents, const char *element);
  /* The text of an operand's element that broadcasting puts at an element of a result of that rank. */
  const char *(*here)(saltern_call *, int operand, int32_t rank);
  void (*give)(saltern_call *, size_t output, int operand);

  /* For compute(): memory for an output, to be filled; null after a fault. */
  void *(*make)(saltern_call *, size_t output, const char *type, int32_t rank, const int64_t *extents);

  /* The node cannot be done; the text says why. Return after it. */
  void (*fail)(saltern_call *, const char *why);
};

typedef struct saltern_operator {
  const char *domain, *name;
  void (*lower)(saltern_call *);   /* by formulas; or null */
  void (*compute)(saltern_call *); /* on tensors; or null. Taken where there is no lower */
} saltern_operator;

typedef struct saltern_operators {
  uint32_t abi; /* SALTERN_PLUGIN_ABI */
  size_t count;
  const saltern_operator *operators;
} saltern_operators;

/* What a plug-in exports. */
const saltern_operators *saltern_plugin(void);

#ifdef __cplusplus
}
#endif
#endif
