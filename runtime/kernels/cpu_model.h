#pragma once
// What this machine's CPU calls itself: measured times belong to it.

#include <string>

namespace saltern {

// "unknown" where the system does not say.
std::string cpu_model();

}  // namespace saltern
