#include "generators/model/driver.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "generators/model/driver_header.h"
#include "generators/model/driver_main.h"
#include "generators/model/driver_memory.h"
#include "generators/model/driver_sources.h"
#include "generators/model/driver_threads.h"
#include "generators/model/driver_weights.h"
#include "runtime/files/hash.h"

namespace saltern::generators {

namespace {

constexpr int abi_version = 2;

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

// What users see of the inputs or the outputs.
std::string fact_table(const std::vector<Edge> &edges, const std::string &kind, const std::string &name) {
  std::ostringstream shapes, seen;
  for (size_t i = 0; i < edges.size(); ++i) {
    const Edge &e = edges[i];
    shapes << "static const int64_t " << kind << "_shape_" << i << "[] = {"
           << comma_separated(e.shape.empty() ? Shape{1} : e.shape) << "};\n";
    seen << "  {" << c_string(e.name) << ", \"" << facts(e.type).name << "\", " << e.shape.size() << ", " << kind
         << "_shape_" << i << ", " << elements(e.shape) << ", " << elements(e.shape) * facts(e.type).bytes() << "},\n";
  }
  return shapes.str() + "static const " + name + "_tensor " + kind + "_facts[] = {\n" + seen.str() + "};\n";
}

// Where they lie.
std::string edge_table(const std::vector<Edge> &edges, const std::string &table) {
  std::ostringstream placed;
  for (const Edge &e : edges) {
    const bool turned = e.layout == Layout::channels_last && e.shape.size() >= 3;
    const int64_t outer = turned ? e.shape[0] : 1, channels = turned ? e.shape[1] : 1;
    const int64_t pixels = outer * channels == 0 ? 0 : elements(e.shape) / outer / channels;
    placed << "  {" << (e.region == Region::weights) << ", " << e.offset << ", " << outer << ", " << channels << ", "
           << pixels << ", " << facts(e.type).bytes() << ", " << e.direct << "},\n";
  }
  return "static const struct edge " + table + "[] = {\n" + placed.str() + "};\n";
}

std::string variant_tables(const Plan &plan, const std::string &name) {
  std::ostringstream kernels, uses, steps, edges, variants;
  for (int k = 0; k < plan.kernels; ++k) kernels << "int " << name << "_kernel_" << k << "_argv(void **);\n";
  int next = 0;
  for (size_t v = 0; v < plan.variants.size(); ++v) {
    const Variant &variant = plan.variants[v];
    steps << "static const struct step steps_" << v << "[] = {\n";
    for (const Step &s : variant.steps) {
      for (const BufferUse &u : s.buffers) {
        const halide_type_t type = facts(u.type).halide;
        uses << "  {" << (u.region == Region::weights) << ", " << u.edge << ", " << u.offset << ", " << int(type.code)
             << ", " << int(type.bits) << ", " << u.extents.size() << ", {" << comma_separated(u.extents) << "}, {"
             << comma_separated(u.strides) << "}},\n";
      }
      steps << "  {" << name << "_kernel_" << s.kernel << "_argv, " << c_string(s.origin) << ", " << next << ", "
            << s.buffers.size() << ", " << s.lanes << ", " << s.length << "},\n";
      next += static_cast<int>(s.buffers.size());
    }
    steps << "};\n";
    const std::string number = std::to_string(v);
    edges << edge_table(variant.inputs, "input_edges_" + number)
          << edge_table(variant.outputs, "output_edges_" + number);
    variants << "  {steps_" << v << ", " << variant.steps.size() << ", input_edges_" << v << ", output_edges_" << v
             << "},\n";
  }
  return kernels.str() + "static const struct use uses[] = {\n" + uses.str() + "};\n" + steps.str() + edges.str() +
         "static const struct variant variants[] = {\n" + variants.str() + "};\n";
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

std::string header_text(const Plan &plan, const std::string &name, bool weights_inside) {
  return filled(header_template,
                {{"$CREATION", weights_inside ? creation_with_weights_inside : creation_from_weights_file},
                 {"$CREATE", weights_inside ? "@_create" : "@_create_from_file"},
                 {"$BATCH", plan.samples ? run_batch_declaration : ""},
                 {"$SAMPLES", std::to_string(plan.samples)},
                 {"$ABI", std::to_string(abi_version)},
                 {"$INPUTS", std::to_string(plan.seen().inputs.size())},
                 {"$OUTPUTS", std::to_string(plan.seen().outputs.size())},
                 {"@", name}});
}

std::string driver_text(const Plan &plan, const std::string &name, bool weights_inside, const CpuNeed &least,
                        const KernelMemory &memory) {
  size_t most_uses = 1;
  for (const Variant &v : plan.variants)
    for (const Step &s : v.steps) most_uses = std::max(most_uses, s.buffers.size());
  const std::string body = std::string(driver_model) + driver_memory + driver_threads + driver_body +
                           (plan.samples ? driver_run_batch : "") +
                           (weights_inside ? create_with_weights_inside : create_from_weights_file);
  return filled(driver_head, {{"@", name}}) + variant_tables(plan, name) +
         fact_table(plan.seen().inputs, "input", name) + fact_table(plan.seen().outputs, "output", name) +
         filled(body, {{"$CPU", least.name},
                       {"$FEATURES", comma_separated(least.features)},
                       {"$WORKSPACE", std::to_string(plan.workspace_bytes)},
                       {"$WEIGHTS", std::to_string(plan.weights.size())},
                       {"$CALLER", std::to_string(memory.caller)},
                       {"$TASK", std::to_string(memory.task)},
                       {"$USES", std::to_string(most_uses)},
                       {"$SAMPLES", std::to_string(plan.samples)},
                       {"$WORD", weights_file_word},
                       {"$VERSION", std::to_string(weights_file_version)},
                       {"$HASH", weights_inside ? "" : weights_hash(plan.weights)},
                       {"@", name}});
}

std::string main_text(const Plan &plan, const std::string &name, bool weights_inside) {
  std::string usage, parse, make;
  if (!weights_inside) {
    usage += "    \"  --weights FILE    the model's weights; @.weights unless given\\n\"\n";
    parse += "    else if (!strcmp(a, \"--weights\") && value) weights = value, ++i;\n";
    make =
        "  char error[600];\n"
        "  @_model *model = @_create_from_file(&options, weights, error, sizeof error);\n"
        "  if (!model) fail(\"%s\", error);\n";
  } else {
    make = "  @_model *model = @_create(&options);\n  if (!model) fail(\"memory is short\");\n";
  }
  if (plan.samples) {
    usage += "    \"  --batch N         runs N samples, which the input files hold one after the other\\n\"\n";
    parse += "    else if (!strcmp(a, \"--batch\")) batch = (size_t)number(a, value), ++i;\n";
  }
  return filled(main_template, {{"$USAGE", usage},
                                {"$PARSE", parse},
                                {"$MAKE", make},
                                {"$WEIGHTS_PATH", weights_inside ? "" : ", *weights = \"@.weights\""},
                                {"$RUN", plan.samples ? "@_run_batch(model, batch, inputs, outputs)"
                                                      : "@_run(model, inputs, outputs)"},
                                {"@", name}});
}

std::string weights_hash(const std::vector<uint8_t> &weights) {
  return content_hash({reinterpret_cast<const char *>(weights.data()), weights.size()});
}

std::vector<uint8_t> weights_file_head(const std::vector<uint8_t> &weights) {
  std::vector<uint8_t> head;
  const auto add = [&](const void *from, size_t bytes) {
    const auto *first = static_cast<const uint8_t *>(from);
    head.insert(head.end(), first, first + bytes);
  };
  constexpr uint32_t numbers[] = {weights_file_version, 64};
  const uint64_t bytes = weights.size();
  add(weights_file_word, 8);
  add(numbers, sizeof numbers);
  add(&bytes, sizeof bytes);
  add(weights_hash(weights).data(), 32);
  head.resize(64);
  return head;
}

std::string weights_text(const std::string &name, const std::string &weights_file) {
  const std::string symbol = name + "_weights";
  return ".section .rodata\n.balign 64\n.globl " + symbol + "\n.type " + symbol + ", @object\n" + symbol +
         ":\n.incbin \"" + weights_file + "\"\n.byte 0\n.size " + symbol + ", . - " + symbol +
         "\n.section .note.GNU-stack, \"\", @progbits\n";
}

}  // namespace saltern::generators
