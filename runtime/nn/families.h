#pragma once

namespace saltern::nn {

// Names something of every family of functions and layers. The tables call it: of a static library, programs get those
// files only that something names.
const void *families();

}  // namespace saltern::nn
