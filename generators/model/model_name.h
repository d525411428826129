#pragma once
// What a model may be called: NAME.h, libNAME.a and the functions NAME_create, NAME_run, ... stand beside those of the system.

#include <string>

namespace saltern::generators {

// Why it cannot be; empty where it can.
std::string refusal_of_name(const std::string &name);
// Throws where it cannot be.
void check_model_name(const std::string &name);

}  // namespace saltern::generators
