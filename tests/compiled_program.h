#pragma once
// C programs that use a compiled model: written, built by the C compiler alone, and run.

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "generators/model/toolchain.h"
#include "tests/graph_builder.h"

namespace saltern {

// A C text in which @ stands for the model's name.
inline std::string for_model(const char *text, const std::string &name) {
  std::string all = text;
  for (size_t at = 0; (at = all.find('@', at)) != std::string::npos;) all.replace(at, 1, name);
  return all;
}

inline void write_text(const std::string &path, const std::string &text) { std::ofstream(path) << text; }

inline std::vector<float> read_floats(const std::string &path) {
  std::vector<float> all(std::filesystem::file_size(path) / sizeof(float));
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char *>(all.data()), static_cast<std::streamsize>(all.size() * sizeof(float)));
  return all;
}

inline std::map<std::string, Tensor> random_inputs(const Graph &graph) {
  std::map<std::string, Tensor> inputs;
  for (const std::string &i : graph.inputs) inputs[i] = random_tensor(graph.value(i).shape, 100 + inputs.size());
  return inputs;
}

// FOLDER/main of FOLDER/main.c and libraries, as strict C99.
inline void build_program(const std::string &folder, const std::vector<std::string> &libraries) {
  std::vector<std::string> command = {"cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "main.c", "-o", "main"};
  command.insert(command.end(), libraries.begin(), libraries.end());
  for (const char *system : {"-lm", "-lpthread"}) command.emplace_back(system);
  generators::run_program(command, folder);
}

// Runs FOLDER/main, which reads the inputs from the file "in" and writes the outputs to "out".
inline std::vector<float> run_compiled(const Graph &graph, const std::map<std::string, Tensor> &inputs,
                                       const generators::TemporaryFolder &folder) {
  std::ofstream in(folder.file("in"), std::ios::binary);
  for (const std::string &i : graph.inputs)
    in.write(static_cast<const char *>(inputs.at(i).raw()), static_cast<std::streamsize>(inputs.at(i).bytes()));
  in.close();
  generators::run_program({"./main"}, folder.path());
  return read_floats(folder.file("out"));
}

}  // namespace saltern
