#pragma once
// Files kept on disk by what they were made of: a key, which is a text.
//
//   FOLDER/SHELF/HASH/key   the key in full, so that two keys with one hash never stand for each other, and the checksums
//                           of the other files, which are verified before these are used
//   FOLDER/lock             held while an entry is put in its place
//   FOLDER/.making.XXXXXX   an entry that is being made; put in its place when it is whole
//
// An entry that is damaged in any way is made again. The folder is private (private_folder.h): what is verified is what
// is used. Several processes may use one cache.

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace saltern::generators {

class Cache {
 public:
  // Makes the folder if need be; throws a FileError that names it unless it is private.
  explicit Cache(const std::string &folder);

  struct Entry {
    std::string folder;
    std::vector<std::string> files;  // names in the folder
    std::string path(const std::string &file) const { return folder + "/" + file; }
  };
  std::optional<Entry> find(const std::string &shelf, const std::string &key) const;
  // `make` puts the files into a folder.
  Entry find_or_make(const std::string &shelf, const std::string &key,
                     const std::function<void(const std::string &folder)> &make) const;

 private:
  std::string place(const std::string &shelf, const std::string &key) const;

  std::string folder_;
};

// What a key must hold beside what is made: another build of this program may make something else.
std::string program_identity();

}  // namespace saltern::generators
