#include "schedules/by_structure.h"

#include <set>

namespace saltern::schedules {

using formula::Pattern;
using formula::Stage;
using Halide::Func;

// Every stage that is kept is a grid of its own.
void by_structure_on_gpu(const FormulaToSchedule &all, const gpu::ElementKnobs &knobs) {
  formula::Values outputs;
  for (const auto &s : all.output_stages) outputs.emplace_back(s);
  std::set<const Stage *> kept;
  for (const auto &s : formula::worth_keeping(outputs)) kept.insert(s.get());
  const auto launch = [&](Func f, int updates) {
    gpu::elements(f, f.args(), knobs);
    for (int u = 0; u < updates; ++u) gpu::elements(f.update(u), f.args(), knobs);
  };
  std::set<std::string> launched;  // several stages may be made in one walk
  for (const StageToSchedule &s : all.stages) {
    if (kept.count(s.stage.get()) == 0 || !launched.insert(s.func.name()).second) continue;
    Func f = s.func;
    f.compute_root();
    if (!s.stage->is_scan()) launch(f, s.stage->is_scatter() ? 0 : f.num_update_definitions());
  }
  for (const Func &out : all.outputs)
    if (launched.insert(out.name()).second) launch(out, 0);
}

bool has_gpu_pattern(Pattern p) {
  static const std::set<Pattern> known = {Pattern::map,    Pattern::gather, Pattern::row,
                                          Pattern::column, Pattern::window, Pattern::contraction};
  return known.count(p) > 0;
}

}  // namespace saltern::schedules
