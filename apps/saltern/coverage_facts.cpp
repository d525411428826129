#include "apps/saltern/coverage_facts.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <iterator>
#include <set>
#include <sstream>

#include "generators/targets.h"
#include "runtime/metrics/metric.h"
#include "runtime/nn/all.h"
#include "runtime/onnx/operators/operators.h"
#include "runtime/onnx/walk.h"
#include "runtime/optim/schedules.h"
#include "runtime/transforms/transform.h"

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

using Words = std::vector<std::string>;

// What was found by trying (tests/python/tried.py says how its lines read).
struct Tried {
  struct Row {
    bool onnx = false;
    Operations operations;
  };
  std::map<std::string, Row> layers, functions;
  std::map<std::string, Words> classes;  // of operations
  std::map<std::string, std::set<std::string>> python;
  std::set<std::string> differentiated;  // operators of ONNX

  Tried() {
    std::istringstream text(coverage_texts().at(tried));
    for (std::string line; std::getline(text, line);) {
      std::istringstream in(line);
      Words words{std::istream_iterator<std::string>(in), {}};
      const std::string kind = words.at(0), name = words.at(1);
      const auto rest = [&](int from) { return Words(words.begin() + from, words.end()); };
      if (kind == "layer")
        layers[name] = {words.at(2) == "onnx", operations(rest(3))};
      else if (kind == "function")
        functions[name] = {false, operations(rest(2))};
      else if (kind == "operation")
        classes[name] = rest(2);
      else if (kind == "python")
        python[name].insert(words.begin() + 2, words.end());
      else if (kind == "gradient")
        differentiated.insert(words.begin() + 1, words.end());
      else
        fail(tried, " has a line that begins with '", kind, "'");
    }
  }

  static Operations operations(const Words &names) {
    Operations all;
    for (const std::string &n : names)
      if (const Operation *o = find_operation(n)) all.push_back(o);
    return all;
  }
};

// The module of Python that has the functions of a family.
std::string module_of(const std::string &family) {
  static const std::map<std::string, std::string> others = {{"", "saltern.nn.functional"},
                                                            {"init", "saltern.nn.init"},
                                                            {"windows", "saltern.signal.windows"},
                                                            {"complex", "saltern"}};
  const auto found = others.find(family);
  return found == others.end() ? "saltern." + family : found->second;
}

}  // namespace

struct Coverage::Tables {
  std::map<std::string, bool> has_gpu;  // kernels
  Tried found;

  Tables() {
    for (const generators::KernelTargets &k : generators::all_kernel_targets()) has_gpu[k.name] = k.why_no_gpu.empty();
  }

  // ---- The tables that a list may ask; nothing where they do not know the name.

  bool layers(const std::string &name, CoverageFacts &f) const {
    if (!nn::find_layer(name)) return false;
    f.here = "layer " + name;
    f.cpp = yes_if(layers_in_cpp().count(name) > 0);
    f.python = yes_if(is_in("saltern.nn", name));
    if (const auto t = found.layers.find(name); t != found.layers.end()) {
      applied(t->second.operations, f);
      f.onnx_in = f.onnx_out = yes_if(t->second.onnx);
    }
    return true;
  }

  bool functions(const std::string &name, CoverageFacts &f) const {
    const nn::Function *function = nn::find_function(name);
    if (!function) return false;
    const size_t dot = name.rfind('.');
    f.here = "function " + name;
    f.cpp = "yes";  // by nn::call, which was asked just now
    f.python = yes_if(is_in(module_of(dot == std::string::npos ? "" : name.substr(0, dot)), name.substr(dot + 1)));
    Operations all;
    if (const auto t = found.functions.find(name); t != found.functions.end())
      all = t->second.operations;
    else if (const Operation *named = find_operation(name))
      all = {named};
    else if (function->operation())
      all = {function->operation()};
    else if (const Tried::Row *t = layer_of(*function))
      all = t->operations;
    applied(all, f);
    return true;
  }

  bool keras(const std::string &name, CoverageFacts &f) const { return functions("keras." + name, f); }

  // What its package has beside rows: containers, and what is made of several rows.
  bool python(const std::string &name, CoverageFacts &f) const {
    for (const char *module : {"saltern.nn", "saltern.ops", "saltern", "saltern.training", "saltern.optim.lr_scheduler",
                               "saltern.optim.swa_utils", "saltern.keras.optimizers", "saltern.transforms"})
      if (is_in(module, name)) {
        f.here = std::string("Python ") + module + "." + name;
        f.python = "yes";
        return true;
      }
    return false;
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
    if (found.differentiated.count(name) > 0) f.gradient = "derived";
    f.onnx_in = f.onnx_out = "yes";  // whatever is read is written by `convert`
    return true;
  }

  bool updates(const std::string &name, CoverageFacts &f) const {
    const OptimizerRow *row = find_optimizer(name);
    if (!row || row->name != name) return false;
    f.here = "optimizer " + name;
    f.cpp = "yes";  // by optimizer(), or Lbfgs
    f.python = yes_if(is_in_family(name, "saltern.optim", "saltern.keras.optimizers"));
    f.algorithm = row->rule ? "formula" : "host";
    if (!row->rule) return true;
    const UpdateRule rule = row->rule(completed(name, row->options, {}), {2, 2});
    f.kernel = yes_if(rule.kernel != nullptr);
    if (rule.kernel) f.gpu = yes_if(has_gpu.at(rule.kernel->name));
    return true;
  }

  bool schedules(const std::string &name, CoverageFacts &f) const {
    const ScheduleRow *row = find_schedule(name);
    if (!row) return false;
    f.here = "schedule " + row->name;
    f.cpp = "yes";
    f.python = yes_if(is_in_family(row->name, "saltern.optim.lr_scheduler", "saltern.keras.optimizers.schedules"));
    return true;
  }

  // By its package, too, since several have metrics of one name.
  bool metrics(const std::string &name, CoverageFacts &f) const {
    static const std::string keras = "keras.metrics.";
    const bool of_keras = name.compare(0, keras.size(), keras) == 0;
    const std::string plain = name.substr(name.rfind('.') + 1), here = (of_keras ? "keras." : "") + plain;
    if (!saltern::metrics::find_metric(here)) return false;
    f.here = "metric " + here;
    f.algorithm = "host";
    f.cpp = "yes";  // by metric(), which was asked just now
    f.python = yes_if(is_in(of_keras ? "saltern.keras.metrics" : "saltern.metrics", plain));
    return true;
  }

  // By loops on a loader's thread.
  bool transforms(const std::string &name, CoverageFacts &f) const {
    if (!saltern::transforms::find_transform(name)) return false;
    f.here = "transform " + name;
    f.algorithm = "host";
    f.cpp = "yes";  // by transform(), which was asked just now
    f.python = yes_if(is_in("saltern.transforms", name));
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
    // Unknown where one of them was not tried.
    const auto is_known = [&](const Operation &o) { return has_gpu.count(o.name) + found.classes.count(o.name) > 0; };
    if (every(is_known)) f.gpu = yes_if(every([&](const Operation &o) { return runs_on_gpu(o); }));
  }

  bool runs_on_gpu(const Operation &o) const {
    if (const auto kernel = has_gpu.find(o.name); kernel != has_gpu.end()) return kernel->second;
    const Words &all = found.classes.at(o.name);
    return o.algorithm && std::all_of(all.begin(), all.end(), generators::has_gpu_pattern);
  }

  bool is_in(const std::string &module, const std::string &name) const {
    const auto m = found.python.find(module);
    return m != found.python.end() && m->second.count(name) > 0;
  }

  // "keras.Adam" in the module of that family, others in their own.
  bool is_in_family(const std::string &name, const char *own, const char *keras) const {
    const size_t dot = name.rfind('.');
    return dot == std::string::npos ? is_in(own, name) : is_in(keras, name.substr(dot + 1));
  }

  // A layer that calls it; null where none was tried.
  const Tried::Row *layer_of(const nn::Function &f) const {
    for (const nn::LayerRow *row : nn::all_layers())
      if (const auto t = found.layers.find(row->name()); row->function() == &f && t != found.layers.end())
        return &t->second;
    return nullptr;
  }
};

Coverage::Coverage() : tables_(std::make_unique<const Tables>()) {}
Coverage::~Coverage() = default;

CoverageFacts Coverage::of(const NameList &list, const ListedName &name) const {
  using Ask = bool (Tables::*)(const std::string &, CoverageFacts &) const;
  static const std::map<std::string, Ask> by_name = {
      {"layers", &Tables::layers},       {"functions", &Tables::functions}, {"keras", &Tables::keras},
      {"python", &Tables::python},       {"operators", &Tables::operators}, {"updates", &Tables::updates},
      {"schedules", &Tables::schedules}, {"metrics", &Tables::metrics},     {"transforms", &Tables::transforms}};
  CoverageFacts f;
  f.note = name.note;
  if (name.kind != ListedName::Kind::asked) return f;
  for (const std::string &table : list.asks) {
    const auto ask = by_name.find(table);
    if (ask == by_name.end()) fail(list.name, ".txt asks '", table, "', which is no table");
    f.works = ((*tables_).*ask->second)(table == "metrics" ? name.group + "." + name.here : name.here, f);
    if (f.works) break;
  }
  return f;
}

}  // namespace saltern
