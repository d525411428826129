#include "runtime/training/training_report.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "runtime/files/file.h"
#include "runtime/training/parts.h"

namespace saltern {

namespace {

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// (channels, height, width) as a picture: grey, or colours where there are three; the mean of any other number of channels.
Tensor picture_of(const Tensor &image) {
  const Tensor t = image.in_layout(Layout::row_major);
  const int64_t channels = t.extent(0), pixels = t.extent(1) * t.extent(2), shown = channels == 3 ? 3 : 1;
  const std::vector<double> v = t.reals();
  const auto [low, high] = std::minmax_element(v.begin(), v.end());
  const double least = *low, width = std::max(*high - *low, 1e-30);
  const Tensor picture = Tensor::empty({t.extent(1), t.extent(2), shown}, Type::u8);
  for (int64_t p = 0; p < pixels; ++p)
    for (int64_t c = 0; c < shown; ++c) {
      double value = 0;
      for (int64_t from = c; from < channels; from += shown) value += v[static_cast<size_t>(from * pixels + p)];
      value /= static_cast<double>(channels / shown);
      picture.data<uint8_t>()[p * shown + c] = static_cast<uint8_t>(std::lround(255 * (value - least) / width));
    }
  return picture;
}

Tensor at(const Tensor &all, int64_t i) {
  const Tensor one = all.slice(0, i, 1);
  return one.viewed({one.shape().begin() + 1, one.shape().end()}, {one.strides().begin() + 1, one.strides().end()});
}

std::vector<HtmlReport::Picture> filters_of(Module &net, size_t most) {
  std::vector<HtmlReport::Picture> all;
  for (const auto &[name, p] : net.named_parameters()) {
    if (p.rank() != 4 || p.extent(2) * p.extent(3) < 2) continue;
    for (int64_t i = 0; i < std::min(p.extent(0), static_cast<int64_t>(most)); ++i)
      all.push_back({picture_of(at(p.value(), i)), name + "[" + std::to_string(i) + "]"});
    break;
  }
  return all;
}

bool is_images(const Tensor &t) { return t.rank() == 4 && t.extent(2) * t.extent(3) > 1; }

// Of one sample.
std::vector<HtmlReport::Picture> activations_of(Module &net, const Tensor &x, const ReportOptions &options) {
  std::vector<HtmlReport::Picture> all;
  size_t layers = 0;
  const Watching watching(
      layers_of(net), [](const NamedPart &) {},
      [&](const NamedPart &part, const Variable &y) {
        if (!is_images(y.value()) || layers++ >= options.layers) return;
        for (int64_t c = 0; c < std::min(y.extent(1), static_cast<int64_t>(options.channels)); ++c)
          all.push_back({picture_of(at(y.value().slice(1, c, 1), 0)), part.name + "[" + std::to_string(c) + "]"});
      });
  net(x);
  if (!all.empty() && is_images(x)) all.insert(all.begin(), {picture_of(at(x, 0)), "the sample"});
  return all;
}

struct Mistake {
  double loss;
  int64_t sample, is, said;
};

class Classified {
 public:
  Classified(HtmlReport &report, const ReportOptions &options) : report_(report), options_(options) {}

  void add(const Tensor &scores, const Examples &batch) {
    const int64_t classes = scores.extent(1);
    if (report_.confusion.empty())
      report_.confusion.assign(static_cast<size_t>(classes), std::vector<int64_t>(static_cast<size_t>(classes)));
    const std::vector<double> s = scores.reals();
    const std::vector<int64_t> labels = batch.target.integers();
    for (int64_t n = 0; n < batch.size(); ++n) {
      const auto row = s.begin() + n * classes;
      const int64_t said = std::max_element(row, row + classes) - row, is = labels[static_cast<size_t>(n)];
      if (is < 0 || is >= classes) continue;  // left out of the loss, too
      ++report_.confusion[static_cast<size_t>(is)][static_cast<size_t>(said)];
      if (said == is) continue;
      double sum = 0;
      for (int64_t c = 0; c < classes; ++c) sum += std::exp(row[c] - row[said]);
      keep({std::log(sum) + row[said] - row[is], batch.samples[static_cast<size_t>(n)], is, said}, at(batch.x, n));
    }
  }

  void close() {
    std::sort(worst_.begin(), worst_.end(), [](const auto &a, const auto &b) { return a.first.loss > b.first.loss; });
    for (const auto &[m, x] : worst_) {
      const std::string caption = "sample " + std::to_string(m.sample) + ": " + name(m.said) + ", not " + name(m.is) +
                                  " (loss " + short_number(m.loss) + ")";
      report_.mistakes.push_back({x.rank() == 3 ? picture_of(x) : Tensor(), caption});
    }
  }

 private:
  std::string name(int64_t c) const {
    return c < static_cast<int64_t>(options_.classes.size()) ? options_.classes[static_cast<size_t>(c)]
                                                             : std::to_string(c);
  }
  // Only the worst ones.
  void keep(const Mistake &m, const Tensor &x) {
    const auto milder = [](const auto &a, const auto &b) { return a.first.loss < b.first.loss; };
    if (worst_.size() == options_.mistakes) {
      const auto mildest = std::min_element(worst_.begin(), worst_.end(), milder);
      if (mildest == worst_.end() || mildest->first.loss >= m.loss) return;
      worst_.erase(mildest);
    }
    worst_.emplace_back(m, x.clone());
  }

  HtmlReport &report_;
  const ReportOptions &options_;
  std::vector<std::pair<Mistake, Tensor>> worst_;
};

}  // namespace

std::vector<HtmlReport::Layer> layer_costs(Module &net, const Tensor &x) {
  using Clock = std::chrono::steady_clock;
  const NoGradient off;
  const EvaluationMode evaluation(net);
  std::vector<HtmlReport::Layer> rows, best;
  Clock::time_point begin;
  const Watching watching(
      layers_of(net), [&](const NamedPart &) { begin = Clock::now(); },
      [&](const NamedPart &part, const Variable &y) {
        const double time = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
        rows.push_back({part.name, part.module->class_name(), to_string(y.shape()), part.module->parameter_count(),
                        static_cast<int64_t>(y.value().bytes()), time});
      });
  for (int run = 0; run < 3; ++run) {
    rows.clear();
    net(x);
    if (best.empty()) best = rows;
    for (size_t i = 0; i < rows.size(); ++i)
      best[i].milliseconds = std::min(best[i].milliseconds, rows[i].milliseconds);
  }
  return best;
}

Plot training_curves(const Trainer &trainer, const std::string &title) {
  const History &h = trainer.history();
  Plot plot;
  plot.title = title;
  plot.x_label = "step";
  plot.left_label = "training loss";
  plot.series = {{"training loss", h.step, h.loss, colours::blue, Axis::left}};
  const auto accuracy = h.epochs.find("val_accuracy");
  if (accuracy == h.epochs.end()) return plot;
  std::vector<double> steps;
  for (size_t epoch = 1; epoch <= accuracy->second.size(); ++epoch)
    steps.push_back(static_cast<double>(epoch) * static_cast<double>(trainer.steps_an_epoch()));
  plot.right_label = "test accuracy";
  plot.series.push_back({"test accuracy", steps, accuracy->second, colours::orange, Axis::right});
  return plot;
}

HtmlReport report_of(Trainer &trainer, const Loader &test, const ReportOptions &options) {
  HtmlReport report;
  report.title = options.title;
  report.classes = options.classes;
  report.facts = {{"parameters", std::to_string(trainer.net().parameter_count())},
                  {"steps", std::to_string(trainer.step())},
                  {"epochs", std::to_string(trainer.epoch())},
                  {"optimizer", trainer.optimizer().update().operation}};
  for (const auto &[name, values] : trainer.history().epochs)
    if (!values.empty()) report.facts.emplace_back("last " + name, short_number(values.back()));
  const History &history = trainer.history();
  report.curves = epoch_curves(history.epochs);
  if (!history.step.empty())
    report.curves.push_back(small_plot("loss by steps", "step", {"loss", history.step, history.loss, colours::blue}));
  report.filters = filters_of(trainer.net(), options.filters);
  const NoGradient off;
  const EvaluationMode evaluation(trainer.net());
  const Averages::Swapped averages(trainer.averages());
  Classified classified(report, options);
  const Loader::Next next = test.from(0, 0);
  while (const std::optional<Examples> batch = next()) {
    if (report.layers.empty()) {
      report.layers = layer_costs(trainer.net(), batch->x.slice(0, 0, std::min<int64_t>(batch->size(), 64)));
      report.activations = activations_of(trainer.net(), batch->x.slice(0, 0, 1), options);
    }
    const bool classes = batch->target.rank() == 1 && !is_real(batch->target.type());
    const Tensor y = trainer.net()(batch->x).value();
    if (classes && y.rank() == 2) classified.add(y, *batch);
  }
  classified.close();
  return report;
}

void write_report(const std::string &path, Trainer &trainer, const Loader &test, const ReportOptions &options) {
  write_atomically(path, to_html(report_of(trainer, test, options)));
}

}  // namespace saltern
