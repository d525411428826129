#include "runtime/onnx/check_model.h"

#include <algorithm>
#include <tuple>

#include "runtime/onnx/operators/lowering.h"

namespace saltern {

namespace {

struct Signature {
  const char *domain, *name;
  int64_t since;
  size_t fewest_inputs, most_inputs, fewest_outputs, most_outputs;
  const char *attributes;  // names between spaces, those that must be given with a '!' behind

  std::tuple<std::string_view, std::string_view, int64_t> key() const { return {domain, name, since}; }
};

struct NewestOpset {
  const char *domain;
  int64_t version;
};

#include "onnx_signatures.inc"

// The one of the version that an opset has; null where there is none.
const Signature *find_signature(const Graph::Node &n, int64_t opset) {
  const std::tuple<std::string_view, std::string_view, int64_t> wanted = {n.domain, n.operation, opset};
  const Signature *after = std::upper_bound(std::begin(signatures), std::end(signatures), wanted,
                                            [](const auto &key, const Signature &s) { return key < s.key(); });
  if (after == std::begin(signatures)) return nullptr;
  const Signature *s = after - 1;
  return n.domain == s->domain && n.operation == s->name ? s : nullptr;
}

void check_count(const char *what, size_t given, size_t fewest, size_t most) {
  if (given < fewest) fail("has ", given, " ", what, "; its operator has ", fewest, " at least");
  if (given > most) fail("has ", given, " ", what, "; its operator has ", most, " at most");
}

void check_attributes(const Graph::Node &n, const Signature &s) {
  std::map<std::string, bool> needed;  // by name
  std::istringstream list(s.attributes);
  for (std::string word; list >> word;) {
    const bool must = word.back() == '!';
    needed[must ? word.substr(0, word.size() - 1) : word] = must;
  }
  const auto check_known = [&](const std::string &name) {
    if (!needed.count(name)) fail("has the attribute '", name, "', which its operator has not");
  };
  for (const auto &[name, a] : n.attributes) check_known(name);
  for (const auto &[name, of_function] : n.references) check_known(name);
  for (const auto &[name, must] : needed)
    if (must && !n.attributes.has(name) && !n.references.count(name)) fail("needs the attribute '", name, "'");
}

// Both branches stand for the node: they give what it gives.
void check_branches(const Graph::Node &n) {
  if (!n.domain.empty() || n.operation != "If") return;
  for (const char *branch : {"then_branch", "else_branch"}) {
    if (n.references.count(branch)) continue;
    const size_t given = n.attributes.graph(branch).outputs.size();
    if (given != n.outputs.size()) fail("its ", branch, " gives ", given, " values for ", n.outputs.size(), " outputs");
  }
}

void check_node(const Model &model, const Graph::Node &n, const Opsets &opsets) {
  if (model.function(n.domain, n.operation)) return;
  const auto version = opsets.find(n.domain);
  const Signature *s = find_signature(n, version == opsets.end() ? 1 : version->second);
  if (!s) return;
  check_count("inputs", n.inputs.size(), s->fewest_inputs, s->most_inputs);
  check_count("outputs", n.outputs.size(), s->fewest_outputs, s->most_outputs);
  check_attributes(n, *s);
  check_branches(n);
}

void check_graph(const Model &model, const Graph &g, const Opsets &opsets) {
  for (const Graph::Node &n : g.nodes) {
    try {
      check_node(model, n, opsets);
    } catch (const Error &e) {
      fail(describe(n), ": ", e.what());
    }
    for (const auto &[name, a] : n.attributes)
      if (const auto *inner = std::get_if<SharedGraph>(&a)) check_graph(model, **inner, opsets);
  }
}

void check_versions(const Opsets &opsets) {
  for (const auto &[domain, version] : opsets) {
    const std::string name = domain.empty() ? "ai.onnx" : domain;
    if (version < 1) fail("imports version ", version, " of the operators of ", name, "; they begin with 1");
    for (const NewestOpset &n : newest_opsets)
      if (domain == n.domain && version > n.version)
        unsupported("imports version ", version, " of the operators of ", name, "; the newest known here is ",
                    n.version);
  }
}

}  // namespace

void check_signatures(const Model &model) {
  check_versions(model.opsets);
  check_graph(model, model.graph, model.opsets);
  for (const ModelFunction &f : model.functions) {
    check_versions(f.opsets);
    check_graph(model, f.body, f.opsets);
  }
}

}  // namespace saltern
