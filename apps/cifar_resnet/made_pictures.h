#pragma once
// Small coloured pictures in CIFAR-10's format, for where CIFAR-10 is not at hand: ten kinds of shapes and textures, turned, of
// many bright colours, sizes and places, on darker grounds, with noise. The same seed gives the same bytes.

#include <cstdint>
#include <string>

namespace saltern {

// Writes FOLDER/data_batch_1.bin and test_batch.bin, and the names of classes, batches.meta.txt, as CIFAR-10 has them.
void make_pictures(const std::string &folder, int64_t train, int64_t test, uint64_t seed);

}  // namespace saltern
