#pragma once
// What there is to see of a training: write_report("report.html", trainer, test, {"Fashion-MNIST", names});

#include "runtime/report/html_report.h"
#include "runtime/training/trainer.h"

namespace saltern {

struct ReportOptions {
  std::string title = "Training";
  std::vector<std::string> classes = {};  // names of labels
  size_t mistakes = 12, filters = 64;     // at most
  size_t layers = 4, channels = 8;        // of activations, at most
};

// Curves of the history, time and memory by layer, the filters of the first layer that has some, and what the first layers
// whose results are images make of the first sample, channel by channel; of classifiers, whose
// targets are integers (N) and results (N, C), the confusion matrix and the mistakes with the largest cross entropy too.
HtmlReport report_of(Trainer &trainer, const Loader &test, const ReportOptions &options = {});
void write_report(const std::string &path, Trainer &trainer, const Loader &test, const ReportOptions &options = {});

// The loss of training by steps and, on an axis of its own, the accuracy of validation by epochs, where there is one.
Plot training_curves(const Trainer &trainer, const std::string &title);

// Of one run on these inputs in evaluation mode, the best time of three for each layer.
std::vector<HtmlReport::Layer> layer_costs(Module &net, const Tensor &x);

}  // namespace saltern
