#pragma once
// All layers: what a program that defines a net includes.

#include "runtime/layers/activations.h"
#include "runtime/layers/batch_norm.h"
#include "runtime/layers/conv2d.h"
#include "runtime/layers/dropout.h"
#include "runtime/layers/flatten.h"
#include "runtime/layers/layer_norm.h"
#include "runtime/layers/linear.h"
#include "runtime/layers/losses.h"
#include "runtime/layers/matmul.h"
#include "runtime/layers/pool.h"
#include "runtime/layers/recurrent.h"
#include "runtime/layers/sequential.h"
#include "runtime/layers/softmax.h"
