# One line a kernel: saltern_kernel(NAME [FROM FILE]) makes its library for every CPU target, its registry row, its
# check against the plain algorithm and its benchmark.
saltern_kernel(dense)
