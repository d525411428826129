#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "apps/language_model/commands.h"
#include "apps/language_model/models.h"
#include "runtime/data/png.h"
#include "runtime/data/text.h"
#include "runtime/files/file.h"
#include "runtime/files/hash.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/optim/schedules.h"
#include "runtime/report/plot.h"
#include "runtime/training/logging.h"
#include "runtime/training/progress_bar.h"
#include "runtime/training/source_loader.h"
#include "runtime/training/trainer.h"

namespace saltern {

namespace {

const double bits = 1 / std::log(2.0);  // of a loss, which is in nats

struct TrainOptions {
  LanguageOptions net;
  std::vector<std::string> texts = {"/usr/share/common-licenses/GPL-3"};  // what every Debian has (base-files)
  std::string output = "language", log;
  int64_t epochs = 5, batch = 16, stop_after = 0, checkpoint_every = 0;
  double rate = 0.01, held_out = 0.1;
  uint64_t seed = 1;
  bool resume = false, json = false;
  int threads = 0;
};

std::string exactly(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", v);
  return text;
}

// What one reads, of texts one after the other, and what is asked about.
struct Parts {
  Text text;
  std::string hash;
  Tensor train, test;
};

Parts read(const TrainOptions &o) {
  std::string all;
  for (const std::string &path : o.texts) {
    const std::vector<uint8_t> bytes = read_file(path, uint64_t{1} << 30);
    all.append(bytes.begin(), bytes.end());
  }
  Parts p;
  p.text = text_of(all);
  p.hash = content_hash(all);
  const int64_t size = p.text.tokens.size(), rest = static_cast<int64_t>(static_cast<double>(size) * o.held_out);
  if (size - rest <= o.net.context || rest <= o.net.context)
    fail(o.texts.front(), " has ", size, " characters; of a context of ", o.net.context,
         ", both the part to learn from and the ", rest, " held out have to have more");
  p.train = p.text.tokens.slice(0, 0, size - rest);
  p.test = p.text.tokens.slice(0, size - rest, rest);
  return p;
}

// The mean loss, in bits, of whoever knows how often each character is in the text, and no more.
double bits_by_frequency(const Parts &p) {
  const size_t characters = p.text.alphabet.size();
  std::vector<double> count(characters, 1);  // of each one more than were seen: what is new has a chance
  for (const int64_t token : p.train.integers()) ++count[static_cast<size_t>(token)];
  double total = 0;
  for (const int64_t token : p.test.integers()) total -= std::log2(count[static_cast<size_t>(token)]);
  return total / static_cast<double>(p.test.size()) +
         std::log2(static_cast<double>(p.train.size()) + static_cast<double>(characters));
}

// Every character counts the same.
Variable loss_of(const Variable &scores, const Variable &targets) {
  return cross_entropy(reshape(scores, {targets.size(), scores.extent(-1)}), reshape(targets, {targets.size()}));
}

TrainerOptions trainer_options(const TrainOptions &o, const Parts &parts, int64_t steps) {
  const int64_t warm = std::max<int64_t>(steps / 20, 1);
  const Schedule s = in_turn({schedule("LinearLR", {{"start_factor", 0.1}, {"total_iters", static_cast<double>(warm)}}),
                              schedule("CosineAnnealingLR", {{"T_max", std::max<int64_t>(steps - warm, 1)}})},
                             {warm});
  TrainerOptions t;
  t.epochs = o.epochs;
  t.rate = [s, rate = o.rate](int64_t step) { return s(rate, step); };
  t.clip_norm = 1;
  t.seed = o.seed;
  t.checkpoints = {o.output + "/checkpoints", /*keep=*/2, o.checkpoint_every, /*best=*/"", o.resume};
  t.conditions = {{"kind", o.net.kind},
                  {"width", std::to_string(o.net.width)},
                  {"layers", std::to_string(o.net.layers)},
                  {"heads", std::to_string(o.net.heads)},
                  {"context", std::to_string(o.net.context)},
                  {"dropout", exactly(o.net.dropout)},
                  {"epochs", std::to_string(o.epochs)},
                  {"batch", std::to_string(o.batch)},
                  {"rate", exactly(o.rate)},
                  {"text", parts.hash}};
  t.steps_a_point = std::max<int64_t>(steps / 100, 1);
  return t;
}

void draw_training(const Trainer &trainer, double by_frequency, const TrainOptions &o) {
  const History &h = trainer.history();
  Plot plot;
  plot.title = std::string(model_row(o.net.kind).title) + " learns to write";
  plot.x_label = "step";
  plot.left_label = "bits per character";
  const auto in_bits = [](std::vector<double> losses) {
    for (double &l : losses) l *= bits;
    return losses;
  };
  std::vector<double> epoch_step;
  for (int64_t epoch = 1; epoch <= trainer.epoch(); ++epoch)
    epoch_step.push_back(static_cast<double>(epoch * trainer.steps_an_epoch()));
  plot.series = {{"frequencies of characters",
                  {0, static_cast<double>(trainer.step())},
                  {by_frequency, by_frequency},
                  colours::grey,
                  Axis::left},
                 {"training", h.step, in_bits(h.loss), colours::blue, Axis::left},
                 {"text held out", epoch_step, in_bits(h.epochs.at("val_loss")), colours::orange, Axis::left}};
  write_png(o.output + "/training.png", draw(plot).pixels());
}

int train(TrainOptions o) {
  const auto begin = std::chrono::steady_clock::now();
  if (o.threads > 0) set_threads(o.threads);
  if (o.net.layers == 0) o.net.layers = model_row(o.net.kind).layers;
  const Parts parts = on_input([&] { return read(o); });
  o.net.characters = static_cast<int64_t>(parts.text.alphabet.size());
  nn::manual_seed(o.seed);
  const std::unique_ptr<LanguageModel> net = on_input([&] { return make_model(o.net); });
  const double by_frequency = bits_by_frequency(parts);

  BatchOptions shuffled, in_order;
  shuffled.size = in_order.size = o.batch;
  shuffled.seed = o.seed;
  shuffled.keep_smaller_last = in_order.shuffle = false;
  // Stretches overlap: what is at the beginning of one, with little before it, is in the midst of another.
  const Loader data =
                   batches_of(stretches(parts.train, o.net.context, std::max<int64_t>(o.net.context / 4, 1)), shuffled),
               test = batches_of(stretches(parts.test, o.net.context, o.net.context), in_order);
  if (data.batches < 1) throw BadInput("the text has fewer stretches than a batch of " + std::to_string(o.batch));
  if (!o.json)
    std::cerr << parts.train.size() << " characters to learn from, " << parts.test.size() << " held out, "
              << o.net.characters << " different ones; " << net->parameter_count() << " parameters, "
              << o.epochs * data.batches << " steps\n";

  AdamW optimizer(*net, {o.rate, 0.9, 0.99, 1e-8, 0.1});
  Trainer trainer(*net, loss_of, optimizer, trainer_options(o, parts, o.epochs * data.batches));
  const auto stop = std::make_shared<Functions>();
  stop->step_end = [&](Trainer &t, int64_t step, const Logs &) {
    if (o.stop_after > 0 && step >= o.stop_after) t.stop();
  };
  trainer.add(stop);
  if (!o.json) trainer.add(std::make_shared<ProgressBar>());
  if (!o.log.empty()) trainer.add(std::make_shared<Logging>(o.log, LoggingOptions{20, 200}));
  if (o.resume && trainer.checkpoints().last().empty())
    std::cerr << "there is no checkpoint in " << o.output << "/checkpoints to go on from: training begins\n";
  trainer.fit(data, test);
  if (!trainer.finished()) return 0;

  save_trained(o.output + "/model.safetensors", o.net, parts.text.alphabet, *net);
  draw_training(trainer, by_frequency, o);
  const auto &losses = trainer.history().epochs;
  const nlohmann::ordered_json facts = {
      {"kind", o.net.kind},
      {"parameters", net->parameter_count()},
      {"characters", parts.text.tokens.size()},
      {"alphabet", o.net.characters},
      {"steps", trainer.step()},
      {"resumed_at_step", trainer.resumed_at()},
      {"bits_per_character", losses.at("val_loss").back() * bits},
      {"bits_per_character_training", losses.at("loss").back() * bits},
      {"bits_by_frequency", by_frequency},
      {"seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()},
      {"threads", threads()}};
  write_atomically(o.output + "/training.json", facts.dump(2) + "\n");
  std::cout << facts.dump() << "\n";
  return 0;
}

}  // namespace

void define_train_language(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<TrainOptions>();
  std::vector<std::string> kinds;
  for (const LanguageModelRow &row : models()) kinds.emplace_back(row.kind);
  std::string layers;
  for (const LanguageModelRow &row : models())
    layers += (layers.empty() ? "" : ", ") + std::to_string(row.layers) + " (" + row.kind + ")";
  o->net.layers = 0;
  const CLI::Range count(int64_t{1}, int64_t{1} << 14);
  app.add_option("--kind", o->net.kind, "What the model is made of")
      ->check(CLI::IsMember(kinds))
      ->capture_default_str();
  app.add_option("--text", o->texts, "The text to learn from: one file, or several one after the other")
      ->capture_default_str();
  app.add_option("-o,--output", o->output, "Folder to write to")->capture_default_str();
  app.add_option("--width", o->net.width, "Numbers for a character inside")->check(count)->capture_default_str();
  app.add_option("--layers", o->net.layers, "Layers of LSTM, or blocks of a GPT; else " + layers)->check(count);
  app.add_option("--heads", o->net.heads, "Heads of a GPT's attention")->check(count)->capture_default_str();
  app.add_option("--context", o->net.context, "Characters that it learns from at a time; what a GPT sees")
      ->check(count)
      ->capture_default_str();
  app.add_option("--dropout", o->net.dropout, "Share of numbers that are left out in training")
      ->check(CLI::Range(0.0, 0.9))
      ->capture_default_str();
  app.add_option("--held-out", o->held_out, "Share of the text, at its end, to be asked about")
      ->check(CLI::Range(0.001, 0.9))
      ->capture_default_str();
  app.add_option("--epochs", o->epochs, "Times to go through the text")->check(count)->capture_default_str();
  app.add_option("--batch", o->batch, "Stretches of text a step")->check(count)->capture_default_str();
  app.add_option("--rate", o->rate, "The highest learning rate; it begins lower, and ends at 0")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", o->seed, "Same seed, same bits")->capture_default_str();
  app.add_option("--threads", o->threads, "Threads; else SALTERN_THREADS, else all cores")->check(CLI::Range(1, 256));
  app.add_flag("--resume", o->resume, "Go on from the last of DIR/checkpoints");
  app.add_option("--stop-after", o->stop_after, "Stop after so many steps; --resume goes on")
      ->check(CLI::PositiveNumber);
  app.add_option("--checkpoint-every", o->checkpoint_every,
                 "Steps from one checkpoint to the next, beside those of epochs")
      ->check(CLI::PositiveNumber);
  app.add_option("--log", o->log, "A file (.csv, .jsonl) or else a folder, for TensorBoard, to log to");
  app.add_flag("--json", o->json, "Only a line of JSON, in the end");
  app.callback([o, &chosen] { chosen = [o] { return train(*o); }; });
}

}  // namespace saltern
