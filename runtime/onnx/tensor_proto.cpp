#include "runtime/onnx/tensor_proto.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>

#include "runtime/files/file.h"
#include "runtime/onnx/operators/lowering.h"
#include "runtime/tensor/element.h"

namespace saltern {

namespace {

using onnx::TensorProto;

// Elements of less than a byte stand several to a byte in a file, the first in the low bits.
int elements_in_byte(Type type) { return facts(type).bits == 4 ? 2 : facts(type).bits == 2 ? 4 : 1; }

int64_t packed_bytes(Type type, int64_t count) {
  const int in_byte = elements_in_byte(type);
  return (count + in_byte - 1) / in_byte * facts(type).bytes();
}

void unpack(const Tensor &to, const uint8_t *from) {
  const int in_byte = elements_in_byte(to.type()), bits = facts(to.type()).bits, mask = (1 << bits) - 1;
  const bool is_signed = facts(to.type()).kind == TypeFacts::Kind::integer;
  auto *t = static_cast<uint8_t *>(to.raw());
  for (int64_t i = 0; i < to.size(); ++i) {
    int v = from[i / in_byte] >> (i % in_byte * bits) & mask;
    if (is_signed && v > mask / 2) v -= mask + 1;
    t[i] = static_cast<uint8_t>(v);
  }
}

std::string packed(const Tensor &from) {
  const int in_byte = elements_in_byte(from.type()), bits = facts(from.type()).bits, mask = (1 << bits) - 1;
  std::string all(static_cast<size_t>(packed_bytes(from.type(), from.size())), '\0');
  const auto *f = static_cast<const uint8_t *>(from.raw());
  for (int64_t i = 0; i < from.size(); ++i)
    all[static_cast<size_t>(i / in_byte)] =
        static_cast<char>(all[static_cast<size_t>(i / in_byte)] | (f[i] & mask) << (i % in_byte * bits));
  return all;
}

// Any byte but 0 and 1 in a bool is undefined behaviour; in a file, all but 0 mean true.
void make_truth_values(const Tensor &t) {
  auto *at = static_cast<uint8_t *>(t.raw());
  for (int64_t i = 0; i < t.size(); ++i) at[i] = at[i] != 0;
}

void fill_from_bytes(const Tensor &t, const void *bytes, size_t count, const std::string &name) {
  const auto wanted = static_cast<size_t>(packed_bytes(t.type(), t.size()));
  if (count != wanted)
    fail("tensor '", name, "' of ", facts(t.type()).name, " ", to_string(t.shape()), " has ", count,
         " bytes; expected ", wanted);
  if (packs_elements(t.type()))
    unpack(t, static_cast<const uint8_t *>(bytes));
  else if (count > 0)
    std::memcpy(t.raw(), bytes, count);
  if (t.type() == Type::boolean) make_truth_values(t);
}

// Elements in the message's lists of numbers.
void fill_from_lists(const Tensor &t, const TensorProto &p) {
  const auto expect = [&](int count, int64_t wanted) {
    if (count != wanted)
      fail("tensor '", p.name(), "' of ", facts(t.type()).name, " ", to_string(t.shape()), " has ", count,
           " elements; expected ", wanted);
  };
  const auto fill = [&](auto *to, const auto &list) {
    expect(list.size(), t.size());
    std::transform(list.begin(), list.end(), to,
                   [](const auto &v) { return static_cast<std::remove_pointer_t<decltype(to)>>(v); });
  };
  if (packs_elements(t.type())) {
    expect(p.int32_data_size(), packed_bytes(t.type(), t.size()));
    std::vector<uint8_t> bytes(p.int32_data().begin(), p.int32_data().end());
    bytes.push_back(0);
    return unpack(t, bytes.data());
  }
  switch (t.type()) {
    case Type::f32:
      return fill(t.data<float>(), p.float_data());
    case Type::f64:
      return fill(t.data<double>(), p.double_data());
    case Type::i64:
      return fill(t.data<int64_t>(), p.int64_data());
    case Type::u64:
      return fill(t.data<uint64_t>(), p.uint64_data());
    case Type::u32:
      return fill(t.data<uint32_t>(), p.uint64_data());
    case Type::text:
      return fill(t.data<std::string>(), p.string_data());
    case Type::boolean:
      return fill(t.data<bool>(), p.int32_data());
    default:
      break;
  }
  switch (facts(t.type()).bytes()) {
    case 1:
      return fill(static_cast<uint8_t *>(t.raw()), p.int32_data());
    case 2:
      return fill(static_cast<uint16_t *>(t.raw()), p.int32_data());
    default:
      return fill(static_cast<int32_t *>(t.raw()), p.int32_data());
  }
}

struct External {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length = {};
};

uint64_t parse_size(const std::string &name, const std::string &key, const std::string &value) {
  if (value.empty() || value.size() > 18 || value.find_first_not_of("0123456789") != std::string::npos)
    fail("tensor '", name, "': the external ", key, " is '", value, "'; expected a number of bytes");
  return std::stoull(value);
}

External external_of(const TensorProto &p) {
  External e;
  for (const auto &entry : p.external_data()) {
    if (entry.key() == "location") e.location = entry.value();
    if (entry.key() == "offset") e.offset = parse_size(p.name(), "offset", entry.value());
    if (entry.key() == "length") e.length = parse_size(p.name(), "length", entry.value());
  }
  return e;
}

// Nothing but a plain file below the model's folder is read, whatever a model says: no absolute path, no way up, no
// link that leads out.
std::string external_path(const std::string &name, const std::string &folder, const std::string &location) {
  namespace fs = std::filesystem;
  const fs::path given(location);
  if (location.empty() || given.is_absolute() || location.find('\0') != std::string::npos)
    fail("tensor '", name, "': its data is in '", location, "'; expected a path below the model's folder");
  for (const fs::path &part : given)
    if (part == "..") fail("tensor '", name, "': its data is in '", location, "', outside the model's folder");
  std::error_code error;
  const fs::path root = fs::weakly_canonical(folder.empty() ? "." : folder, error);
  const fs::path path = fs::weakly_canonical(root / given, error);
  if (error || std::distance(root.begin(), root.end()) > std::distance(path.begin(), path.end()) ||
      !std::equal(root.begin(), root.end(), path.begin()))
    fail("tensor '", name, "': its data is in '", location, "', outside the model's folder");
  if (!fs::is_regular_file(path, error))
    fail("tensor '", name, "': there is no file '", location, "' beside the model");
  return path.string();
}

// Of large data, pages are mapped as they are needed: a model of many gigabytes starts at once. Kernels want alignment.
constexpr uint64_t smallest_mapped = uint64_t{1} << 20, mapped_alignment = 64;

Tensor external_tensor(const TensorProto &p, Type type, const Shape &shape, const std::string &folder) {
  if (type == Type::text) fail("tensor '", p.name(), "' of texts has external data");
  const External e = external_of(p);
  const InputFile file(external_path(p.name(), folder, e.location));
  const auto wanted = static_cast<uint64_t>(packed_bytes(type, elements(shape)));
  if (e.length && *e.length != wanted)
    fail("tensor '", p.name(), "': ", *e.length, " bytes in '", e.location, "'; expected ", wanted);
  if (e.offset > file.size() || wanted > file.size() - e.offset)
    fail("tensor '", p.name(), "': '", e.location, "' has ", file.size(), " bytes; expected ", wanted, " from ",
         e.offset, " on");
  if (wanted >= smallest_mapped && e.offset % mapped_alignment == 0 && !packs_elements(type) && type != Type::boolean) {
    const std::shared_ptr<void> map = file.mapped(wanted, e.offset);
    return Tensor::borrowed(map.get(), shape, type, dense_strides(shape, Layout::row_major), map);
  }
  const Tensor t = Tensor::empty(shape, type);
  if (packs_elements(type)) {
    std::vector<uint8_t> bytes(wanted + 1);
    file.read(bytes.data(), wanted, e.offset);
    unpack(t, bytes.data());
  } else {
    file.read(t.raw(), wanted, e.offset);
  }
  if (type == Type::boolean) make_truth_values(t);
  return t;
}

// How many elements the message itself can hold: an empty file must not make us allocate terabytes.
uint64_t held_elements(const TensorProto &p, Type type) {
  const auto in_byte = static_cast<uint64_t>(elements_in_byte(type));
  if (p.has_raw_data()) return p.raw_data().size() * in_byte;
  const int lists =
      p.float_data_size() + p.double_data_size() + p.int64_data_size() + p.uint64_data_size() + p.string_data_size();
  return static_cast<uint64_t>(lists) + static_cast<uint64_t>(p.int32_data_size()) * in_byte;
}

template <typename Message>
Message parsed_file(const std::string &path, const char *what) {
  const InputFile file(path);
  Message message;
  if (!message.ParseFromFileDescriptor(file.descriptor())) fail("it is not ", what);
  return message;
}

HostValue value_of(const onnx::SequenceProto &p) {
  HostValue::Sequence all;
  for (const auto &t : p.tensor_values()) all.emplace_back(tensor_of(t, ""));
  for (const auto &s : p.sequence_values()) all.push_back(value_of(s));
  for (const auto &o : p.optional_values())
    all.push_back(o.has_tensor_value() ? HostValue(tensor_of(o.tensor_value(), "")) : HostValue());
  if (p.map_values_size() > 0) unsupported("a sequence of maps");
  return HostValue(std::move(all));
}

onnx::MapProto map_proto(const HostValue::Map &map) {
  onnx::MapProto p;
  p.set_key_type(onnx_type(map.keys.type()));
  if (map.keys.type() == Type::text)
    for (int64_t i = 0; i < map.keys.size(); ++i) p.add_string_keys(map.keys.data<std::string>()[i]);
  else
    for (int64_t k : map.keys.integers()) p.add_keys(k);
  p.mutable_values()->set_elem_type(onnx::SequenceProto::TENSOR);
  for (int64_t i = 0; i < map.values.size(); ++i)
    *p.mutable_values()->add_tensor_values() = proto_of(map.values.slice(0, i, 1).viewed({}, {}), "");
  return p;
}

onnx::SequenceProto sequence_proto(const HostValue &value, const std::string &name) {
  onnx::SequenceProto p;
  p.set_name(name);
  p.set_elem_type(onnx::SequenceProto::TENSOR);
  for (const HostValue &v : value.sequence()) {
    if (v.is_map()) {
      p.set_elem_type(onnx::SequenceProto::MAP);
      *p.add_map_values() = map_proto(v.map());
    } else if (v.is_sequence()) {
      p.set_elem_type(onnx::SequenceProto::SEQUENCE);
      *p.add_sequence_values() = sequence_proto(v, "");
    } else {
      *p.add_tensor_values() = proto_of(v.tensor(), "");
    }
  }
  return p;
}

}  // namespace

bool packs_elements(Type type) { return elements_in_byte(type) > 1; }

Tensor tensor_of(const TensorProto &p, const std::string &folder) {
  const Type type = type_of_onnx(p.data_type());
  Shape shape(p.dims().begin(), p.dims().end());
  for (int64_t e : shape)
    if (e < 0) fail("tensor '", p.name(), "' has the shape ", to_string(shape));
  if (p.has_segment()) unsupported("tensor '", p.name(), "' in segments");
  const int64_t count = elements(shape);
  if (p.data_location() == TensorProto::EXTERNAL) return external_tensor(p, type, shape, folder);
  if (static_cast<uint64_t>(count) > held_elements(p, type))
    fail("tensor '", p.name(), "' of ", facts(type).name, " ", to_string(shape), " has data for fewer elements");
  const Tensor t = Tensor::empty(shape, type);
  if (p.has_raw_data() && type != Type::text)
    fill_from_bytes(t, p.raw_data().data(), p.raw_data().size(), p.name());
  else
    fill_from_lists(t, p);
  return t;
}

Tensor dense_tensor_of(const onnx::SparseTensorProto &p, const std::string &folder) {
  const Tensor values = tensor_of(p.values(), folder), indices = tensor_of(p.indices(), folder);
  const Shape shape(p.dims().begin(), p.dims().end());
  // A few bytes may claim any shape; nobody stores what has fewer than one value in thousands.
  const int64_t most = (int64_t{1} << 24) + 4096 * values.size();
  if (elements(shape) > most) fail("sparse tensor '", p.values().name(), "' of ", to_string(shape), " is too large");
  if (values.rank() != 1 || indices.type() != Type::i64 || indices.rank() < 1 || indices.rank() > 2 ||
      indices.extent(0) != values.size() ||
      (indices.rank() == 2 && indices.extent(1) != static_cast<int64_t>(shape.size())))
    fail("sparse tensor '", p.values().name(), "': indices of ", to_string(indices.shape()), " for values of ",
         to_string(values.shape()));
  const Tensor dense = Tensor::zeros(shape, values.type());
  const Shape strides = dense_strides(shape, Layout::row_major);
  const int64_t *at = indices.data<int64_t>();
  const auto width = static_cast<size_t>(facts(values.type()).bytes());
  for (int64_t i = 0; i < values.size(); ++i) {
    int64_t offset = indices.rank() == 1 ? at[i] : 0;
    if (indices.rank() == 2)
      for (size_t d = 0; d < shape.size(); ++d) {
        const int64_t index = at[i * static_cast<int64_t>(shape.size()) + static_cast<int64_t>(d)];
        if (index < 0 || index >= shape[d])
          fail("sparse tensor '", p.values().name(), "': index ", index, " is outside");
        offset += index * strides[d];
      }
    if (offset < 0 || offset >= dense.size())
      fail("sparse tensor '", p.values().name(), "': index ", offset, " is outside");
    std::memcpy(static_cast<char *>(dense.raw()) + static_cast<size_t>(offset) * width,
                static_cast<const char *>(values.raw()) + static_cast<size_t>(i) * width, width);
  }
  return dense;
}

TensorProto proto_of(const Tensor &tensor, const std::string &name) {
  const Tensor t = tensor.in_layout(Layout::row_major);
  TensorProto p;
  p.set_name(name);
  p.set_data_type(onnx_type(t.type()));
  for (int64_t e : t.shape()) p.add_dims(e);
  if (t.type() == Type::text)
    for (int64_t i = 0; i < t.size(); ++i) p.add_string_data(t.data<std::string>()[i]);
  else if (packs_elements(t.type()))
    p.set_raw_data(packed(t));
  else
    p.set_raw_data(t.raw(), t.bytes());
  return p;
}

HostValue read_value_file(const std::string &path, Graph::Container container) {
  using Container = Graph::Container;
  try {
    if (container == Container::tensor) return tensor_of(parsed_file<TensorProto>(path, "an ONNX tensor"), "");
    if (container == Container::sequence) return value_of(parsed_file<onnx::SequenceProto>(path, "an ONNX sequence"));
    const auto p = parsed_file<onnx::OptionalProto>(path, "an ONNX optional");
    if (p.has_tensor_value()) return tensor_of(p.tensor_value(), "");
    if (p.has_sequence_value()) return value_of(p.sequence_value());
    return {};
  } catch (const Unsupported &e) {
    unsupported(path, ": ", e.what());
  } catch (const Error &e) {
    fail(path, ": ", e.what());
  }
}

void write_value_file(const std::string &path, const HostValue &value, Graph::Container container,
                      const std::string &name) {
  std::string bytes;
  if (container == Graph::Container::optional || container == Graph::Container::optional_sequence) {
    onnx::OptionalProto p;
    p.set_name(name);
    p.set_elem_type(value.is_tensor()     ? onnx::OptionalProto::TENSOR
                    : value.is_sequence() ? onnx::OptionalProto::SEQUENCE
                                          : onnx::OptionalProto::UNDEFINED);
    if (value.is_tensor()) *p.mutable_tensor_value() = proto_of(value.tensor(), name);
    if (value.is_sequence()) *p.mutable_sequence_value() = sequence_proto(value, name);
    bytes = p.SerializeAsString();
  } else if (value.is_sequence()) {
    bytes = sequence_proto(value, name).SerializeAsString();
  } else {
    bytes = proto_of(value.tensor(), name).SerializeAsString();
  }
  AtomicFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

}  // namespace saltern
