#include "apps/saltern/training_options.h"

#include <CLI/CLI.hpp>

#include "apps/saltern/command.h"

namespace saltern {

namespace {

using Made = std::unique_ptr<Optimizer>;

SgdOptions sgd(const TrainingOptions &o) {
  SgdOptions made;
  if (o.rate > 0) made.rate = o.rate;
  if (o.weight_decay >= 0) made.weight_decay = o.weight_decay;
  made.momentum = o.momentum;
  return made;
}

AdamOptions adam(const TrainingOptions &o, double weight_decay) {
  if (o.momentum != 0) throw BadInput("--momentum is of sgd; " + o.optimizer + " has moments of its own");
  AdamOptions made;
  if (o.rate > 0) made.rate = o.rate;
  made.weight_decay = o.weight_decay >= 0 ? o.weight_decay : weight_decay;
  return made;
}

struct Row {
  const char *name;
  Made (*make)(Module &, const TrainingOptions &);
};
constexpr Row optimizers[] = {
    {"sgd", [](Module &net, const TrainingOptions &o) -> Made { return std::make_unique<SGD>(net, sgd(o)); }},
    {"adam", [](Module &net, const TrainingOptions &o) -> Made { return std::make_unique<Adam>(net, adam(o, 0)); }},
    {"adamw",
     [](Module &net, const TrainingOptions &o) -> Made { return std::make_unique<AdamW>(net, adam(o, 1e-2)); }},
};

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
  app.add_option("--optimizer", optimizer, when + names_of(optimizers))->capture_default_str();
  app.add_option("--rate", rate, when + "the learning rate; by default 0.01 for sgd, else 0.001")
      ->check(CLI::PositiveNumber);
  app.add_option("--momentum", momentum, when + "of sgd")->check(CLI::Range(0.0, 1.0))->capture_default_str();
  app.add_option("--weight-decay", weight_decay, when + "by default 0.01 for adamw, else 0")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--batch", batch, when + "samples of a batch, the first extent of every input")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
}

void expect_train(const CLI::App &app, bool train) {
  for (const char *name : {"--loss", "--optimizer", "--rate", "--momentum", "--weight-decay", "--batch"})
    if (!train && app.get_option(name)->count() > 0) throw CLI::ValidationError(name, "is for --train");
}

const NamedLoss &TrainingOptions::named_loss() const { return named(named_losses(), "--loss", loss); }

std::unique_ptr<Optimizer> TrainingOptions::optimizer_of(Module &net) const {
  return named(optimizers, "--optimizer", optimizer).make(net, *this);
}

}  // namespace saltern
