#include "apps/saltern/model_data.h"

#include <algorithm>
#include <filesystem>

#include "apps/saltern/command.h"
#include "apps/saltern/value_facts.h"
#include "runtime/onnx/flat_values.h"
#include "runtime/onnx/tensor_proto.h"
#include "runtime/tensor/npy.h"
#include "runtime/tensor/npz.h"

namespace saltern {

namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

// What files and arrays of a model's inputs, or of its outputs, are called.
struct Naming {
  std::string word, brief;
  std::string numbered(size_t i) const { return word + "_" + std::to_string(i); }
  Names keys(const std::string &name, size_t i) const {
    return {name, brief + ":" + name, brief + "_" + std::to_string(i), numbered(i)};
  }
};

const Naming of_inputs = {"input", "in"}, of_outputs = {"output", "out"};

bool has_extension(const std::string &path, const char *extension) { return fs::path(path).extension() == extension; }

// Which of the names an array may stand for: several where one's name looks like another's number.
Names named_by(const std::string &key, const Names &names, const Naming &naming) {
  Names all;
  for (size_t i = 0; i < names.size(); ++i) {
    const Names keys = naming.keys(names[i], i);
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) all.push_back(names[i]);
  }
  return all;
}

HostValues from_npz(const Graph &graph, const Names &names, const Naming &naming, const std::string &path) {
  NpzOptions options;
  options.wants = [&](const std::string &key, Type type, const Shape &shape) {
    const Names meant = named_by(key, names, naming);
    // One archive may hold both; what is neither is a slip of the pen.
    if (meant.empty() && named_by(key, graph.inputs, of_inputs).empty() &&
        named_by(key, graph.outputs, of_outputs).empty())
      throw BadInput(path + ": the array '" + key + "' is neither an input nor an output of the model; its " +
                     naming.word + "s are" + value_lines(graph, names));
    if (meant.size() == 1 && naming.word == of_inputs.word) check_input(meant[0], graph.value(meant[0]), type, shape);
    return !meant.empty();
  };
  const std::map<std::string, Tensor> arrays = read_npz(path, options);
  HostValues found;
  for (size_t i = 0; i < names.size(); ++i)
    for (const std::string &key : naming.keys(names[i], i)) {
      const auto array = arrays.find(key);
      if (array != arrays.end()) found.emplace(names[i], array->second);
    }
  return found;
}

HostValues from_folder(const Graph &graph, const Names &names, const Naming &naming, const std::string &folder) {
  HostValues found;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string numbered = folder + "/" + naming.numbered(i);
    // A name may hold anything; one that leads to another folder names no file.
    const bool can_name_a_file = names[i].find('/') == std::string::npos;
    if (fs::exists(numbered + ".pb"))
      found[names[i]] = read_value_file(numbered + ".pb", graph.value(names[i]).container);
    else if (fs::exists(numbered + ".npy"))
      found[names[i]] = read_npy(numbered + ".npy");
    else if (can_name_a_file && fs::exists(folder + "/" + names[i] + ".npy"))
      found[names[i]] = read_npy(folder + "/" + names[i] + ".npy");
  }
  return found;
}

HostValues read_values(const Graph &graph, const Names &names, const Naming &naming, const std::string &path) {
  if (!fs::exists(path)) throw BadInput("there is no " + path);
  if (fs::is_directory(path)) return from_folder(graph, names, naming, path);
  if (has_extension(path, ".npz")) return from_npz(graph, names, naming, path);
  if (!has_extension(path, ".npy") && !has_extension(path, ".pb"))
    throw BadInput(path + ": expected a folder, .npz, .npy or .pb");
  if (names.size() != 1)
    throw BadInput(path + " is one value; the model's " + naming.word + "s are" + value_lines(graph, names));
  if (has_extension(path, ".npy")) return {{names[0], read_npy(path)}};
  return {{names[0], read_value_file(path, graph.value(names[0]).container)}};
}

}  // namespace

HostValues read_inputs(const Graph &graph, const Names &names, const std::string &path) {
  return on_input([&] {
    HostValues found = read_values(graph, names, of_inputs, path);
    for (size_t i = 0; i < names.size(); ++i) {
      const Graph::Value &v = graph.value(names[i]);
      if (found.count(names[i]))
        check_input(names[i], v, found.at(names[i]));
      else if (!is_optional(v))
        fail("the input '", names[i], "' is missing in ", path, ", as ", of_inputs.numbered(i), " or under its name");
    }
    return found;
  });
}

HostValues read_expected_outputs(const Graph &graph, const std::string &path) {
  return on_input([&] {
    HostValues found = read_values(graph, graph.outputs, of_outputs, path);
    if (found.empty())
      fail(path, " has no output_0.pb, ..., and no other outputs of the model, which are",
           value_lines(graph, graph.outputs));
    return found;
  });
}

void write_outputs(const Graph &graph, const HostValues &outputs, const std::string &path, const std::string &format) {
  const auto array = [&](const std::string &name) {
    const HostValue &v = outputs.at(name);
    if (!v.is_tensor()) throw BadInput("the output '" + name + "' is not a tensor: NumPy's files cannot hold it");
    return v.tensor();
  };
  const Names names = graph.asked();
  if (has_extension(path, ".npz")) {
    std::map<std::string, Tensor> arrays;
    for (const std::string &name : names) arrays[name] = array(name);
    return on_input([&] { write_npz(path, arrays); });
  }
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw BadInput("cannot make the folder " + path + ": " + error.message());
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string &name = names[i], file = path + "/" + of_outputs.numbered(i) + "." + format;
    if (format == "npy")
      on_input([&] { write_npy(file, array(name)); });
    else
      write_value_file(file, outputs.at(name), graph.value(name).container, name);
  }
}

}  // namespace saltern
