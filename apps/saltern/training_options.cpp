#include "apps/saltern/training_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/saltern/command.h"
#include "runtime/nn/written_options.h"

namespace saltern {

namespace {

// Those that a step has: LBFGS asks for the loss as often as it likes.
std::string optimizer_names() {
  std::string all;
  for (const OptimizerRow &row : optimizer_rows())
    if (row.rule && !row.only_touched) all += (all.empty() ? "" : ", ") + row.operation;
  return all;
}

bool has_option(const Options &options, const std::string &name) {
  return std::any_of(options.begin(), options.end(), [&](const Option &o) { return o.name == name; });
}

template <typename Rows>
std::string names_of(const Rows &rows) {
  std::string all;
  for (const auto &row : rows) all += (all.empty() ? "" : ", ") + std::string(row.name);
  return all;
}

// Throws BadInput that has all names.
template <typename Rows>
auto &named(const Rows &rows, const char *option, const std::string &name) {
  for (const auto &row : rows)
    if (row.name == name) return row;
  throw BadInput(std::string(option) + " " + name + ": expected one of " + names_of(rows));
}

}  // namespace

void TrainingOptions::add_to(CLI::App &app, const std::string &when) {
  app.add_option("--loss", loss, when + names_of(named_losses()) + "; labels are a batch's last input")
      ->capture_default_str();
  app.add_option("--optimizer", optimizer,
                 when +
                     "one of docs/optimizers.md, with its options or without: sgd, lion, 'AdamW(lr=0.001, betas=(0.9, "
                     "0.95))', ...")
      ->capture_default_str();
  app.add_option("--rate", rate, when + "the learning rate; by default 0.01 for sgd, else the optimizer's own")
      ->check(CLI::PositiveNumber);
  app.add_option("--momentum", momentum, when + "of sgd and others that have one")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--weight-decay", weight_decay, when + "by default the optimizer's own: 0.01 for adamw, 0 for most")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--batch", batch, when + "samples of a batch, the first extent of every input")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--memory", memory,
                 when +
                     "what a step may take, with parameters and batch: 256MB, 1GB, 64MiB. Where it would take more, "
                     "results of the forward half are computed again for the backward half, the cheapest for their "
                     "bytes first")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/true))
      ->check(CLI::PositiveNumber);
}

void expect_train(const CLI::App &app, bool train) {
  for (const char *name : {"--loss", "--optimizer", "--rate", "--momentum", "--weight-decay", "--batch", "--memory"})
    if (!train && app.get_option(name)->count() > 0) throw CLI::ValidationError(name, "is for --train");
}

const NamedLoss &TrainingOptions::named_loss() const { return named(named_losses(), "--loss", loss); }

std::unique_ptr<Optimizer> TrainingOptions::optimizer_of(Module &net) const {
  const nn::WrittenCall call = on_input([&] { return nn::written_call(optimizer); });
  const OptimizerRow *row = find_optimizer(call.name);
  if (!row || !row->rule || row->only_touched)
    throw BadInput("--optimizer " + optimizer + ": expected one of " + optimizer_names());
  Options all = {row->rate};
  all.insert(all.end(), row->options.begin(), row->options.end());
  Attributes options = nn::written_options(call, all);
  const auto set = [&](const char *option, const std::string &name, double value) {
    if (!has_option(all, name))
      throw BadInput(std::string(option) + ": " + row->name + " has no option '" + name + "'");
    if (options.has(name)) throw BadInput(std::string(option) + ": --optimizer " + optimizer + " has it already");
    options.set(name, value);
  };
  constexpr double usual_descent = 0.01;  // PyTorch's sgd is to be told; its default moves nothing
  if (rate != 0) set("--rate", row->rate.name, rate);
  if (row->operation == "sgd" && !options.has(row->rate.name)) options.set(row->rate.name, usual_descent);
  if (momentum != 0) set("--momentum", "momentum", momentum);
  if (!(weight_decay < 0)) set("--weight-decay", "weight_decay", weight_decay);
  return std::make_unique<Optimizer>(saltern::optimizer(row->operation, net, options));
}

}  // namespace saltern
