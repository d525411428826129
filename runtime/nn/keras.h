#pragma once

namespace saltern::nn {

// What Keras keeps logarithms and quotients away from 0 by, unless told otherwise.
constexpr double keras_epsilon = 1e-7;

}  // namespace saltern::nn
