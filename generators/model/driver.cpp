#include "generators/model/driver.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "generators/model/driver_sources.h"
#include "generators/model/driver_threads.h"

namespace saltern::generators {

namespace {

constexpr int abi_version = 1;

std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>> &places) {
  for (const auto &[place, content] : places)
    for (size_t at = 0; (at = text.find(place, at)) != std::string::npos; at += content.size())
      text.replace(at, place.size(), content);
  return text;
}

template <typename List>
std::string comma_separated(const List &list) {
  std::ostringstream s;
  for (auto it = list.begin(); it != list.end(); ++it) s << (it == list.begin() ? "" : ", ") << *it;
  return s.str();
}

// A name may hold anything.
std::string c_string(const std::string &text) {
  std::ostringstream all;
  all << '"';
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '?')
      all << '\\' << c;
    else if (code < 32 || code > 126)
      all << '\\' << std::oct << std::setw(3) << std::setfill('0') << static_cast<int>(code) << std::dec;
    else
      all << c;
  }
  all << '"';
  return all.str();
}

// The two tables of the inputs or the outputs: what the user sees, and where they lie.
std::string edge_tables(const std::vector<Edge> &edges, const std::string &kind, const std::string &name) {
  std::ostringstream shapes, seen, placed;
  for (size_t i = 0; i < edges.size(); ++i) {
    const Edge &e = edges[i];
    const int rank = static_cast<int>(e.shape.size());
    const bool turned = e.layout == Layout::channels_last && rank >= 3;
    const int64_t outer = turned ? e.shape[0] : 1, channels = turned ? e.shape[1] : 1;
    shapes << "static const int64_t " << kind << "_shape_" << i << "[] = {"
           << comma_separated(e.shape.empty() ? Shape{1} : e.shape) << "};\n";
    seen << "  {" << c_string(e.name) << ", \"" << facts(e.type).name << "\", " << rank << ", " << kind << "_shape_"
         << i << ", " << elements(e.shape) << ", " << elements(e.shape) * facts(e.type).bytes() << "},\n";
    placed << "  {" << e.offset << ", " << outer << ", " << channels << ", " << elements(e.shape) / outer / channels
           << ", " << facts(e.type).bytes() << "},\n";
  }
  return shapes.str() + "static const " + name + "_tensor " + kind + "_facts[] = {\n" + seen.str() +
         "};\nstatic const struct edge " + kind + "_edges[] = {\n" + placed.str() + "};\n";
}

std::string step_tables(const Plan &plan, const std::string &name) {
  std::ostringstream kernels, uses, steps;
  for (int k = 0; k < plan.kernels; ++k) kernels << "int " << name << "_kernel_" << k << "_argv(void **);\n";
  int next = 0;
  for (const Step &s : plan.steps) {
    for (const BufferUse &u : s.buffers) {
      const halide_type_t type = facts(u.type).halide;
      uses << "  {" << (u.region == Region::weights) << ", " << u.offset << ", " << int(type.code) << ", "
           << int(type.bits) << ", " << u.extents.size() << ", {" << comma_separated(u.extents) << "}},\n";
    }
    steps << "  {" << name << "_kernel_" << s.kernel << "_argv, " << c_string(s.origin) << ", " << next << ", "
          << s.buffers.size() << "},\n";
    next += static_cast<int>(s.buffers.size());
  }
  return kernels.str() + "static const struct use uses[] = {\n" + uses.str() +
         "};\nstatic const struct step steps[] = {\n" + steps.str() + "};\n";
}

}  // namespace

void check_model_name(const std::string &name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const bool good = !name.empty() && name.size() <= 60 && letter(name[0]) && name[0] != '_' &&
                    std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
  if (!good)
    fail("'", name,
         "' cannot name a model: expected a C identifier of 60 characters at most that begins with a letter");
  if (name.rfind("halide", 0) == 0) fail("'", name, "' cannot name a model: the prefix halide is taken");
}

std::string header_text(const Plan &plan, const std::string &name) {
  return filled(header_template, {{"$ABI", std::to_string(abi_version)},
                                  {"$INPUTS", std::to_string(plan.inputs.size())},
                                  {"$OUTPUTS", std::to_string(plan.outputs.size())},
                                  {"@", name}});
}

std::string driver_text(const Plan &plan, const std::string &name, const CpuNeed &least) {
  size_t most_uses = 1;
  for (const Step &s : plan.steps) most_uses = std::max(most_uses, s.buffers.size());
  return filled(driver_head, {{"@", name}}) + step_tables(plan, name) + edge_tables(plan.inputs, "input", name) +
         edge_tables(plan.outputs, "output", name) +
         filled(std::string(driver_model) + driver_threads + driver_body,
                {{"$CPU", least.name},
                 {"$FEATURES", comma_separated(least.features)},
                 {"$WORKSPACE", std::to_string(plan.workspace_bytes)},
                 {"$WEIGHTS", std::to_string(plan.weights.size())},
                 {"$STEPS", std::to_string(plan.steps.size())},
                 {"$USES", std::to_string(most_uses)},
                 {"@", name}});
}

std::string weights_text(const std::string &name, const std::string &weights_file) {
  const std::string symbol = name + "_weights";
  return ".section .rodata\n.balign 64\n.globl " + symbol + "\n.type " + symbol + ", @object\n" + symbol +
         ":\n.incbin \"" + weights_file + "\"\n.byte 0\n.size " + symbol + ", . - " + symbol +
         "\n.section .note.GNU-stack, \"\", @progbits\n";
}

}  // namespace saltern::generators
