#pragma once
// What is known of the gamma distribution by loops, in f64: its distribution function with the derivative by the shape, and
// exact samples of it, and of those that are drawn by its help.

#include "runtime/tensor/random.h"

namespace saltern {

// The probability of at most x, that of more, and the derivative of the first with respect to a.
struct GammaProbability {
  double below, above, by_shape;
};
GammaProbability gamma_probability(double a, double x);
// dx/da of a sample x that keeps its P(a, x): what reparameterised samples are differentiated by.
double gamma_slope(double a, double x);

double draw_uniform(Random &random);  // in (0, 1), of 53 bits
double draw_normal(Random &random);
// Of Gamma(a, 1) (Marsaglia and Tsang: A Simple Method for Generating Gamma Variables).
double draw_gamma(Random &random, double a);
// By order statistics, in steps that grow with log n (Ahrens and Dieter).
double draw_binomial(Random &random, int64_t n, double p);
double draw_poisson(Random &random, double rate);

}  // namespace saltern
