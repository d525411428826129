#include <cstdio>
#include <memory>
#include <thread>

#include "apps/saltern/command.h"
#include "apps/saltern/file_readers.h"
#include "runtime/cpu_model.h"
#include "runtime/instruction_set.h"
#include "runtime/kernels.h"
#include "runtime/thread_pool.h"
#include "runtime/version.h"

namespace saltern {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string file;
  bool json = false;
};

Json about_this_machine() {
  Json sets = Json::array(), names = Json::array();
  for (InstructionSet s : available_instruction_sets()) sets.push_back(name(s));
  for (const Kernel &k : kernels()) names.push_back(k.name);
  return {{"version", version()},     {"cpu", cpu_model()},   {"cores", std::thread::hardware_concurrency()},
          {"instruction_sets", sets}, {"threads", threads()}, {"kernels", names}};
}

bool ends_with(const std::string &text, const std::string &end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Json about_file(const std::string &path) {
  std::string known;
  for (const FileReader &r : file_readers())
    for (const std::string &ending : r.endings) {
      if (ends_with(path, ending)) return on_input([&] { return r.describe(path); });
      known += (known.empty() ? "" : ", ") + ending;
    }
  throw BadInput(path + ": no reader for this kind of file; there are readers for names that end in: " + known);
}

std::string word(const Json &v) { return v.is_string() ? v.get<std::string>() : v.dump(); }

// One line a fact; where a fact is a list of things with parts, one line for each of them.
void print_text(const Json &facts) {
  for (const auto &[key, value] : facts.items()) {
    std::printf("%-17s", (key + ":").c_str());
    if (!value.is_array()) std::printf(" %s", word(value).c_str());
    for (const Json &v : value.is_array() ? value : Json::array()) {
      std::printf(v.is_object() ? "\n   " : "");
      for (const Json &part : v.is_object() ? v : Json::array({v})) std::printf(" %s", word(part).c_str());
    }
    std::printf("\n");
  }
}

int run(const Options &o) {
  const Json facts = o.file.empty() ? about_this_machine() : about_file(o.file);
  if (o.json)
    std::printf("%s\n", facts.dump().c_str());
  else
    print_text(facts);
  return 0;
}

}  // namespace

void define_info(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<Options>();
  app.add_option(
         "file", o->file,
         "A file to tell about: a model (ONNX or saved here), tensors, IDX data or a PNG; without one, this machine")
      ->check(CLI::ExistingFile);
  app.add_flag("--json", o->json, "One line of JSON");
  app.callback([o, &chosen] { chosen = [o] { return run(*o); }; });
}

}  // namespace saltern
