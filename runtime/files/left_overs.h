#pragma once
// What killed processes leave behind: files and folders under temporary names. Whoever makes one holds a lock on it while
// it is in use, which ends with the process however that ends; so what nobody holds is a left-over, and whoever comes
// next may remove it. A process id in the name would not tell: ids come again, and every container has its own.
//
// Where a file system has no locks, nothing is removed.

#include <string>

namespace saltern {

// Locks what this process has just made and opened. False if somebody who sweeps came first and has removed it.
bool hold(int descriptor, const std::string &path);

// Removes a file, or a folder with all that is in it, that is this user's and that nobody holds; whether it did.
bool remove_left_over(const std::string &path);

}  // namespace saltern
