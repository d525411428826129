#include "runtime/data/zip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/error.h"

namespace saltern {

namespace {

constexpr uint32_t local_mark = 0x04034b50, entry_mark = 0x02014b50, end_mark = 0x06054b50, end64_mark = 0x06064b50,
                   locator_mark = 0x07064b50;
constexpr uint64_t local_bytes = 30, entry_bytes = 46, end_bytes = 22, end64_bytes = 56, locator_bytes = 20;
constexpr uint64_t longest_comment = 0xffff;
constexpr uint32_t in_extra_field = 0xffffffff;  // a size or an offset that stands in the ZIP64 field
constexpr uint16_t zip64_field = 1, encrypted = 1, stored = 0, deflated = 8;
constexpr uint16_t version_of_zip64 = 45, utf8_names = 1 << 11, first_day = 1 << 5 | 1;  // 1980-01-01

// Little-endian numbers at places of a record.
struct Record {
  const uint8_t *bytes;

  uint64_t number(uint64_t at, int width) const {
    uint64_t value = 0;
    for (int i = 0; i < width; ++i) value |= uint64_t{bytes[at + static_cast<uint64_t>(i)]} << (8 * i);
    return value;
  }
  uint16_t u16(uint64_t at) const { return static_cast<uint16_t>(number(at, 2)); }
  uint32_t u32(uint64_t at) const { return static_cast<uint32_t>(number(at, 4)); }
  uint64_t u64(uint64_t at) const { return number(at, 8); }
};

void append(std::string &to, uint64_t value, int width) {
  for (int i = 0; i < width; ++i) to += static_cast<char>(value >> (8 * i));
}

// The numbers that stand in the ZIP64 field, for those that the directory has no room for, in their order.
void read_zip64_field(Record extra, uint64_t length, const std::array<uint64_t *, 3> &places, const std::string &who) {
  uint64_t at = 0;
  while (at + 4 <= length && extra.u16(at) != zip64_field) at += 4 + extra.u16(at + 2);
  const uint64_t end = at + 4 <= length ? std::min(length, at + 4 + extra.u16(at + 2)) : 0;
  at += 4;
  for (uint64_t *place : places) {
    if (*place != in_extra_field) continue;
    if (at + 8 > end) fail(who, " lacks its ZIP64 sizes");
    *place = extra.u64(at);
    at += 8;
  }
}

// zlib counts in 32 bits: data goes through it in parts.
constexpr uint64_t part = uint64_t{1} << 30;

uint32_t checksum_of(const std::vector<uint8_t> &bytes) {
  uLong sum = crc32(0, nullptr, 0);
  for (uint64_t at = 0; at < bytes.size(); at += part)
    sum = crc32(sum, bytes.data() + at, static_cast<uInt>(std::min<uint64_t>(part, bytes.size() - at)));
  return static_cast<uint32_t>(sum);
}

// Moves all of `from` through inflate() or deflate() into `to`, at most `limit` bytes; false where it does not fit or
// does not end there. `to` grows with what is made, so that a size that is only claimed takes no memory.
template <typename Turn>
bool turn_all(z_stream &z, const Turn &turn, const std::vector<uint8_t> &from, std::vector<uint8_t> &to,
              uint64_t limit) {
  constexpr uint64_t least = 1 << 16;
  uint64_t taken = 0, made = 0;
  int state = Z_OK;
  while (state == Z_OK) {
    if (made == to.size()) to.resize(std::min(limit, std::max(least, 2 * made)));
    z.next_in = const_cast<Bytef *>(from.data() + taken);
    z.avail_in = static_cast<uInt>(std::min<uint64_t>(part, from.size() - taken));
    z.next_out = to.data() + made;
    z.avail_out = static_cast<uInt>(std::min<uint64_t>(part, to.size() - made));
    const uInt had = z.avail_in, room = z.avail_out;
    state = turn(&z, taken + had == from.size() ? Z_FINISH : Z_NO_FLUSH);
    taken += had - z.avail_in;
    made += room - z.avail_out;
    // Out of room or of data for this part only: there is more.
    if (state == Z_BUF_ERROR && (had - z.avail_in > 0 || room - z.avail_out > 0)) state = Z_OK;
  }
  to.resize(made);
  return state == Z_STREAM_END && taken == from.size();
}

std::vector<uint8_t> inflated(const std::vector<uint8_t> &packed, uint64_t bytes, const std::string &who) {
  z_stream z = {};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) fail("out of memory for zlib");
  std::vector<uint8_t> plain;
  const bool good = turn_all(z, inflate, packed, plain, bytes + 1);  // one more, to see that nothing comes after
  inflateEnd(&z);
  if (!good || plain.size() != bytes)
    fail(who, " is damaged: it does not unpack to the ", bytes, " bytes that its directory says");
  return plain;
}

std::vector<uint8_t> deflated_bytes(const std::vector<uint8_t> &plain) {
  z_stream z = {};
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    fail("out of memory for zlib");
  std::vector<uint8_t> packed;
  const bool good = turn_all(z, deflate, plain, packed, UINT64_MAX);
  deflateEnd(&z);
  if (!good) fail("zlib cannot deflate ", plain.size(), " bytes");
  return packed;
}

}  // namespace

ZipReader::ZipReader(const std::string &path) : file_(path) { read_directory(find_directory()); }

// The archive's last record tells where its directory is. A comment may follow it.
ZipReader::Directory ZipReader::find_directory() const {
  const uint64_t tail = std::min(file_.size(), end_bytes + longest_comment + locator_bytes);
  std::vector<uint8_t> bytes(tail);
  file_.read(bytes.data(), tail, file_.size() - tail);
  const Record r = {bytes.data()};
  for (uint64_t back = end_bytes; back <= tail; ++back) {
    const uint64_t at = tail - back;
    if (r.u32(at) != end_mark || at + end_bytes + r.u16(at + 20) != tail) continue;
    Directory d = {r.u16(at + 10), r.u32(at + 12), r.u32(at + 16)};
    const bool wide = at >= locator_bytes && r.u32(at - locator_bytes) == locator_mark;
    if (wide) {
      const uint64_t where = r.u64(at - locator_bytes + 8);
      if (file_.size() < end64_bytes || where > file_.size() - end64_bytes)
        fail(file_.path(), " is damaged: its ZIP64 directory lies outside of it");
      std::array<uint8_t, end64_bytes> end64 = {};
      file_.read(end64.data(), end64_bytes, where);
      const Record w = {end64.data()};
      if (w.u32(0) != end64_mark) fail(file_.path(), " is damaged: it has no ZIP64 directory where it says");
      d = {w.u64(32), w.u64(40), w.u64(48)};
    }
    if (d.offset > file_.size() || d.bytes > file_.size() - d.offset || d.entries > d.bytes / entry_bytes)
      fail(file_.path(), " is damaged: its directory lies outside of it");
    return d;
  }
  fail(file_.path(), " is not a ZIP archive, or is truncated");
}

void ZipReader::read_directory(const Directory &directory) {
  std::vector<uint8_t> bytes(directory.bytes);
  file_.read(bytes.data(), bytes.size(), directory.offset);
  uint64_t at = 0, packed = 0;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    const std::string number = file_.path() + ": entry " + std::to_string(i);
    const Record r = {bytes.data() + at};
    if (bytes.size() - at < entry_bytes || r.u32(0) != entry_mark) fail(number, " of the directory is damaged");
    const uint64_t name = r.u16(28), extra = r.u16(30), comment = r.u16(32);
    if (bytes.size() - at - entry_bytes < name + extra + comment) fail(number, " of the directory is damaged");
    ZipEntry e = {{}, r.u32(24), r.u32(20), r.u32(42), r.u32(16), r.u16(10) == deflated};
    e.name.assign(reinterpret_cast<const char *>(r.bytes) + entry_bytes, name);
    const std::string who = file_.path() + ": '" + e.name + "'";
    if (r.u16(8) & encrypted) fail(who, " is encrypted");
    if (r.u16(10) != stored && r.u16(10) != deflated)
      fail(who, " is packed by method ", r.u16(10), "; only stored and deflated entries are read");
    read_zip64_field({r.bytes + entry_bytes + name}, extra, {&e.bytes, &e.packed_bytes, &e.offset}, who);
    if (e.offset > directory.offset || e.packed_bytes > directory.offset - e.offset)
      fail(who, " is truncated: its ", e.packed_bytes, " bytes lie outside of the file");
    if (e.deflated ? e.bytes / deflate_expansion > e.packed_bytes : e.bytes != e.packed_bytes)
      fail(who, " claims ", e.bytes, " bytes; its ", e.packed_bytes, " in the file cannot hold them");
    packed += e.packed_bytes;
    if (packed > file_.size()) fail(who, " is damaged: entries overlap");
    entries_.push_back(std::move(e));
    at += entry_bytes + name + extra + comment;
  }
}

std::vector<uint8_t> ZipReader::read(const ZipEntry &e) const {
  const std::string who = file_.path() + ": '" + e.name + "'";
  std::array<uint8_t, local_bytes> head = {};
  file_.read(head.data(), local_bytes, e.offset);
  const Record r = {head.data()};
  if (r.u32(0) != local_mark) fail(who, " is damaged: it does not begin where the directory says");
  std::vector<uint8_t> packed(e.packed_bytes);
  file_.read(packed.data(), packed.size(), e.offset + local_bytes + r.u16(26) + r.u16(28));
  std::vector<uint8_t> plain = e.deflated ? inflated(packed, e.bytes, who) : std::move(packed);
  if (checksum_of(plain) != e.checksum) fail(who, " is damaged: its checksum is another");
  return plain;
}

void ZipWriter::add(const std::string &name, const std::vector<uint8_t> &contents) {
  if (name.size() > 0xffff) fail("cannot write ", path_, ": a name of ", name.size(), " characters");
  const std::vector<uint8_t> packed = deflate_ ? deflated_bytes(contents) : contents;
  // Sizes always stand in the ZIP64 field too, as NumPy writes them: one form for all entries.
  std::string shared, sizes, local, extra;
  append(shared, version_of_zip64, 2);
  append(shared, utf8_names, 2);
  append(shared, deflate_ ? deflated : stored, 2);
  append(shared, 0, 2);  // the time
  append(shared, first_day, 2);
  append(shared, checksum_of(contents), 4);
  append(shared, in_extra_field, 4);
  append(shared, in_extra_field, 4);
  append(shared, name.size(), 2);
  append(sizes, contents.size(), 8);
  append(sizes, packed.size(), 8);

  append(local, local_mark, 4);
  local += shared;
  append(local, 4 + sizes.size(), 2);
  append(extra, zip64_field, 2);
  append(extra, sizes.size(), 2);
  local += name + extra + sizes;
  file_.write(local.data(), local.size());
  file_.write(packed.data(), packed.size());

  append(directory_, entry_mark, 4);
  append(directory_, version_of_zip64, 2);
  directory_ += shared;
  append(directory_, 4 + sizes.size() + 8, 2);
  directory_.append(2 + 2 + 2 + 4, '\0');  // no comment, the first disk, no attributes
  append(directory_, in_extra_field, 4);
  directory_ += name;
  append(directory_, zip64_field, 2);
  append(directory_, sizes.size() + 8, 2);
  directory_ += sizes;
  append(directory_, offset_, 8);
  offset_ += local.size() + packed.size();
  ++entries_;
}

void ZipWriter::commit() {
  std::string end = directory_;
  append(end, end64_mark, 4);
  append(end, end64_bytes - 12, 8);
  append(end, version_of_zip64, 2);
  append(end, version_of_zip64, 2);
  append(end, 0, 8);  // one disk
  append(end, entries_, 8);
  append(end, entries_, 8);
  append(end, directory_.size(), 8);
  append(end, offset_, 8);
  append(end, locator_mark, 4);
  append(end, 0, 4);
  append(end, offset_ + directory_.size(), 8);
  append(end, 1, 4);
  append(end, end_mark, 4);
  append(end, 0, 4);
  append(end, std::min<uint64_t>(entries_, 0xffff), 2);
  append(end, std::min<uint64_t>(entries_, 0xffff), 2);
  append(end, std::min<uint64_t>(directory_.size(), in_extra_field), 4);
  append(end, std::min<uint64_t>(offset_, in_extra_field), 4);
  append(end, 0, 2);
  file_.write(end.data(), end.size());
  file_.commit();
}

}  // namespace saltern
