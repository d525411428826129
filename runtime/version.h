#pragma once

namespace saltern {

// As the build states it: "0.1.0".
const char *version();

}  // namespace saltern
