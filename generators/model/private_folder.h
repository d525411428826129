#pragma once
// Folders that nobody else can have put anything into: code is loaded from them.

#include <string>

namespace saltern::generators {

// Whether it is a folder of this user's that nobody else may write to.
bool is_private(const std::string &folder);

// The folder's path without links. Makes it, and those on the way to it, for this user alone where they are missing.
// Throws a FileError that names the culprit unless the folder is private and nobody else can exchange it: links on the
// way are this user's or the system's, and folders in which everybody writes keep users apart (the sticky bit, as /tmp
// has it).
std::string private_folder(const std::string &folder);

}  // namespace saltern::generators
