#include "runtime/version.h"

namespace saltern {

const char *version() { return SALTERN_VERSION; }

}  // namespace saltern
