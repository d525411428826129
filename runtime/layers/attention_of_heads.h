#pragma once
// Attention head by head: y = softmax(scale q k^T) v over the last two dimensions of q(.., t, e), k(.., s, e), v(.., s, f).
//
// The scores of one head, (t, s), are in the cache from the product that makes them to the one that reads them; those of all
// heads need not exist. The way back makes them again.

#include "runtime/autograd/variable.h"

namespace saltern {

// Whether it is for these: of f32, with the same dimensions in front, and not while nets are traced, whose graphs have
// products and softmax.
bool fits_attention_of_heads(const Variable &q, const Variable &k, const Variable &v);

Variable attention_of_heads(const Variable &q, const Variable &k, const Variable &v, double scale);

}  // namespace saltern
