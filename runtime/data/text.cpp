#include "runtime/data/text.h"

#include <array>

#include "runtime/files/file.h"

namespace saltern {

std::string Text::decoded(const std::vector<int64_t> &some) const {
  std::string characters;
  for (int64_t token : some) {
    if (token < 0 || token >= static_cast<int64_t>(alphabet.size()))
      fail("a text of ", alphabet.size(), " characters has no token ", token);
    characters += alphabet[static_cast<size_t>(token)];
  }
  return characters;
}

Text text_of(const std::string &characters) {
  std::array<int64_t, 256> place = {};
  for (unsigned char c : characters) place[c] = 1;
  Text text;
  for (size_t c = 0; c < place.size(); ++c)
    if (place[c] == 1) {
      place[c] = static_cast<int64_t>(text.alphabet.size());
      text.alphabet += static_cast<char>(c);
    }
  text.tokens = Tensor::empty({static_cast<int64_t>(characters.size())}, Type::i64);
  for (size_t i = 0; i < characters.size(); ++i)
    text.tokens.data<int64_t>()[i] = place[static_cast<unsigned char>(characters[i])];
  return text;
}

Text read_text(const std::string &path, uint64_t max_bytes) {
  const std::vector<uint8_t> bytes = read_file(path, max_bytes);
  if (bytes.empty()) fail(path, " is empty");
  return text_of({bytes.begin(), bytes.end()});
}

Source stretches(const Tensor &tokens, int64_t length, int64_t step) {
  if (tokens.rank() != 1 || tokens.type() != Type::i64)
    fail("stretches of a text: tokens are ", facts(tokens.type()).name, to_string(tokens.shape()),
         "; expected i64 (n)");
  if (length < 1 || step < 1) fail("stretches of a text: a length of ", length, " and a step of ", step);
  if (tokens.size() <= length)
    fail("stretches of a text: ", tokens.size(), " tokens have none of ", length, " with one behind it");
  Source s;
  s.size = (tokens.size() - 1 - length) / step + 1;
  s.sample = [=](int64_t i) {
    return Sample{tokens.slice(0, i * step, length).clone(), tokens.slice(0, i * step + 1, length).clone()};
  };
  s.name = [=](int64_t i) { return "the stretch from token " + std::to_string(i * step) + " on"; };
  return s;
}

}  // namespace saltern
