#pragma once
// UTF-8 as characters and back, and the two cases of letters.

#include <string>

namespace saltern {

// Throws where the text is not UTF-8.
std::wstring code_points(const std::string &text);
std::string utf8(const std::wstring &characters);

enum class Case { lower, upper };

// Letters of all scripts, one character for one; throws Unsupported where the machine's C library cannot tell.
std::string in_case(Case wanted, const std::string &text);

}  // namespace saltern
