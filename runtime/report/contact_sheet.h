#pragma once
// A sheet of small pictures with captions, marked by whether what the caption says is right.

#include <string>
#include <vector>

#include "runtime/report/picture.h"

namespace saltern {

enum class Mark { none, right, wrong };

struct SheetPicture {
  Tensor picture;       // u8 (height, width) or (height, width, channels)
  std::string caption;  // lines, separated by '\n'
  Mark mark = Mark::none;
};

struct ContactSheet {
  std::string title;
  std::vector<SheetPicture> pictures;
  int64_t columns = 8, scale = 4;
};

Canvas draw(const ContactSheet &sheet);

}  // namespace saltern
