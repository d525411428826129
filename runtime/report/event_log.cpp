// Event files, which TensorBoard reads: records of an Event each (tensorflow/core/util/event.proto), framed as TFRecords:
//   u64 length, u32 masked CRC-32C of that, the bytes, u32 masked CRC-32C of these; little-endian.

#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>

#include "runtime/data/png.h"
#include "runtime/report/log_writer.h"
#include "runtime/report/protobuf_message.h"

namespace saltern {

namespace {

std::array<uint32_t, 256> remainders() {
  std::array<uint32_t, 256> table;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? 0x82f63b78u : 0);
    table[byte] = rest;
  }
  return table;
}

uint32_t masked_crc32c(const std::string &bytes) {
  static const std::array<uint32_t, 256> table = remainders();
  uint32_t crc = ~0u;
  for (const char c : bytes) crc = crc >> 8 ^ table[(crc ^ static_cast<uint8_t>(c)) & 0xff];
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

template <typename T>
std::string little_endian(T value) {
  return {reinterpret_cast<const char *>(&value), sizeof value};
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// A file name that no other has: two runs of one second may write into one folder.
std::string new_file(const std::string &folder) {
  const std::string stem = folder + "/events.out.tfevents." + std::to_string(static_cast<int64_t>(seconds_now())) +
                           ".saltern." + std::to_string(getpid());
  for (int number = 0;; ++number)
    if (const std::string path = stem + "." + std::to_string(number); !std::filesystem::exists(path)) return path;
}

// What the dashboards know a summary by.
ProtobufMessage metadata(const std::string &plugin) {
  ProtobufMessage data, all;
  data.text(1, plugin);
  return all.message(1, data);
}

// GraphDef: a node for each of ours, and for each input and constant.
ProtobufMessage graph_def(const Graph &graph) {
  std::map<std::string, std::string> made_by;  // values
  ProtobufMessage all;
  const auto add = [&](const std::string &name, const std::string &operation, const std::vector<std::string> &inputs) {
    ProtobufMessage node;
    node.text(1, name).text(2, operation);
    for (const std::string &i : inputs)
      if (const auto it = made_by.find(i); it != made_by.end()) node.text(3, it->second);
    all.message(1, node);
  };
  for (const std::string &name : graph.inputs) {
    add(name, "Input", {});
    made_by[name] = name;
  }
  for (const Graph::Node &n : graph.nodes) {
    for (const std::string &in : n.inputs)
      if (!in.empty() && !made_by.count(in) && graph.value(in).constant.defined()) {
        add(in, "Constant", {});
        made_by[in] = in;
      }
    add(n.outputs.at(0), n.operation, n.inputs);
    for (const std::string &out : n.outputs) made_by[out] = n.outputs[0];
  }
  ProtobufMessage versions;
  versions.integer(1, 1882);  // of GraphDef: TensorBoard asks for one
  return all.message(4, versions);
}

class EventLog : public LogWriter {
 public:
  EventLog(const std::string &folder, int64_t behind) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw FileError("cannot write logs to the folder " + folder + ": " + error.message());
    path_ = new_file(folder);
    out_ = std::fopen(path_.c_str(), "wb");
    if (!out_) throw FileError("cannot write " + path_);
    write(event(0).text(3, "brain.Event:2"));
    // Whoever reads drops what other files say of steps from here on.
    ProtobufMessage start;
    start.integer(1, 1);
    if (behind > 0) write(event(behind + 1).message(7, start));
  }
  ~EventLog() override { std::fclose(out_); }

  void scalar(const std::string &name, int64_t step, double value) override {
    ProtobufMessage v;
    summary(step, v.text(1, name).small_real(2, static_cast<float>(value)).message(9, metadata("scalars")));
  }
  void histogram(const std::string &name, int64_t step, const Histogram &h) override {
    ProtobufMessage spread, v;
    spread.real(1, h.least).real(2, h.largest).real(3, h.count).real(4, h.sum).real(5, h.sum_of_squares);
    // Each count goes with the upper edge of its bucket; an empty one before the first says where that begins.
    std::vector<double> counts = {0};
    counts.insert(counts.end(), h.counts.begin(), h.counts.end());
    if (!h.edges.empty()) spread.reals(6, h.edges).reals(7, counts);
    summary(step, v.text(1, name).message(5, spread).message(9, metadata("histograms")));
  }
  void picture(const std::string &name, int64_t step, const Tensor &pixels) override {
    const std::vector<uint8_t> png = encode_png(pixels);
    ProtobufMessage image, v;
    image.integer(1, pixels.extent(0))
        .integer(2, pixels.extent(1))
        .integer(3, pixels.rank() > 2 ? pixels.extent(2) : 1);
    image.text(4, std::string(png.begin(), png.end()));
    summary(step, v.text(1, name).message(4, image).message(9, metadata("images")));
  }
  void graph(const Graph &graph) override { write(event(0).text(4, graph_def(graph).bytes())); }
  void flush() override {
    if (std::fflush(out_) != 0) throw FileError("cannot write " + path_);
  }

 private:
  static ProtobufMessage event(int64_t step) {
    ProtobufMessage e;
    return e.real(1, seconds_now()).integer(2, step);
  }
  void summary(int64_t step, const ProtobufMessage &value) {
    ProtobufMessage s;
    write(event(step).message(5, s.message(1, value)));
  }
  void write(const ProtobufMessage &message) {
    const std::string length = little_endian<uint64_t>(message.bytes().size());
    const std::string record =
        length + little_endian(masked_crc32c(length)) + message.bytes() + little_endian(masked_crc32c(message.bytes()));
    if (std::fwrite(record.data(), 1, record.size(), out_) != record.size()) throw FileError("cannot write " + path_);
  }

  std::string path_;
  std::FILE *out_ = nullptr;
};

}  // namespace

std::unique_ptr<LogWriter> open_event_log(const std::string &folder, int64_t behind) {
  return std::make_unique<EventLog>(folder, behind);
}

}  // namespace saltern
