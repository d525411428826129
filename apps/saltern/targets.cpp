#include "generators/targets.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/saltern/command.h"

namespace saltern {

namespace {

int run(bool json) {
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

}  // namespace

void define_targets(CLI::App &app, Action &chosen) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "One line of JSON");
  app.callback([json, &chosen] { chosen = [json] { return run(*json); }; });
}

}  // namespace saltern
