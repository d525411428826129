#include "runtime/tensor/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "runtime/files/file.h"

namespace saltern {

namespace {

using nlohmann::json;

constexpr uint64_t prefix_bytes = 8;
constexpr uint64_t max_header_bytes = 100'000'000;  // the limit of the reference implementation
constexpr int max_json_depth = 4;                   // the header needs 3; deeper nesting only costs memory
const std::string metadata_key = "__metadata__";

// Where the header puts a tensor: [begin, end) after the header.
struct Entry {
  std::string name;
  Type type;
  Shape shape;
  uint64_t begin, end;
};

json parse_header(const std::string &path, const std::string &text) {
  std::set<std::string> names;
  const auto check = [&](int depth, json::parse_event_t event, json &value) {
    if (depth > max_json_depth) fail(path, ": the header is nested too deeply");
    if (event == json::parse_event_t::key && depth == 1 && !names.insert(value.get<std::string>()).second)
      fail(path, ": tensor '", value.get<std::string>(), "' appears twice in the header");
    return true;
  };
  try {
    return json::parse(text, check);
  } catch (const json::exception &e) {
    fail(path, ": the header is not valid JSON: ", e.what());
  }
}

Type parse_type(const std::string &where, const json &value) {
  if (!value.is_string()) fail(where, "dtype is missing or not a string");
  const auto name = value.get<std::string>();
  for (const TypeFacts &f : all_types())
    if (!name.empty() && f.safetensors_name == name) return f.type;
  fail(where, "dtype '", name, "' is not supported");
}

uint64_t parse_count(const std::string &where, const char *what, const json &value) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > INT64_MAX)
    fail(where, what, " holds ", value.dump(-1, ' ', true, json::error_handler_t::replace),
         ", not a whole number of 63 bits");
  return value.get<uint64_t>();
}

Entry parse_entry(const std::string &path, const std::string &name, const json &value, uint64_t data_bytes) {
  const std::string where = path + ": tensor '" + name + "': ";
  if (!value.is_object()) fail(where, "its description is not an object");
  const json shape = value.value("shape", json()), offsets = value.value("data_offsets", json());
  Entry e;
  e.name = name;
  e.type = parse_type(where, value.value("dtype", json()));
  if (!shape.is_array()) fail(where, "shape is missing or not an array");
  for (const json &extent : shape) e.shape.push_back(static_cast<int64_t>(parse_count(where, "shape", extent)));
  if (!offsets.is_array() || offsets.size() != 2) fail(where, "data_offsets is missing or not an array of two");
  e.begin = parse_count(where, "data_offsets", offsets[0]);
  e.end = parse_count(where, "data_offsets", offsets[1]);
  if (e.begin > e.end || e.end > data_bytes)
    fail(where, "data_offsets [", e.begin, ", ", e.end, ") lie outside the file, which holds ", data_bytes,
         " bytes of data");
  int64_t count = 0;
  try {
    count = elements(e.shape);
  } catch (const Error &error) {
    fail(where, error.what());
  }
  const uint64_t wanted = static_cast<uint64_t>(count) * static_cast<uint64_t>(facts(e.type).bytes());
  if (wanted != e.end - e.begin)
    fail(where, facts(e.type).name, to_string(e.shape), " needs ", wanted, " bytes, but data_offsets hold ",
         e.end - e.begin);
  return e;
}

// The format allows neither overlaps nor holes, so every byte of the file is spoken for once.
void expect_cover(const std::string &path, std::vector<Entry> &entries, uint64_t data_bytes) {
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t at = 0;
  for (const Entry &e : entries) {
    if (e.begin < at) fail(path, ": tensor '", e.name, "' overlaps the one before it at byte ", e.begin);
    if (e.begin > at) fail(path, ": bytes ", at, " to ", e.begin, " belong to no tensor");
    at = e.end;
  }
  if (at != data_bytes) fail(path, ": the last ", data_bytes - at, " bytes belong to no tensor");
}

std::map<std::string, std::string> parse_metadata(const std::string &path, const json &value) {
  if (!value.is_object()) fail(path, ": ", metadata_key, " is not an object");
  std::map<std::string, std::string> metadata;
  for (const auto &[key, text] : value.items()) {
    if (!text.is_string()) fail(path, ": metadata '", key, "' is not a string");
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

void expect_truth_values(const Tensor &t, const std::string &context) {
  const uint8_t *at = static_cast<const uint8_t *>(t.raw());
  for (int64_t i = 0; i < t.size(); ++i)  // any other byte in a bool is undefined behaviour
    if (at[i] > 1) fail(context, "element ", i, " is ", static_cast<int>(at[i]), ", not a truth value");
}

// Word's exponent bits, all set in infinities and NaN; the bits below them are 0 in infinities.
template <typename Word>
int64_t first_not_finite(const Tensor &t, Word exponent, bool infinite_too) {
  const Word *at = static_cast<const Word *>(t.raw());
  const auto fraction = static_cast<Word>((exponent & static_cast<Word>(-exponent)) - 1);
  for (int64_t i = 0; i < t.size(); ++i)
    if ((at[i] & exponent) == exponent && (infinite_too || (at[i] & fraction) != 0)) return i;
  return -1;
}

// Row-major position to indices.
Shape index_of(const Shape &shape, int64_t position) {
  Shape index(shape.size());
  for (size_t d = shape.size(); d-- > 0; position /= shape[d]) index[d] = position % shape[d];
  return index;
}

void expect_real(const Tensor &tensor, const std::string &context, bool finite, const char *fault) {
  const Tensor t = tensor.in_layout(Layout::row_major);
  const Type type = t.type();
  const int64_t position = type == Type::f32    ? first_not_finite<uint32_t>(t, 0x7f800000, finite)
                           : type == Type::f64  ? first_not_finite<uint64_t>(t, 0x7ff0000000000000, finite)
                           : type == Type::f16  ? first_not_finite<uint16_t>(t, 0x7c00, finite)
                           : type == Type::bf16 ? first_not_finite<uint16_t>(t, 0x7f80, finite)
                                                : -1;
  if (position >= 0) fail(context, "the element at ", to_string(index_of(t.shape(), position)), fault);
}

Checkpoint loaded(const ByteSource &file, const LoadOptions &options) {
  const std::string &path = file.path();
  if (file.size() < prefix_bytes) fail(path, " is truncated: a safetensors file has at least 8 bytes");
  uint64_t header_bytes = 0;
  file.read(&header_bytes, prefix_bytes, 0);
  if (header_bytes > max_header_bytes)
    fail(path, " claims a header of ", header_bytes, " bytes; at most ", max_header_bytes, " are allowed");
  if (header_bytes > file.size() - prefix_bytes)
    fail(path, " is truncated: it claims a header of ", header_bytes, " bytes and has ", file.size(), " in all");
  std::string text(header_bytes, ' ');
  file.read(text.data(), header_bytes, prefix_bytes);
  const json header = parse_header(path, text);
  if (!header.is_object()) fail(path, ": the header is not an object");

  Checkpoint checkpoint;
  const uint64_t data_begin = prefix_bytes + header_bytes, data_bytes = file.size() - data_begin;
  std::vector<Entry> entries;
  for (const auto &[name, value] : header.items()) {
    if (name == metadata_key)
      checkpoint.metadata = parse_metadata(path, value);
    else
      entries.push_back(parse_entry(path, name, value, data_bytes));
  }
  expect_cover(path, entries, data_bytes);

  for (const Entry &e : entries) {
    const Tensor t = Tensor::empty(e.shape, e.type);
    file.read(t.raw(), e.end - e.begin, data_begin + e.begin);
    const std::string where = path + ": tensor '" + e.name + "': ";
    if (e.type == Type::boolean) expect_truth_values(t, where);
    if (options.expect_finite) expect_finite(t, where);
    if (options.expect_numbers) expect_numbers(t, where);
    checkpoint.tensors[e.name] = t;
  }
  return checkpoint;
}

}  // namespace

void expect_finite(const Tensor &tensor, const std::string &context) {
  expect_real(tensor, context, true, " is not finite");
}
void expect_numbers(const Tensor &tensor, const std::string &context) {
  expect_real(tensor, context, false, " is not a number");
}

const Tensor &Checkpoint::expect(const std::string &name, const Shape &shape, Type type) const {
  const auto it = tensors.find(name);
  if (it == tensors.end()) fail("the checkpoint has no tensor '", name, "'");
  const Tensor &t = it->second;
  if (t.shape() != shape || t.type() != type)
    fail("tensor '", name, "' of the checkpoint is ", facts(t.type()).name, to_string(t.shape()), "; ",
         facts(type).name, to_string(shape), " was expected");
  return t;
}

void save_checkpoint(const std::string &path, const Checkpoint &checkpoint) {
  // Wide elements first keeps every tensor aligned in the file; JSON keeps the keys sorted.
  std::vector<std::pair<std::string, Tensor>> order(checkpoint.tensors.begin(), checkpoint.tensors.end());
  std::stable_sort(order.begin(), order.end(), [](const auto &a, const auto &b) {
    return facts(a.second.type()).bytes() > facts(b.second.type()).bytes();
  });
  json header = json::object();
  if (!checkpoint.metadata.empty()) header[metadata_key] = checkpoint.metadata;
  uint64_t at = 0;
  for (const auto &[name, tensor] : order) {
    if (name == metadata_key) fail("cannot save ", path, ": a tensor cannot be named ", metadata_key);
    if (!tensor.defined()) fail("cannot save ", path, ": tensor '", name, "' is undefined");
    if (facts(tensor.type()).safetensors_name.empty())
      fail("cannot save ", path, ": tensor '", name, "' is ", facts(tensor.type()).name, ", which safetensors has not");
    header[name] = {{"dtype", facts(tensor.type()).safetensors_name},
                    {"shape", tensor.shape()},
                    {"data_offsets", {at, at + tensor.bytes()}}};
    at += tensor.bytes();
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception &e) {
    fail("cannot save ", path, ": a name or metadata is not UTF-8: ", e.what());
  }
  text.resize((text.size() + prefix_bytes - 1) / prefix_bytes * prefix_bytes, ' ');
  if (text.size() > max_header_bytes) fail("cannot save ", path, ": the header would have ", text.size(), " bytes");

  const uint64_t header_bytes = text.size();
  AtomicFile file(path);
  file.write(&header_bytes, prefix_bytes);
  file.write(text.data(), text.size());
  for (const auto &[name, tensor] : order) file.write(tensor.in_layout(Layout::row_major).raw(), tensor.bytes());
  file.commit();
}

Checkpoint load_checkpoint(const std::string &path, const LoadOptions &options) {
  return loaded(InputFile(path), options);
}

Checkpoint decode_checkpoint(const std::vector<uint8_t> &bytes, const std::string &name, const LoadOptions &options) {
  return loaded(InputBytes(bytes, name), options);
}

}  // namespace saltern
