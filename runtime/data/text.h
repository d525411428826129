#pragma once
// Texts as numbers of their characters, which are bytes: what a language model of characters reads.

#include "runtime/data/source.h"

namespace saltern {

struct Text {
  std::string alphabet;  // the bytes that occur, sorted; a token is a place in it
  Tensor tokens;         // i64 (count)

  std::string decoded(const std::vector<int64_t> &some) const;
};

Text text_of(const std::string &characters);
Text read_text(const std::string &path, uint64_t max_bytes = uint64_t{1} << 30);

// Stretches of `length` tokens that begin every `step`-th one, and as targets what follows each token, both i64 (length).
Source stretches(const Tensor &tokens, int64_t length, int64_t step = 1);

}  // namespace saltern
