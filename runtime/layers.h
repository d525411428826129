#pragma once
// Functions of Variables that the library has kernels of, and what modules are made with. Layers are in runtime/nn/all.h.

#include "runtime/layers/containers.h"
#include "runtime/layers/conv2d.h"
#include "runtime/layers/dropout.h"
#include "runtime/layers/indexing.h"
#include "runtime/layers/linear.h"
#include "runtime/layers/losses.h"
#include "runtime/layers/matmul.h"
#include "runtime/layers/pool.h"
#include "runtime/layers/random_stream.h"
#include "runtime/layers/softmax.h"
#include "runtime/layers/unary.h"
