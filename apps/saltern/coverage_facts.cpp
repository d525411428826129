#include "apps/saltern/coverage_facts.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>
#include <sstream>

#include "generators/targets.h"
#include "runtime/nn/all.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/walk.h"

namespace saltern {

namespace {

using Operations = std::vector<const Operation *>;

std::string yes_if(bool truth) { return truth ? "yes" : "no"; }

// Those that C++ has functions for.
const std::set<std::string> &layers_in_cpp() {
#define SALTERN_NAME(NAME) #NAME,
  static const std::set<std::string> all = {SALTERN_FOR_EACH_LAYER(SALTERN_NAME)};
#undef SALTERN_NAME
  return all;
}

// What a layer applied when it was tried.
struct Tried {
  bool onnx = false;
  Operations operations;
};

std::map<std::string, Tried> read_tried_layers() {
  std::map<std::string, Tried> all;
  std::istringstream text(coverage_texts().at(tried_layers));
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string name, onnx;
    if (!(words >> name >> onnx) || name == "#") continue;
    Tried &t = all[name];
    t.onnx = onnx == "onnx";
    for (std::string word; words >> word;)
      if (const Operation *o = find_operation(word)) t.operations.push_back(o);
  }
  return all;
}

}  // namespace

struct Coverage::Tables {
  std::map<std::string, bool> has_gpu;  // kernels
  std::map<std::string, Tried> tried = read_tried_layers();

  Tables() {
    for (const generators::KernelTargets &k : generators::all_kernel_targets()) has_gpu[k.name] = k.why_no_gpu.empty();
  }

  // ---- The tables that a list may ask; nothing where they do not know the name.

  bool layers(const std::string &name, CoverageFacts &f) const {
    if (!nn::find_layer(name)) return false;
    f.here = "layer " + name;
    f.cpp = yes_if(layers_in_cpp().count(name) > 0);
    f.python = "yes";  // whose classes are the rows
    if (const auto t = tried.find(name); t != tried.end()) {
      applied(t->second.operations, f);
      f.onnx_in = f.onnx_out = yes_if(t->second.onnx);
    }
    return true;
  }

  bool functions(const std::string &name, CoverageFacts &f) const {
    const nn::Function *function = nn::find_function(name);
    if (!function) return false;
    f.here = "function " + name;
    f.cpp = f.python = "yes";  // by its name, both
    Operations all;
    if (const Operation *named = find_operation(name))
      all = {named};
    else if (function->operation())
      all = {function->operation()};
    else if (const Tried *t = layer_of(*function))
      all = t->operations;
    applied(all, f);
    return true;
  }

  bool operators(const std::string &name, CoverageFacts &f) const {
    Graph::Node node;
    const size_t dot = name.rfind('.');  // behind the domain, where it is not ONNX's own
    node.operation = name.substr(dot + 1);
    node.domain = dot == std::string::npos ? "" : name.substr(0, dot);
    const bool walks = is_control_flow(node);
    const Operator *op = find_operator(node.domain, node.operation);
    if (!op && !walks) return false;
    const bool lowered = op && op->lower;
    f.here = "operator " + name;
    f.algorithm = walks ? "graphs" : lowered ? "formula" : "host";
    f.gradient = walks || lowered ? "derived" : "none";
    f.gpu = yes_if(lowered);
    f.onnx_in = f.onnx_out = "yes";  // whatever is read is written by `convert`
    return true;
  }

  bool updates(const std::string &optimizer, CoverageFacts &f) const {
    std::string name = optimizer;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    const Operation *o = find_operation(name);
    if (!o) return false;
    f.here = "update " + name;
    f.cpp = f.python = "yes";
    applied({o}, f);
    f.gradient = "";
    return true;
  }

 private:
  // Those without a formula and a kernel only say otherwise how a tensor is read.
  void applied(Operations all, CoverageFacts &f) const {
    if (all.empty()) return;
    const auto moves = [&](const Operation *o) { return !o->algorithm && has_gpu.count(o->name) == 0; };
    f.algorithm = "movement";
    all.erase(std::remove_if(all.begin(), all.end(), moves), all.end());
    if (all.empty()) return;
    const auto every = [&](const std::function<bool(const Operation &)> &is) {
      return std::all_of(all.begin(), all.end(), [&](const Operation *o) { return is(*o); });
    };
    const auto none = [&](const std::function<bool(const Operation &)> &is) {
      return std::none_of(all.begin(), all.end(), [&](const Operation *o) { return is(*o); });
    };
    const auto has_formula = [](const Operation &o) { return o.algorithm != nullptr; };
    const auto has_kernels = [](const Operation &o) { return o.has_kernels; };
    f.algorithm = every(has_formula) ? "formula" : none(has_formula) ? "kernel" : "formula, kernel";
    f.gradient = none([](const Operation &o) { return o.gradient != nullptr; })          ? "none"
                 : every([](const Operation &o) { return bool(o.gradient_is_derived); }) ? "derived"
                                                                                         : "explicit";
    f.kernel = every(has_kernels) ? "yes" : none(has_kernels) ? "no" : "partly";
    f.gpu = yes_if(every([&](const Operation &o) {
      const auto kernel = has_gpu.find(o.name);
      return kernel == has_gpu.end() ? o.algorithm != nullptr : kernel->second;
    }));
  }

  // A layer that calls it; null where none was tried.
  const Tried *layer_of(const nn::Function &f) const {
    for (const nn::LayerRow *row : nn::all_layers())
      if (const auto t = tried.find(row->name()); row->function() == &f && t != tried.end()) return &t->second;
    return nullptr;
  }
};

Coverage::Coverage() : tables_(std::make_unique<const Tables>()) {}
Coverage::~Coverage() = default;

CoverageFacts Coverage::of(const NameList &list, const ListedName &name) const {
  using Ask = bool (Tables::*)(const std::string &, CoverageFacts &) const;
  static const std::map<std::string, Ask> by_name = {{"layers", &Tables::layers},
                                                     {"functions", &Tables::functions},
                                                     {"operators", &Tables::operators},
                                                     {"updates", &Tables::updates}};
  CoverageFacts f;
  f.note = name.note;
  if (name.kind != ListedName::Kind::asked) return f;
  for (const std::string &table : list.asks) {
    const auto ask = by_name.find(table);
    if (ask == by_name.end()) fail(list.name, ".txt asks '", table, "', which is no table");
    f.works = ((*tables_).*ask->second)(name.here, f);
    if (f.works) break;
  }
  return f;
}

}  // namespace saltern
