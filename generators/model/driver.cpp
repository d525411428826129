#include "generators/model/driver.h"

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <sstream>

#include "generators/model/driver/weights_head.h"
#include "generators/model/driver_source.h"
#include "runtime/files/hash.h"

namespace saltern::generators {

namespace {

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
    placed << "  {" << static_cast<int>(e.region) << ", " << e.offset << ", " << outer << ", " << channels << ", "
           << pixels << ", " << facts(e.type).bytes() << ", " << e.direct << "},\n";
  }
  return "static const struct edge " + table + "[] = {\n" + placed.str() + "};\n";
}

// They end with one of nothing.
std::string copy_table(const std::vector<StateCopy> &copies, const std::string &table) {
  std::ostringstream all;
  for (const StateCopy &c : copies)
    all << "  {" << static_cast<int>(c.region) << ", " << c.from << ", " << c.to << ", " << c.bytes << "},\n";
  return "static const struct copy " + table + "[] = {\n" + all.str() + "  {0, 0, 0, 0},\n};\n";
}

std::string variant_tables(const Plan &plan, const std::string &name) {
  std::ostringstream kernels, uses, steps, edges, variants;
  for (int k = 0; k < plan.kernels; ++k) kernels << "int " << name << "_kernel_" << k << "_argv(void **);\n";
  int next = 0;
  for (size_t v = 0; v < plan.variants.size(); ++v) {
    const Variant &variant = plan.variants[v];
    steps << "static const struct step steps_" << v << "[] = {\n";
    for (const DriverStep &s : variant.steps) {
      for (const BufferUse &u : s.buffers) {
        const StoredAs type = facts(u.type).storage;
        uses << "  {" << static_cast<int>(u.region) << ", " << u.edge << ", " << u.offset << ", " << int(type.code)
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
    edges << copy_table(variant.copies, "copies_" + number);
    variants << "  {steps_" << v << ", " << variant.steps.size() << ", input_edges_" << v << ", output_edges_" << v
             << (plan.training && v == 0 ? ", train_input_facts, train_output_facts, "
                                         : ", input_facts, output_facts, ")
             << variant.inputs.size() << ", " << variant.outputs.size() << ", copies_" << v << "},\n";
  }
  return kernels.str() + "static const struct use uses[] = {\n" + uses.str() + "};\n" + steps.str() + edges.str() +
         "static const struct variant variants[] = {\n" + variants.str() + "};\n";
}

std::string weights_hash(const std::vector<uint8_t> &weights) {
  return content_hash({reinterpret_cast<const char *>(weights.data()), weights.size()});
}

// As driver/tables.h explains them.
std::string size_table(const Plan &plan, const CpuNeed &least, const KernelMemory &memory) {
  size_t most_uses = 1, most_edges = 1;
  for (const Variant &v : plan.variants) {
    most_edges = std::max(most_edges, v.state.size() + v.inputs.size() + v.outputs.size());
    for (const DriverStep &s : v.steps) most_uses = std::max(most_uses, s.buffers.size());
  }
  std::ostringstream all;
  all << "enum { most_uses = " << most_uses << ", states = " << plan.seen().state.size()
      << ", most_edges = " << most_edges << " };\n"
      << "static const size_t workspace_bytes = " << plan.workspace_bytes << ", weights_bytes = " << plan.weights.size()
      << ", state_bytes = " << plan.state_bytes << ";\n"
      << "static const size_t first_state = " << plan.first_state << ";\n"
      << "static const size_t caller_bytes = " << memory.caller << ", task_bytes = " << memory.task << ";\n"
      << "static const char least_cpu[] = \"" << least.name << "\";\n"
      << "static const uint64_t cpu_features[] = {" << comma_separated(least.features) << "};\n"
      << "enum { bytes_feature = " << least.bytes_feature << " };\n";
  return all.str();
}

std::string state_tables(const Plan &plan, const std::string &name) {
  const std::string tables =
      fact_table(plan.seen().state, "state", name) + edge_table(plan.seen().state, "state_edges");
  return tables + "#define STATE_HASH \"" + content_hash(tables) + "\"\n";
}

DriverFacts facts_of(const Plan &plan, const std::string &name, bool weights_inside) {
  const auto count = [](const std::vector<Edge> &edges) { return static_cast<int64_t>(edges.size()); };
  return {name,
          "",
          {{"NAME_WEIGHTS_IN_FILE", !weights_inside},
           {"NAME_ANY_BATCH", plan.samples > 0},
           {"NAME_STATE", !plan.seen().state.empty()},
           {"NAME_TRAINING", plan.training}},
          {{"NAME_INPUTS", count(plan.seen().inputs)},
           {"NAME_OUTPUTS", count(plan.seen().outputs)},
           {"NAME_STATES", count(plan.seen().state)},
           {"NAME_SAMPLES", plan.samples}}};
}

}  // namespace

std::string header_text(const Plan &plan, const std::string &name, bool weights_inside) {
  return driver_source("NAME.h", facts_of(plan, name, weights_inside));
}

std::string driver_text(const Plan &plan, const std::string &name, bool weights_inside, const CpuNeed &least,
                        const KernelMemory &memory) {
  DriverFacts facts = facts_of(plan, name, weights_inside);
  facts.tables = size_table(plan, least, memory) + fact_table(plan.seen().inputs, "input", name) +
                 fact_table(plan.seen().outputs, "output", name);
  if (plan.training)
    facts.tables += fact_table(plan.variants[0].inputs, "train_input", name) +
                    fact_table(plan.variants[0].outputs, "train_output", name);
  facts.tables += variant_tables(plan, name);
  if (!plan.seen().state.empty()) facts.tables += state_tables(plan, name);
  if (!weights_inside) facts.tables += "#define WEIGHTS_HASH \"" + weights_hash(plan.weights) + "\"\n";
  return driver_source("NAME_driver.c", facts);
}

std::string main_text(const Plan &plan, const std::string &name, bool weights_inside) {
  return driver_source("NAME_main.c", facts_of(plan, name, weights_inside));
}

std::vector<uint8_t> weights_file_head(const std::vector<uint8_t> &weights) {
  weights_head head = {};
  std::memcpy(head.word, WEIGHTS_WORD, sizeof head.word);
  head.version = weights_version;
  head.head_bytes = sizeof head;
  head.bytes = weights.size();
  std::memcpy(head.hash, weights_hash(weights).data(), sizeof head.hash);
  const auto *first = reinterpret_cast<const uint8_t *>(&head);
  return {first, first + sizeof head};
}

std::string weights_text(const std::string &name, const std::string &weights_file) {
  const std::string symbol = name + "_weights";
  return ".section .rodata\n.balign 64\n.globl " + symbol + "\n.type " + symbol + ", @object\n" + symbol +
         ":\n.incbin \"" + weights_file + "\"\n.byte 0\n.size " + symbol + ", . - " + symbol +
         "\n.section .note.GNU-stack, \"\", @progbits\n";
}

}  // namespace saltern::generators
