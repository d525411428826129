#include "generators/targets.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/saltern/command.h"

namespace saltern {

namespace {

int run_targets(bool json) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const generators::TargetFacts &t : generators::all_targets()) {
    nlohmann::ordered_json row = {{"name", t.name}, {"kind", t.kind}, {"halide", t.halide}};
    if (t.kind == "cpu") row["runs_here"] = t.runs_here;
    rows.push_back(row);
    if (!json)
      std::printf("%-8s %-4s %-10s %s\n", t.name.c_str(), t.kind.c_str(),
                  t.kind != "cpu" ? "compiles"
                  : t.runs_here   ? "runs here"
                                  : "compiles",
                  t.halide.c_str());
  }
  if (json) std::printf("%s\n", rows.dump().c_str());
  return 0;
}

using generators::KernelTargets;

// A table in Markdown: one row for all kernels that are alike.
void print_kernels(const std::vector<KernelTargets> &all) {
  std::map<std::pair<std::vector<std::string>, std::string>, std::string> rows;
  for (const KernelTargets &k : all) {
    std::string &names = rows[{k.classes, k.why_no_gpu}];
    names += (names.empty() ? "`" : " `") + k.name + "`";
  }
  std::printf("| classes | kernels | CPU | OpenCL | CUDA |\n|---|---|---|---|---|\n");
  for (const auto &[alike, names] : rows) {
    std::string classes;
    for (const std::string &c : alike.first) classes += (classes.empty() ? "" : ", ") + c;
    const std::string gpu = alike.second.empty() ? "yes" : "no: " + alike.second;
    std::printf("| %s | %s | yes | %s | %s |\n", classes.c_str(), names.c_str(), gpu.c_str(), gpu.c_str());
  }
}

int run_kernels(bool json) {
  const std::vector<KernelTargets> all = generators::all_kernel_targets();
  if (!json) {
    print_kernels(all);
    return 0;
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const KernelTargets &k : all) {
    const bool gpu = k.why_no_gpu.empty();
    rows.push_back({{"name", k.name}, {"classes", k.classes}, {"cpu", true}, {"opencl", gpu}, {"cuda", gpu}});
    if (!gpu) rows.back()["why_no_gpu"] = k.why_no_gpu;
  }
  std::printf("%s\n", rows.dump().c_str());
  return 0;
}

}  // namespace

void define_targets(CLI::App &app, Action &chosen) {
  auto json = std::make_shared<bool>(false), kernels = std::make_shared<bool>(false);
  app.add_flag("--kernels", *kernels, "Which library kernels there are for CPUs, OpenCL and CUDA");
  app.add_flag("--json", *json, "One line of JSON");
  app.callback([=, &chosen] { chosen = [=] { return *kernels ? run_kernels(*json) : run_targets(*json); }; });
}

}  // namespace saltern
