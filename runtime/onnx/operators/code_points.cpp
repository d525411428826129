#include "runtime/onnx/operators/code_points.h"

#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <memory>

#include "runtime/onnx/operators/lowering.h"

namespace saltern {

static_assert(sizeof(wchar_t) == 4, "a character holds any code point");

std::wstring code_points(const std::string &text) {
  std::wstring all;
  for (size_t i = 0; i < text.size();) {
    const auto byte = [&](size_t k) { return static_cast<uint8_t>(text[k]); };
    const uint8_t lead = byte(i);
    const int more = lead < 0x80 ? 0 : lead >> 5 == 6 ? 1 : lead >> 4 == 14 ? 2 : lead >> 3 == 30 ? 3 : -1;
    if (more < 0 || i + static_cast<size_t>(more) >= text.size()) fail("a text is not UTF-8");
    uint32_t c = more == 0 ? lead : lead & (0x3F >> more);
    for (int k = 1; k <= more; ++k) {
      if (byte(i + static_cast<size_t>(k)) >> 6 != 2) fail("a text is not UTF-8");
      c = c << 6 | (byte(i + static_cast<size_t>(k)) & 0x3F);
    }
    all.push_back(static_cast<wchar_t>(c));
    i += static_cast<size_t>(more) + 1;
  }
  return all;
}

std::string utf8(const std::wstring &characters) {
  std::string text;
  for (wchar_t w : characters) {
    const auto c = static_cast<uint32_t>(w);
    const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    text.push_back(static_cast<char>(more == 0 ? c : (0xFF00 >> (more + 1) & 0xFF) | c >> 6 * more));
    for (int k = more - 1; k >= 0; --k) text.push_back(static_cast<char>(0x80 | (c >> 6 * k & 0x3F)));
  }
  return text;
}

std::string in_case(Case wanted, const std::string &text) {
  // Of all locales the one that knows Unicode's letters and nothing of a country.
  static const std::shared_ptr<std::remove_pointer_t<locale_t>> letters(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr),
                                                                        [](locale_t l) {
                                                                          if (l) freelocale(l);
                                                                        });
  std::wstring characters = code_points(text);
  for (wchar_t &c : characters) {
    if (!letters && c >= 0x80) unsupported("upper and lower case of '", text, "': there is no C.UTF-8 locale");
    if (c < 0x80)
      c = wanted == Case::lower ? (c >= L'A' && c <= L'Z' ? c + 32 : c) : (c >= L'a' && c <= L'z' ? c - 32 : c);
    else
      c = static_cast<wchar_t>(wanted == Case::lower ? towlower_l(static_cast<wint_t>(c), letters.get())
                                                     : towupper_l(static_cast<wint_t>(c), letters.get()));
  }
  return utf8(characters);
}

}  // namespace saltern
