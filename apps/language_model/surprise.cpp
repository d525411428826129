// A text as the model sees it: each character on a ground that is the redder the less it was expected.

#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "apps/json_text.h"
#include "apps/language_model/commands.h"
#include "apps/language_model/generation.h"
#include "runtime/data/png.h"
#include "runtime/files/file.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/report/picture.h"

namespace saltern {

namespace {

struct SurpriseOptions {
  std::string model, text, output = "surprise.png";
  int64_t length = 1200, from = -1;
  bool json = false;
};

// Of each character but the first, -log2 of what the model thought it likely, by what came before.
std::vector<double> surprises(LanguageModel &net, const std::vector<int64_t> &tokens) {
  const Generated read = generate(net, tokens, 0, {});
  std::vector<double> all;
  for (size_t i = 0; i < read.scores.size(); ++i) {
    double total = 0;
    for (const float score : read.scores[i]) total += std::exp(static_cast<double>(score));
    const auto score = static_cast<double>(read.scores[i][static_cast<size_t>(tokens[i + 1])]);
    all.push_back((std::log(total) - score) / std::log(2.0));
  }
  return all;
}

constexpr double most_bits = 8;
constexpr int64_t columns = 80, cell_width = 11, cell_height = 21, margin = 24;
constexpr double capital = 11;

Colour ground(double bits) {
  const double share = std::min(bits / most_bits, 1.0);
  const auto faded = [share](double full) { return static_cast<uint8_t>(255 + (full - 255) * share); };
  return {faded(235), faded(90), faded(50)};
}

// Lines are broken where the text breaks them, and behind so many characters.
void draw(const std::string &path, const std::string &text, const std::vector<double> &bits, const std::string &title) {
  struct Cell {
    int64_t line, column;
  };
  std::vector<Cell> cells;
  Cell at = {0, 0};
  for (const char c : text) {
    if (at.column == columns) at = {at.line + 1, 0};
    cells.push_back(at);
    at = c == '\n' ? Cell{at.line + 1, 0} : Cell{at.line, at.column + 1};
  }
  constexpr int64_t top = margin + 2 * cell_height;
  Canvas canvas(2 * margin + columns * cell_width, top + (at.line + 1) * cell_height + margin);
  canvas.text({margin, margin - 6}, title, 15, colours::ink);
  for (int64_t i = 0; i <= 8; ++i) {
    const int64_t x = canvas.width() - margin - (9 - i) * 2 * cell_width;
    canvas.rectangle(x, margin - 12, 2 * cell_width, cell_height, ground(static_cast<double>(i)));
    canvas.text({static_cast<double>(x + 8), margin - 6}, std::to_string(i), capital, colours::ink);
  }
  for (size_t i = 0; i < text.size(); ++i) {
    const int64_t x = margin + cells[i].column * cell_width, y = top + cells[i].line * cell_height;
    if (i > 0) canvas.rectangle(x, y, text[i] == '\n' ? cell_width / 2 : cell_width, cell_height, ground(bits[i - 1]));
    const std::string character(1, text[i]);
    if (text[i] <= ' ') continue;
    const double room = (static_cast<double>(cell_width) - text_width(character, capital)) / 2;
    canvas.text({static_cast<double>(x) + room, static_cast<double>(y) + 5}, character, capital, colours::ink);
  }
  write_png(path, canvas.pixels());
}

int run(const SurpriseOptions &o) {
  set_threads(1);
  const TrainedModel model = on_input([&] { return load_trained(o.model); });
  const std::vector<uint8_t> bytes = read_file(o.text, uint64_t{1} << 30);
  const auto size = static_cast<int64_t>(bytes.size());
  const int64_t from = o.from >= 0 ? o.from : std::max<int64_t>(size - o.length, 0),
                to = size - from < o.length ? size : from + o.length;
  if (to - from < 2) throw BadInput(o.text + " has no two characters from " + std::to_string(from) + " on");
  const std::string text(bytes.begin() + from, bytes.begin() + to);
  const std::vector<double> bits = surprises(*model.net, on_input([&] { return model.tokens_of(text); }));
  double total = 0;
  for (const double b : bits) total += b;
  const double mean = total / static_cast<double>(bits.size());
  char title[64];
  std::snprintf(title, sizeof title, "Bits of each character: %.2f on average", mean);
  draw(o.output, text, bits, title);
  const nlohmann::ordered_json facts = {
      {"characters", bits.size()}, {"bits_per_character", mean}, {"picture", o.output}};
  if (o.json)
    std::cout << json_text(facts) << "\n";
  else
    std::cout << o.output << ": " << bits.size() << " characters, " << mean << " bits each\n";
  return 0;
}

}  // namespace

void define_surprise(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<SurpriseOptions>();
  app.add_option("MODEL", o->model, "What training wrote: model.safetensors")->required();
  app.add_option("--text", o->text, "The file to read")->required();
  app.add_option("--from", o->from, "The first byte to read; else so that the text's end is read");
  app.add_option("--length", o->length, "Characters to read")
      ->check(CLI::Range(int64_t{2}, int64_t{20000}))
      ->capture_default_str();
  app.add_option("-o,--output", o->output, "PNG file to write")->capture_default_str();
  app.add_flag("--json", o->json, "One line of JSON");
  app.callback([o, &chosen] { chosen = [o] { return run(*o); }; });
}

}  // namespace saltern
