#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "apps/language_model/commands.h"
#include "apps/language_model/generation.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/tensor/npy.h"

namespace saltern {

namespace {

struct GenerateOptions {
  std::string model, prompt, scores;
  int64_t length = 400;
  Sampling sampling;
  bool json = false;
  int threads = 1;  // a step is too small to be shared out
};

Tensor rows_of(const std::vector<std::vector<float>> &rows) {
  std::vector<float> all;
  for (const auto &row : rows) all.insert(all.end(), row.begin(), row.end());
  const auto count = static_cast<int64_t>(rows.size());
  return Tensor::of<float>({count, count > 0 ? static_cast<int64_t>(rows[0].size()) : 0}, all);
}

int run(const GenerateOptions &o) {
  set_threads(o.threads);
  const TrainedModel model = on_input([&] { return load_trained(o.model); });
  const std::string begin = o.prompt.empty() ? model.alphabet.substr(0, 1) : o.prompt;
  const std::vector<int64_t> prompt = on_input([&] { return model.tokens_of(begin); });
  const auto from = std::chrono::steady_clock::now();
  const Generated g = generate(*model.net, prompt, o.length, o.sampling);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
  if (!o.scores.empty()) write_npy(o.scores, rows_of(g.scores));
  std::string text;
  for (const int64_t token : g.tokens) text += model.alphabet[static_cast<size_t>(token)];
  if (!o.json) {
    std::cout << text << "\n";
    return 0;
  }
  const nlohmann::ordered_json facts = {
      {"text", text}, {"tokens", g.tokens}, {"characters_a_second", static_cast<double>(g.scores.size()) / seconds}};
  std::cout << facts.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
  return 0;
}

}  // namespace

void define_generate(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<GenerateOptions>();
  app.add_option("MODEL", o->model, "What training wrote: model.safetensors")->required();
  app.add_option("--prompt", o->prompt, "What the text begins with; else the first character of the alphabet");
  app.add_option("--length", o->length, "Characters to write behind it")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 30))
      ->capture_default_str();
  app.add_option("--temperature", o->sampling.temperature, "How daring: 0 is always the likeliest character")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_option("--top", o->sampling.top, "Only of the likeliest so many; 0 is of all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--seed", o->sampling.seed, "Same seed, same text")->capture_default_str();
  app.add_option("--scores", o->scores, "A .npy file for the scores of each step, f32 (steps, characters)");
  app.add_option("--threads", o->threads, "Threads")->check(CLI::Range(1, 256))->capture_default_str();
  app.add_flag("--json", o->json, "One line of JSON: text, tokens, characters a second");
  app.callback([o, &chosen] { chosen = [o] { return run(*o); }; });
}

}  // namespace saltern
