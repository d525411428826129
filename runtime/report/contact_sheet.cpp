#include "runtime/report/contact_sheet.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace saltern {

namespace {

constexpr double title_size = 18, caption_size = 12, line_height = 20;
constexpr int64_t gap = 14, frame = 3;

Colour colour_of(Mark mark) {
  constexpr Colour table[] = {colours::grey, colours::green, colours::red};
  return table[static_cast<size_t>(mark)];
}

std::vector<std::string> lines_of(const std::string &caption) {
  std::vector<std::string> lines;
  std::istringstream in(caption);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

Canvas draw(const ContactSheet &sheet) {
  if (sheet.columns < 1 || sheet.scale < 1)
    fail("contact sheet: ", sheet.columns, " columns at scale ", sheet.scale, "; both must be above 0");
  int64_t width = 1, height = 1;  // of a cell's inside
  size_t lines = 0;
  for (const SheetPicture &p : sheet.pictures) {
    if (p.picture.rank() < 2) fail("contact sheet: '", p.caption, "' has a picture of ", to_string(p.picture.shape()));
    width = std::max(width, p.picture.extent(1) * sheet.scale);
    height = std::max(height, p.picture.extent(0) * sheet.scale);
    const std::vector<std::string> caption = lines_of(p.caption);
    lines = std::max(lines, caption.size());
    for (const std::string &line : caption)
      width = std::max(width, static_cast<int64_t>(std::ceil(text_width(line, caption_size))));
  }
  const auto count = static_cast<int64_t>(sheet.pictures.size());
  const int64_t columns = std::clamp<int64_t>(count, 1, sheet.columns), rows = (count + columns - 1) / columns;
  const int64_t cell_width = width + 2 * frame + gap;
  const int64_t cell_height = height + 2 * frame + gap + static_cast<int64_t>(static_cast<double>(lines) * line_height);
  const int64_t top = sheet.title.empty() ? gap : gap + static_cast<int64_t>(title_size) + 2 * gap;
  const auto title_width = static_cast<int64_t>(std::ceil(text_width(sheet.title, title_size)));
  Canvas c(std::max(columns * cell_width, title_width + gap) + gap, std::max<int64_t>(rows * cell_height, 1) + top);
  c.text({gap, gap + 4}, sheet.title, title_size, colours::ink);

  for (int64_t i = 0; i < count; ++i) {
    const SheetPicture &p = sheet.pictures[static_cast<size_t>(i)];
    const int64_t w = p.picture.extent(1) * sheet.scale, h = p.picture.extent(0) * sheet.scale;
    const int64_t cell = gap + i % columns * cell_width, y = top + i / columns * cell_height;
    const int64_t x = cell + (cell_width - gap - w - 2 * frame) / 2;
    c.rectangle(x, y, w + 2 * frame, h + 2 * frame, colour_of(p.mark));
    c.picture(x + frame, y + frame, p.picture, sheet.scale);
    double line_top = static_cast<double>(y + height + 2 * frame) + 8;
    for (const std::string &line : lines_of(p.caption)) {
      const double middle = static_cast<double>(cell) + static_cast<double>(cell_width - gap) / 2;
      c.text({middle - text_width(line, caption_size) / 2, line_top}, line, caption_size, colour_of(p.mark));
      line_top += line_height;
    }
  }
  return c;
}

}  // namespace saltern
