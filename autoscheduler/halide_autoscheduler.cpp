#include "autoscheduler/halide_autoscheduler.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "runtime/error.h"

namespace saltern::autoscheduler {

namespace {

struct Row {
  std::string name, plugin;
  std::map<std::string, std::string> parameters;
};

const std::array<Row, 2> &rows() {
  static const std::array<Row, 2> table = {{
      {"Mullapudi2016", "mullapudi2016", {{"parallelism", "8"}}},
      {"Adams2019", "adams2019", {{"parallelism", "8"}, {"beam_size", "4"}}},
  }};
  return table;
}

const Row &row_of(const std::string &name) {
  std::string known;
  for (const Row &r : rows()) {
    if (r.name == name) return r;
    known += (known.empty() ? "" : ", ") + r.name;
  }
  fail("there is no autoscheduler '", name, "'; expected one of: ", known);
}

// Plugins lie beside the Halide library, wherever this program found that.
std::string plugin_folder() {
  Dl_info facts;
  if (!dladdr(reinterpret_cast<const void *>(&Halide::load_plugin), &facts)) fail("cannot find the Halide library");
  return std::filesystem::path(facts.dli_fname).parent_path().string();
}

void load(const Row &row) {
  static std::set<std::string> loaded;
  if (loaded.count(row.name)) return;
  const std::string path = plugin_folder() + "/libautoschedule_" + row.plugin + ".so";
  if (!std::filesystem::exists(path))
    fail("autoscheduler ", row.name, ": there is no ", path, "; it is part of the Halide package");
  Halide::load_plugin(path);
  loaded.insert(row.name);
}

void guard(Halide::Internal::Definition definition) {
  for (Halide::Internal::Split &split : definition.schedule().splits())
    if (split.split_type == Halide::Internal::Split::SplitVar) split.tail = Halide::TailStrategy::GuardWithIf;
}

// The autoschedulers plan for the estimates and let tiles reach past smaller extents, which then fail at run time.
void guard_all_tails(const Halide::Pipeline &pipeline) {
  for (const Halide::Func &out : pipeline.outputs())
    for (auto &[name, function] : Halide::Internal::find_transitive_calls(out.function())) {
      if (function.has_extern_definition() || !function.has_pure_definition()) continue;
      guard(function.definition());
      for (const Halide::Internal::Definition &update : function.updates()) guard(update);
    }
}

}  // namespace

std::string chosen_halide_autoscheduler() {
  const char *wanted = std::getenv("SALTERN_AUTOSCHEDULER");
  if (!wanted || !*wanted) return rows()[0].name;
  try {
    return row_of(wanted).name;
  } catch (const Error &e) {
    fail("SALTERN_AUTOSCHEDULER: ", e.what());
  }
}

void schedule_by_halide(const Halide::Pipeline &pipeline, const Halide::Target &target, const std::string &name) {
  const Row &row = row_of(name);
  load(row);
  pipeline.apply_autoscheduler(target, Halide::AutoschedulerParams(row.name, row.parameters));
  guard_all_tails(pipeline);
}

}  // namespace saltern::autoscheduler
