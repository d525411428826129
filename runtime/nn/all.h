#pragma once
// All layers and functions, containers and what Variables are computed with: what a program that makes nets includes.

#include "runtime/autograd/batching.h"
#include "runtime/graph/summary.h"
#include "runtime/layers.h"
#include "runtime/nn/distributions.h"
#include "runtime/nn/functions.h"
#include "runtime/nn/layers.h"
