#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/saltern/best_classes.h"
#include "apps/saltern/command.h"
#include "apps/saltern/compiled_run.h"
#include "apps/saltern/loaded_model.h"
#include "apps/saltern/machine_options.h"
#include "apps/saltern/model_data.h"
#include "apps/saltern/picture_inputs.h"
#include "apps/saltern/value_facts.h"
#include "runtime/files/file.h"
#include "runtime/formula/computation.h"
#include "runtime/onnx/flat_values.h"
#include "runtime/report/progress.h"

namespace saltern {

namespace {

using Json = nlohmann::ordered_json;

struct RunOptions {
  std::string model, outputs, format = "pb", labels, list;
  std::vector<std::string> inputs;
  PictureOptions pictures;
  ThreadOptions threads;
  int top = 0;
  DeviceOption device;
  ConvolutionOption convolutions;
  bool compiled = false, json = false;

  UseDevice use_device() const {
    if (compiled) device.expect_cpu("--compiled", "--device " + device.name + " runs library kernels");
    return device.use();
  }
};

// Milliseconds since it was asked last.
class Stopwatch {
 public:
  double lap() {
    const auto now = Clock::now();
    const double passed = std::chrono::duration<double, std::milli>(now - last_).count();
    last_ = now;
    return passed;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

struct Run {
  HostValues inputs, outputs;
  double load_ms = 0, compile_ms = 0, run_ms = 0;
  int64_t interpreted = 0;  // formulas that no kernel was used for
};

HostValues given_inputs(const LoadedModel &model, const RunOptions &o) {
  const std::vector<std::string> names = model.inputs();
  if (o.inputs.empty()) {
    if (names.empty()) return {};
    throw BadInput("--inputs is required: " + o.model + " takes" + value_lines(model.graph(), names));
  }
  if (are_pictures(o.inputs)) {
    if (names.size() != 1)
      throw BadInput("pictures are for models of one input; this one takes" + value_lines(model.graph(), names));
    return {{names[0], picture_batch(model.graph(), names[0], o.inputs, o.pictures)}};
  }
  if (o.inputs.size() > 1) throw BadInput("--inputs: expected one folder or file, or pictures (.png, .jpg)");
  return read_inputs(model.graph(), names, o.inputs[0]);
}

Run run_model_of(const RunOptions &o, const LoadedModel &model, Stopwatch watch) {
  Run r;
  r.inputs = given_inputs(model, o);
  r.load_ms = watch.lap();
  if (!o.compiled) {
    const int64_t before = computation_counts().interpreter;
    r.outputs = model.run(r.inputs);
    for (const auto &[name, value] : r.outputs)
      if (value.is_tensor()) value.tensor().raw();  // from wherever it is
    r.interpreted = computation_counts().interpreter - before;
  } else {
    const generators::CompiledGraph compiled =
        compiled_here(model.lowered(flat_shapes(r.inputs)), threads(), o.convolutions);
    r.compile_ms = watch.lap();
    r.outputs = unflattened(model.graph(), model.graph().asked(), compiled.run(flat_tensors(r.inputs)));
  }
  r.run_ms = watch.lap();
  return r;
}

Json facts_of(const std::string &name, const HostValue &v) {
  if (v.is_tensor()) return value_facts(name, v.tensor().type(), v.tensor().shape());
  if (v.is_sequence()) return {{"name", name}, {"type", "sequence"}, {"length", v.sequence().size()}};
  return {{"name", name}, {"type", "nothing"}};
}

Json facts_of(const std::vector<std::string> &names, const HostValues &values) {
  Json all = Json::array();
  for (const std::string &n : names)
    if (values.count(n)) all.push_back(facts_of(n, values.at(n)));
  return all;
}

using Rows = std::vector<std::vector<ScoredClass>>;

void print_json(const RunOptions &o, const LoadedModel &model, const Run &r, const Rows &best) {
  Json line = {{"model", o.model},
               {"kernels", o.compiled ? "exact" : "library"},
               {"threads", threads()},
               {"inputs", facts_of(model.graph().given(), r.inputs)},
               {"outputs", facts_of(model.graph().asked(), r.outputs)},
               {"load_ms", r.load_ms}};
  if (!o.device.is_cpu())
    line["device"] = {{"name", o.device.name},
                      {"kernels_there", device_counts().on_device},
                      {"kernels_on_cpu", device_counts().on_cpu},
                      {"formulas_interpreted", r.interpreted},
                      {"why_on_cpu", kernels_without_device()}};
  if (o.compiled) line["compile_ms"] = r.compile_ms;
  line["run_ms"] = r.run_ms;
  for (const auto &row : best) {
    Json classes = Json::array();
    for (const ScoredClass &c : row) {
      classes.push_back({{"class", c.number}, {"score", c.score}});
      if (!c.label.empty()) classes.back()["label"] = c.label;
    }
    line["top"].push_back(classes);
  }
  // A label may be in any encoding.
  std::printf("%s\n", line.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

void print_text(const RunOptions &o, const LoadedModel &model, const Run &r, const Rows &best) {
  for (size_t n = 0; n < best.size(); ++n) {
    if (best.size() > 1)
      std::printf("%s\n", n < o.inputs.size() && are_pictures(o.inputs) ? o.inputs[n].c_str()
                                                                        : ("row " + std::to_string(n)).c_str());
    for (const ScoredClass &c : best[n])
      std::printf("%s%10.4f  %lld%s%s\n", best.size() > 1 ? "  " : "", c.score, static_cast<long long>(c.number),
                  c.label.empty() ? "" : "  ", c.label.c_str());
  }
  if (!best.empty() || !o.outputs.empty()) return;
  // Nothing else was asked for.
  for (const Json &v : facts_of(model.graph().asked(), r.outputs))
    std::printf("%s %s %s\n", v["name"].get<std::string>().c_str(), v["type"].get<std::string>().c_str(),
                v.contains("shape") ? v["shape"].dump().c_str() : "");
  std::printf("ran in %.3f ms\n", r.run_ms);
  if (!o.device.is_cpu())
    std::printf("%lld kernels ran on %s, %lld on the CPU, where %lld formulas were interpreted\n",
                static_cast<long long>(device_counts().on_device), o.device.name.c_str(),
                static_cast<long long>(device_counts().on_cpu), static_cast<long long>(r.interpreted));
}

int run(const RunOptions &o) {
  o.threads.use();
  const UseDevice device = o.use_device();
  const std::vector<std::string> labels = o.labels.empty() ? std::vector<std::string>() : read_labels(o.labels);
  if (!labels.empty() && o.top == 0) throw BadInput("--labels is for --top");
  const Stopwatch watch;
  const LoadedModel model(o.model);
  const Run r = run_model_of(o, model, watch);
  Rows best;
  if (o.top > 0) best = best_classes(r.outputs.at(model.graph().asked().at(0)).tensor(), o.top, labels);
  if (!o.outputs.empty()) write_outputs(model.graph(), r.outputs, o.outputs, o.format);
  if (o.json)
    print_json(o, model, r, best);
  else
    print_text(o, model, r, best);
  return 0;
}

// Every line is done whatever the others did: what went wrong stands beside its outputs.
int run_batch(const RunOptions &o) {
  o.threads.use();
  const UseDevice device = o.use_device();
  constexpr uint64_t most_bytes = uint64_t{1} << 30;
  const std::vector<uint8_t> bytes = read_file(o.list, most_bytes);
  std::istringstream list(std::string(bytes.begin(), bytes.end()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(list, line);)
    if (!line.empty()) lines.push_back(line);
  Progress bar("models", static_cast<int64_t>(lines.size()));
  int64_t done = 0, good = 0;
  for (const std::string &line : lines) {
    const size_t first = line.find('\t'), second = first == std::string::npos ? first : line.find('\t', first + 1);
    if (second == std::string::npos)
      throw BadInput(o.list + ": '" + line + "' is not MODEL, INPUTS and OUTPUTS between tabs");
    RunOptions one = o;
    one.model = line.substr(0, first);
    one.inputs = {line.substr(first + 1, second - first - 1)};
    one.outputs = line.substr(second + 1);
    std::string message;
    std::error_code error;
    std::filesystem::create_directories(one.outputs, error);  // what went wrong stands there, too
    if (error) throw BadInput("cannot make the folder " + one.outputs + ": " + error.message());
    const int code = exit_code_of(
        [&] {
          const LoadedModel model(one.model);
          write_outputs(model.graph(), run_model_of(one, model, {}).outputs, one.outputs, one.format);
          return 0;
        },
        message);
    if (!message.empty()) write_atomically(one.outputs + "/log", message + "\n");
    write_atomically(one.outputs + "/STATUS", std::to_string(code) + "\n");
    good += code == 0;
    bar.update(++done);
  }
  if (o.json) std::printf("%s\n", Json{{"models", done}, {"good", good}, {"failed", done - good}}.dump().c_str());
  return 0;
}

void add_run_options(CLI::App &app, RunOptions &o) {
  o.threads.add_to(app);
  app.add_flag("--compiled", o.compiled,
               "Compile the model for the shapes of its inputs first, or take it from the cache");
  o.convolutions.add_to(app)->needs("--compiled");
  o.device.add_to(app);
  app.add_flag("--json", o.json, "One line of JSON");
}

}  // namespace

void define_run(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<RunOptions>();
  app.add_option("MODEL", o->model, "An ONNX file, or a net that was traced and saved")->required();
  app.add_option(
      "--inputs", o->inputs,
      "A folder of input_0.pb, ... or .npy files, an .npz file by the inputs' names, or pictures (.png, .jpg)");
  app.add_option("--outputs", o->outputs, "A folder for output_0.pb, ..., made if need be; or an .npz file");
  app.add_option("--format", o->format, "Of the files in that folder: pb or npy")
      ->check(CLI::IsMember({"pb", "npy"}))
      ->capture_default_str();
  app.add_option("--top", o->top, "Print so many classes with the highest scores in the first output")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--labels", o->labels, "A text file with the name of one class a line");
  add_run_options(app, *o);
  o->pictures.add_to(app);
  app.footer(
      "  saltern run model.onnx --inputs data.npz --outputs out.npz\n"
      "  saltern run resnet50.onnx --inputs cat.png --resize 256 --crop 224 --mean 0.485,0.456,0.406\n"
      "      --std 0.229,0.224,0.225 --top 5 --labels imagenet.txt");
  app.callback([o, &app, &chosen] {
    chosen = [o, &app] {
      expect_no_picture_options(app, are_pictures(o->inputs) ? "" : "the inputs are arrays, and not pictures");
      if (app.get_option("--format")->count() > 0 &&
          (o->outputs.empty() || std::filesystem::path(o->outputs).extension() == ".npz"))
        throw BadInput("--format: --outputs is no folder");
      return run(*o);
    };
  });
}

void define_run_batch(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<RunOptions>();
  app.add_option("LIST", o->list, "A file of lines MODEL, INPUTS, OUTPUTS with tabs between; each gets OUTPUTS/STATUS")
      ->required();
  add_run_options(app, *o);
  app.callback([o, &chosen] { chosen = [o] { return run_batch(*o); }; });
}

}  // namespace saltern
