#include "apps/saltern/compiled_run.h"

#include <optional>

#include "runtime/report/progress.h"

namespace saltern {

CLI::Option *ConvolutionOption::add_to(CLI::App &app) {
  return app.add_flag("--exact-convolutions", exact,
                      "Compile convolutions as the sums that they are, none by Winograd's minimal filtering");
}

generators::CompiledGraph compiled_here(const Graph &graph, int threads, const ConvolutionOption &convolutions) {
  std::optional<Progress> bar;
  const auto progress = [&](int done, int all) {
    if (!bar) bar.emplace("compiling", all);
    bar->update(done);
  };
  return generators::CompiledGraph(graph, threads, progress, convolutions.exact);
}

}  // namespace saltern
