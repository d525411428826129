#include "apps/saltern/compiled_run.h"

#include <optional>

#include "runtime/report/progress.h"

namespace saltern {

generators::CompiledGraph compiled_here(const Graph &graph, int threads) {
  std::optional<Progress> bar;
  return generators::CompiledGraph(graph, threads, [&](int done, int all) {
    if (!bar) bar.emplace("compiling", all);
    bar->update(done);
  });
}

}  // namespace saltern
