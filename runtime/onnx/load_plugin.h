#pragma once
// Plug-ins: shared libraries with operators of their own (plugin.h).

#include <string>

namespace saltern {

// The library's operators are known from now on, for all models; call it before models are read. It stays loaded.
// Throws an Error that names the library: it cannot be loaded, is none, is of another version, or brings an operator
// that exists already (then none of its operators is taken).
void load_plugin(const std::string &path);

}  // namespace saltern
