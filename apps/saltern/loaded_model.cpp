#include "apps/saltern/loaded_model.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "apps/saltern/command.h"
#include "apps/saltern/constant_input.h"
#include "apps/saltern/file_kind.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/open_sizes.h"
#include "runtime/graph/text.h"
#include "runtime/onnx/export.h"
#include "runtime/onnx/flat_values.h"
#include "runtime/onnx/infer_shapes.h"
#include "runtime/onnx/optimize.h"

namespace saltern {

namespace {

using Shapes = std::map<std::string, Shape>;

bool is_element(const Graph &graph, const std::string &name) {
  return std::any_of(graph.inputs.begin(), graph.inputs.end(),
                     [&](const std::string &i) { return is_sequence(graph.value(i)) && is_element_of(name, i); });
}

void print_note(const std::string &note) { std::fprintf(stderr, "saltern: %s\n", note.c_str()); }

}  // namespace

void check_is_input(const Graph &graph, const std::string &name, const char *option) {
  if (std::find(graph.inputs.begin(), graph.inputs.end(), name) == graph.inputs.end())
    fail(option, ": the model has no input '", name, "'");
}

LoadedModel::LoadedModel(const ModelOptions &o) : shapes_(o.given_shapes()) {
  on_input([&] {
    // What is not there would be what its name says.
    const bool named_onnx = std::filesystem::path(o.path).extension() == ".onnx";
    const FileKind kind = std::filesystem::exists(o.path) ? kind_of_file(o.path)
                          : named_onnx                    ? FileKind::other
                                                          : FileKind::safetensors;
    is_onnx_ = kind != FileKind::safetensors;
    // ONNX has no mark of its own.
    if (is_onnx_ && kind != FileKind::other)
      fail(o.path, " is no model: it is ", to_string(kind), "; expected ONNX, or a net that was saved here");
    if (!is_onnx_) {
      if (!o.constants.empty()) fail("--constant is for ONNX files");
      net_ = load_model(o.path);
      model_.graph = with_names(net_);
    } else {
      model_ = load_onnx(o.path);
    }
    for (const auto &[name, shape] : shapes_)
      if (!is_element(model_.graph, name)) check_is_input(model_.graph, name, "--shape");
    for (const std::string &c : o.constants) fix_input(model_, c);
  });
}

Model LoadedModel::onnx() const { return is_onnx_ ? model_ : onnx_of(net_); }

HostValues LoadedModel::run(const HostValues &inputs) const {
  if (is_onnx_) {
    return on_input([&] {
      expect_room(model_, flat_shapes(inputs));
      return run_model(model_, inputs);
    });
  }
  return on_input([&] {
    HostValues outputs;
    for (const auto &[name, t] : saltern::run(net_, tensors_of(inputs))) outputs[name] = t;
    return outputs;
  });
}

HostValues LoadedModel::run_in_integers(const HostValues &inputs) const {
  return on_input([&] {
    expect_room(model_, flat_shapes(inputs));
    return run_model(with_integer_products(model_), inputs);
  });
}

// Shapes that are known before allow more than those that are not.
Graph LoadedModel::lowered_onnx(const Shapes &shapes, const LoweringLimits &limits) const {
  return lower_model(optimized(with_integer_products(with_shapes(model_, shapes))), shapes, limits, print_note);
}

Graph LoadedModel::lowered(const Shapes &given, const LoweringLimits &limits) const {
  return on_input([&] {
    Shapes shapes = shapes_;
    for (const auto &[name, shape] : given) shapes[name] = shape;
    return is_onnx_ ? lowered_onnx(shapes, limits) : net_for(shapes);
  });
}

Graph LoadedModel::net_for(const Shapes &given) const {
  for (const auto &[name, shape] : given)
    if (!model_.graph.value(name).can_be(shape))
      fail("the input '", name, "' is ", shape_text(model_.graph.value(name)), "; given was ", to_string(shape));
  Shapes shapes = given;
  for (const std::string &name : model_.graph.inputs) {
    const Graph::Value &v = model_.graph.value(name);
    const Shape &shape = shapes.emplace(name, v.shape).first->second;
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] < 0)
        fail("extent ", d, " (", v.symbols[d], ") of the input '", name, "' is open: --shape ", name, "=... gives it");
  }
  return at_sizes(net_, sizes_of(net_, shapes));
}

Graph LoadedModel::lowered_for_batch(const std::string &batch, int64_t samples) const {
  return on_input([&] {
    Shapes given = shapes_;
    for (const std::string &name : inputs()) {
      const Graph::Value &v = model_.graph.value(name);
      if (v.container != Graph::Container::tensor) fail("--dynamic ", batch, ": the input '", name, "' is no tensor");
      Shape &shape = given.emplace(name, v.shape).first->second;
      if (shape.empty()) fail("--dynamic ", batch, ": the input '", name, "' has no dimensions");
      for (size_t d = 1; d < v.symbols.size(); ++d)
        if (v.symbols[d] == batch)
          fail("--dynamic ", batch, ": it is dimension ", d, " of '", name, "'; expected the first");
      if (batch != "batch" && !v.symbols.empty() && v.symbols[0] != batch)
        fail("--dynamic ", batch, ": the first dimension of '", name, "' is called '", v.symbols[0], "'");
      if (v.ranked && v.shape[0] >= 0)
        fail("--dynamic ", batch, ": the model fixes the first dimension of '", name, "' to ", v.shape[0]);
      shape[0] = -1;
      for (size_t d = 1; d < shape.size(); ++d)
        if (shape[d] < 0) fail("the input '", name, "' leaves dimension ", d, " open: --shape ", name, "=... gives it");
    }
    if (is_onnx_) {
      Model open = with_shapes(model_, given);
      for (const std::string &name : inputs()) open.graph.values.at(name).symbols = {batch};
      expect_no_decision_by_sizes(open);
    }
    for (const std::string &name : inputs()) given.at(name)[0] = samples;
    return is_onnx_ ? lowered_onnx(given, {}) : net_for(given);
  });
}

std::map<std::string, Tensor> tensors_of(const HostValues &values) {
  std::map<std::string, Tensor> tensors;
  for (const auto &[name, value] : values) {
    if (!value.is_tensor()) unsupported("'", name, "' is not a tensor");
    tensors[name] = value.tensor();
  }
  return tensors;
}

}  // namespace saltern
