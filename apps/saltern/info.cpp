#include <cstdio>
#include <fstream>
#include <memory>
#include <thread>

#include "apps/saltern/command.h"
#include "apps/saltern/file_readers.h"
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

std::string cpu_model() {
  std::ifstream facts("/proc/cpuinfo");
  for (std::string line; std::getline(facts, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(": ") + 2);
  return "unknown";
}

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
  for (const FileReader &r : file_readers()) {
    if (ends_with(path, r.extension)) return on_input([&] { return r.describe(path); });
    known += std::string(known.empty() ? "" : ", ") + r.extension;
  }
  throw BadInput(path +
                 ": no reader for this kind of file; there are readers for: " + (known.empty() ? "none yet" : known));
}

void print_text(const Json &facts) {
  for (const auto &[key, value] : facts.items()) {
    std::printf("%-17s", (key + ":").c_str());
    if (!value.is_array()) {
      std::printf(" %s\n", value.is_string() ? value.get<std::string>().c_str() : value.dump().c_str());
      continue;
    }
    for (const Json &v : value) std::printf(" %s", v.is_string() ? v.get<std::string>().c_str() : v.dump().c_str());
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
  app.add_option("file", o->file, "A file to tell about, by its extension; without one, this machine")
      ->check(CLI::ExistingFile);
  app.add_flag("--json", o->json, "One line of JSON");
  app.callback([o, &chosen] { chosen = [o] { return run(*o); }; });
}

}  // namespace saltern
