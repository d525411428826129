# One line a kernel: saltern_kernel(NAME [FROM FILE]) makes its library for every CPU target, its registry row, its
# check against the plain algorithm and its benchmark.
saltern_kernel(dense)

# One line a row of algorithms/unary.h: makes NAME and NAME_gradient.
saltern_unary_kernel(relu)
saltern_unary_kernel(leaky_relu)
saltern_unary_kernel(sigmoid)
saltern_unary_kernel(tanh)
saltern_unary_kernel(exp)
saltern_unary_kernel(log)
saltern_unary_kernel(sqrt)
saltern_unary_kernel(reciprocal)
saltern_unary_kernel(negate)
saltern_unary_kernel(absolute)
saltern_unary_kernel(square)
saltern_unary_kernel(gelu)
saltern_unary_kernel(silu)
saltern_unary_kernel(erf)
saltern_unary_kernel(sine)
saltern_unary_kernel(cosine)

# One line a row of algorithms/binary.h: makes NAME, NAME_gradient_a and NAME_gradient_b.
saltern_binary_kernel(add)
saltern_binary_kernel(subtract)
saltern_binary_kernel(multiply)
saltern_binary_kernel(divide)
saltern_binary_kernel(maximum)
saltern_binary_kernel(minimum)
saltern_binary_kernel(power)
