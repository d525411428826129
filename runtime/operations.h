#pragma once
// The table of all operations: find_operation("conv2d"), for whoever has a name in hand, as the graph executor and the
// importer have. Every operation stands next to its layer; including them all fills the table.

#include "runtime/autograd/operation.h"
#include "runtime/layers.h"
