#include "schedules/by_structure.h"

#include <algorithm>
#include <map>
#include <set>

namespace saltern::schedules {

using formula::Pattern;
using formula::Stage;
using Halide::Func;

namespace {

class GpuScheduler {
 public:
  GpuScheduler(const FormulaToSchedule &all, const gpu::ElementKnobs &knobs, const gpu::ContractionKnobs &contractions)
      : all_(all), knobs_(knobs), contractions_(contractions) {
    formula::Values outputs;
    for (const auto &s : all.output_stages) outputs.emplace_back(s);
    for (const auto &s : formula::worth_keeping(outputs)) kept_.insert(s.get());
    const auto epilogues = formula::epilogues_of(outputs);
    for (const StageToSchedule &s : all.stages) {
      if (!is_tiled(s)) continue;
      if (is_given_once(*s.stage)) tiles_[s.stage.get()] = &s;
      for (const auto &[map, contraction] : epilogues)
        if (contraction == s.stage) tiles_[map] = &s;
    }
    for (const auto &[where, s] : tiles_) launched_.insert(s->func.name());
  }

  // Every stage that is kept is a grid of its own; in that of its epilogue a contraction is made, too.
  void run() {
    if (is_one_walk()) return gpu::walk(all_.outputs[0]);
    for (const StageToSchedule &s : all_.stages) {
      if (kept_.count(s.stage.get()) == 0 || !launched_.insert(s.func.name()).second) continue;
      Func f = is_tiled(s) ? Func(s.func).in() : s.func;
      f.compute_root();
      if (is_tiled(s))
        tile(f, s);
      else if (!s.stage->is_scan())
        launch(f, *s.stage, s.stage->is_scatter() ? 0 : f.num_update_definitions());
    }
    for (size_t i = 0; i < all_.outputs.size(); ++i)
      if (launched_.insert(all_.outputs[i].name()).second) launch(all_.outputs[i], *all_.output_stages[i], 0);
  }

 private:
  static bool is_tiled(const StageToSchedule &s) {
    return formula::contraction_of(*s.stage) && s.stage->rank <= gpu::most_loops && tiled(s, {});
  }

  // Whether all that is kept goes through windows at once, and is read where it is made, in the one output.
  bool is_one_walk() const {
    if (all_.outputs.size() != 1 || kept_.empty() || all_.output_stages[0]->rank > gpu::most_loops) return false;
    std::map<const Stage *, std::string> names;
    for (const StageToSchedule &s : all_.stages) names[s.stage.get()] = s.func.name();
    const Stage &walk = **kept_.begin();
    for (const Stage *s : kept_)
      if (formula::classify(*s) != Pattern::window || names.at(s) != names.at(&walk)) return false;
    for (const StageToSchedule &s : all_.stages) {
      bool is_in_place = true;
      for (const formula::Expression &e : formula::expressions_of(*s.stage))
        for (const formula::Expression &load : formula::loads_in(e)) {
          const auto made = names.find(load->stage.get());
          if (made != names.end() && made->second == names.at(&walk))
            is_in_place &= formula::is_at_own_place(load, *s.stage);
        }
      if (!is_in_place) return false;
    }
    return true;
  }

  // As one output, and read by nobody.
  bool is_given_once(const Stage &s) const {
    const auto is_it = [&](const auto &other) { return other.get() == &s; };
    for (const StageToSchedule &r : all_.stages) {
      const auto loaded = formula::loaded_by(*r.stage);
      if (std::any_of(loaded.begin(), loaded.end(), is_it)) return false;
    }
    return std::count_if(all_.output_stages.begin(), all_.output_stages.end(), is_it) == 1;
  }

  void tile(const Func &out, const StageToSchedule &s) { gpu::contraction(*tiled(s, out), contractions_); }

  // `f` is a stage or a copy of it.
  void launch(Func f, const Stage &s, int updates) {
    if (const auto own = tiles_.find(&s); own != tiles_.end()) return tile(f, *own->second);
    gpu::elements(f, f.args(), knobs_);
    for (int u = 0; u < updates; ++u) gpu::elements(f.update(u), f.args(), knobs_);
  }

  const FormulaToSchedule &all_;
  const gpu::ElementKnobs &knobs_;
  const gpu::ContractionKnobs &contractions_;
  std::set<const Stage *> kept_;
  std::map<const Stage *, const StageToSchedule *> tiles_;  // contractions, by the stage in whose grid they are made
  std::set<std::string> launched_;                          // several stages may be made in one walk
};

}  // namespace

void by_structure_on_gpu(const FormulaToSchedule &all, const gpu::ElementKnobs &knobs,
                         const gpu::ContractionKnobs &contractions) {
  GpuScheduler(all, knobs, contractions).run();
}

bool has_gpu_pattern(Pattern p) {
  static const std::set<Pattern> known = {Pattern::map,    Pattern::gather, Pattern::row,
                                          Pattern::column, Pattern::window, Pattern::contraction};
  return known.count(p) > 0;
}

}  // namespace saltern::schedules
