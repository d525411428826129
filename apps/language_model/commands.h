#pragma once
// The commands of the program, a file each.

#include "apps/exit_codes.h"

namespace CLI {
class App;
}

namespace saltern {

void define_train_language(CLI::App &app, Action &chosen);
void define_generate(CLI::App &app, Action &chosen);
void define_surprise(CLI::App &app, Action &chosen);
void define_export(CLI::App &app, Action &chosen);

}  // namespace saltern
