#pragma once
// What stands beside a picture and goes where its pixels go: boxes (..., 4), as (x1, y1, x2, y2), and key points (..., 2), as
// torchvision moves them. A box that is turned becomes the one around it, and is cut off at the edges of the picture; key
// points may leave it. Whole numbers are cut off, as PyTorch casts.

#include "runtime/transforms/image.h"
#include "runtime/transforms/transform.h"

namespace saltern::transforms {

// Into the places of a picture.
void take_places(const Arguments &in, Image &x);
// A picture with what was given beside it, where it is now; alone where there was nothing.
Argument with_places(const Arguments &in, const Image &y);
// With what was given beside it, as it was.
Argument as_given(const Argument &x, const Arguments &in);

}  // namespace saltern::transforms
