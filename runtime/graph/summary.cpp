#include "runtime/graph/summary.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "runtime/autograd/state.h"
#include "runtime/graph/flops.h"
#include "runtime/graph/trace.h"

namespace saltern {

namespace {

// Of one step, as a graph of its own.
double flops_of(const Step &step) {
  Graph graph;
  NamedVariables inputs, outputs;
  for (const Variable &v : step.inputs()) {
    inputs.emplace_back("x" + std::to_string(inputs.size()), v);
    graph.add_input(inputs.back().first, v.shape(), v.value().type());
  }
  for (size_t i = 0; i < step.output_count(); ++i)
    outputs.emplace_back("y" + std::to_string(i), step.output(static_cast<int>(i)));
  trace_into(graph, inputs, outputs);
  return flops(graph);
}

// 1234567: 1,234,567
std::string grouped(int64_t n) {
  std::string digits = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

}  // namespace

double Summary::flops_since(uint64_t begun, const std::vector<Variable> &results) {
  double sum = 0;
  for (const auto &step : steps_behind(results, [&](const Variable &v) { return v.step()->number() >= begun; })) {
    const auto [known, is_new] = step_flops_.emplace(step->number(), 0);
    if (is_new) known->second = flops_of(*step);
    sum += known->second;
  }
  return sum;
}

void Summary::begin(const std::string &name, const std::string &kind) {
  open_.push_back({rows_.size(), steps_taken()});
  rows_.push_back({name, kind, {}, 0, 0, 0, open_.size() - 1});
}

void Summary::end(const std::vector<Variable> &results, const std::vector<Variable> &parameters) {
  if (open_.empty()) fail("a summary was told that a call ends which did not begin");
  Row &row = rows_[open_.back().row];
  if (!results.empty()) row.result = results[0].shape();
  for (const Variable &y : results) row.bytes += static_cast<int64_t>(y.value().bytes());
  int64_t bytes = 0;
  for (const Variable &p : parameters) {
    row.parameters += p.value().size();
    bytes += static_cast<int64_t>(p.value().bytes());
  }
  row.flops = flops_since(open_.back().begun, results);
  open_.pop_back();
  if (open_.empty()) parameter_bytes_ = bytes;
}

std::string Summary::text() const {
  using Line = std::array<std::string, 5>;
  std::vector<Line> lines = {{"layer", "result", "parameters", "FLOPs", "bytes"}};
  for (const Row &r : rows_) {
    const std::string last = r.name.substr(r.name.rfind('.') + 1);
    lines.push_back({std::string(2 * r.depth, ' ') + (r.depth > 0 ? last + ": " : "") + r.kind, to_string(r.result),
                     grouped(r.parameters), grouped(static_cast<int64_t>(r.flops)), grouped(r.bytes)});
  }
  std::array<size_t, 5> widths = {};
  for (const Line &line : lines)
    for (size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  std::string text;
  for (const Line &line : lines) {
    for (size_t c = 0; c < line.size(); ++c) {
      const std::string room(widths[c] - line[c].size(), ' ');
      text += c < 2 ? line[c] + room : room + line[c];
      text += c + 1 < line.size() ? "  " : "\n";
    }
  }
  return text + "parameters take " + grouped(parameter_bytes_) + " bytes\n";
}

Summary summary(Module &net, const Shape &input) {
  struct Names : Visitor {
    std::map<Module *, std::string> of;
    std::string path;
    void child(const std::string &name, Module &m) override {
      const std::string outer = path;
      path += (path.empty() ? "" : ".") + name;
      of.emplace(&m, path);
      m.visit(*this);
      path = outer;
    }
  } names;
  names.of.emplace(&net, "");
  net.visit(names);

  Summary s;
  // Hooks that are taken away again, whatever happens.
  struct Hooks {
    std::vector<std::pair<Module *, size_t>> all;
    ~Hooks() {
      for (auto &[module, number] : all) module->remove_hook(number);
    }
  } hooks;
  for (const auto &[module, name] : names.of) {
    hooks.all.emplace_back(module, module->register_forward_pre_hook([&s, path = name](Module &m, const Variable &) {
      s.begin(path, m.class_name());
    }));
    hooks.all.emplace_back(module, module->register_forward_hook([&s](Module &m, const Variable &, const Variable &y) {
      s.end(y.defined() ? std::vector{y} : std::vector<Variable>(), m.parameters());
      return Variable();
    }));
  }
  const EvaluationMode evaluation(net);
  const Recording recording;
  const NotedState noted;
  net(Tensor::zeros(input));
  return s;
}

std::ostream &operator<<(std::ostream &out, const Summary &s) { return out << s.text(); }

}  // namespace saltern
