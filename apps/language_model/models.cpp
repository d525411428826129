#include "apps/language_model/models.h"

#include <charconv>

#include "runtime/tensor/checkpoint.h"

namespace saltern {

namespace {

template <typename Model>
std::unique_ptr<LanguageModel> made(const LanguageOptions &options) {
  return std::make_unique<Model>(options);
}

// What a file says of the model's form, with bounds that keep a damaged one from asking for all memory.
struct Number {
  const char *name;
  int64_t LanguageOptions::*member;
  int64_t most;
};
constexpr Number numbers[] = {{"width", &LanguageOptions::width, 1 << 14},
                              {"layers", &LanguageOptions::layers, 1 << 10},
                              {"heads", &LanguageOptions::heads, 1 << 10},
                              {"context", &LanguageOptions::context, 1 << 16}};

const std::string &metadata(const Checkpoint &file, const std::string &path, const std::string &name) {
  const auto it = file.metadata.find(name);
  if (it == file.metadata.end()) fail(path, " is no language model: its metadata has no '", name, "'");
  return it->second;
}

}  // namespace

const std::vector<LanguageModelRow> &models() {
  static const std::vector<LanguageModelRow> rows = {{"gpt", "A small GPT", 2, made<GptModel>},
                                                     {"lstm", "An LSTM", 1, made<LstmModel>}};
  return rows;
}

const LanguageModelRow &model_row(const std::string &kind) {
  for (const LanguageModelRow &row : models())
    if (kind == row.kind) return row;
  fail("there is no language model '", kind, "'");
}

std::unique_ptr<LanguageModel> make_model(const LanguageOptions &options) {
  return model_row(options.kind).make(options);
}

std::vector<int64_t> TrainedModel::tokens_of(const std::string &text) const {
  std::vector<int64_t> tokens;
  for (const char c : text) {
    const size_t place = alphabet.find(c);
    if (place == std::string::npos)
      fail("character '", c, "' (", static_cast<int>(static_cast<unsigned char>(c)),
           ") is not in the text that the model learned from");
    tokens.push_back(static_cast<int64_t>(place));
  }
  return tokens;
}

void save_trained(const std::string &path, const LanguageOptions &options, const std::string &alphabet,
                  LanguageModel &net) {
  Checkpoint file;
  for (const auto &[name, tensor] : net.state()) file.tensors["net." + name] = tensor;
  file.tensors["alphabet"] =
      Tensor::of<uint8_t>({static_cast<int64_t>(alphabet.size())}, {alphabet.begin(), alphabet.end()});
  file.metadata["kind"] = options.kind;
  for (const Number &n : numbers) file.metadata[n.name] = std::to_string(options.*n.member);
  save_checkpoint(path, file);
}

TrainedModel load_trained(const std::string &path) {
  const Checkpoint file = load_checkpoint(path, {/*expect_finite=*/true});
  TrainedModel model;
  model.options.kind = metadata(file, path, "kind");
  model.options.dropout = 0;
  for (const Number &n : numbers) {
    const std::string &text = metadata(file, path, n.name);
    int64_t &value = model.options.*n.member;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > n.most)
      fail(path, ": its ", n.name, " '", text, "' is no number from 1 to ", n.most);
  }
  const auto alphabet = file.tensors.find("alphabet");
  if (alphabet == file.tensors.end() || alphabet->second.rank() != 1 || alphabet->second.type() != Type::u8 ||
      alphabet->second.size() > 256)
    fail(path, " is no language model: it has no alphabet, u8 [n]");
  for (const int64_t byte : alphabet->second.integers()) model.alphabet += static_cast<char>(byte);
  model.options.characters = static_cast<int64_t>(model.alphabet.size());
  std::map<std::string, Tensor> weights;
  for (const auto &[name, tensor] : file.tensors)
    if (name.rfind("net.", 0) == 0) weights[name.substr(4)] = tensor;
  try {
    model.net = make_model(model.options);
    model.net->load_state(weights);
  } catch (const Error &e) {
    fail(path, ": ", e.what());
  }
  model.net->eval();
  return model;
}

}  // namespace saltern
