#pragma once
// The programs of a C tool chain that the model compiler calls, cc and ar, and the folder that they work in.

#include <string>
#include <vector>

#include "generators/model/temporary_folder.h"

namespace saltern::generators {

// Runs a program in a folder (generators/child_process.h). Throws an Error with what it printed where it fails, or one that
// says what to install where there is no such program.
void run_program(const std::vector<std::string> &command, const std::string &folder);

// The C compiler and the archiver: the environment's CC and AR, else cc and ar.
std::string c_compiler();
std::string archiver();

// All objects in a folder, in the order of their names, as a static library beside them.
void archive_objects(const std::string &library, const std::string &folder);
// The folder that results go to; throws a FileError where it cannot be had.
void make_folder(const std::string &folder);
// Puts a finished file in its place, whose path it returns: whoever looks finds the old one or the new one.
std::string put(const std::string &from, const std::string &folder, const std::string &name);

}  // namespace saltern::generators
