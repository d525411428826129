#include "runtime/onnx/infer_shapes.h"

#include <set>

#include "runtime/onnx/sample_walk.h"

namespace saltern {

namespace {

using Extents = std::map<std::string, int64_t>;
using Samples = std::vector<std::map<std::string, Sampled>>;

constexpr int64_t unit = 64;        // many models halve an extent five times
constexpr size_t most_names = 8;    // that are varied one by one
constexpr size_t most_values = 64;  // elements of a value that is kept as a constant

// Which walks are taken: the first, then one for each name, then those that only have to agree.
struct Plan {
  std::vector<std::string> names;
  std::vector<Extents> walks;
  size_t fitted() const { return std::min(names.size(), most_names); }
};

Plan planned(const Graph &g) {
  Plan p;
  std::set<std::string> names;
  for (const std::string &i : g.inputs) {
    const Graph::Value &v = g.value(i);
    for (size_t d = 0; d < v.shape.size(); ++d)
      if (v.ranked && v.shape[d] < 0 && !v.constant.defined()) names.insert(extent_name(i, v, d));
  }
  p.names.assign(names.begin(), names.end());
  const auto walk = [&](int64_t (*extent)(int64_t i)) {
    Extents all;
    for (size_t i = 0; i < p.names.size(); ++i) all[p.names[i]] = extent(static_cast<int64_t>(i));
    p.walks.push_back(all);
  };
  walk([](int64_t i) { return unit * (i + 2); });
  for (size_t i = 0; i < p.fitted(); ++i) {
    p.walks.push_back(p.walks[0]);
    p.walks.back()[p.names[i]] += unit;
  }
  if (p.names.empty()) return p;
  walk([](int64_t i) { return 101 + 14 * i; });
  walk([](int64_t i) { return 1024 + 3 * unit * i; });
  walk([](int64_t) { return int64_t{1}; });
  return p;
}

// An extent as a function of names: whole + sum of factors[i] names[i], or factor times a product of names.
class Fit {
 public:
  Fit(const Plan &plan, std::vector<int64_t> extents) : plan_(plan), extents_(std::move(extents)) {}

  // -1 where it is no number; `symbol` then says what it is, or is empty.
  int64_t extent(std::string &symbol) const {
    symbol.clear();
    for (size_t w = 0; w <= plan_.fitted(); ++w)
      if (extents_[w] < 0) return -1;
    std::vector<int64_t> factors;
    bool whole_factors = true;
    int64_t whole = extents_[0];
    for (size_t i = 0; i < plan_.fitted(); ++i) {
      const int64_t change = extents_[i + 1] - extents_[0];
      whole_factors &= change % unit == 0;
      factors.push_back(change / unit);
      whole -= factors.back() * plan_.walks[0].at(plan_.names[i]);
    }
    const auto sum = [&](const Extents &at) {
      int64_t value = whole;
      for (size_t i = 0; i < factors.size(); ++i) value += factors[i] * at.at(plan_.names[i]);
      return value;
    };
    if (whole_factors && agrees(sum)) {
      if (std::all_of(factors.begin(), factors.end(), [](int64_t f) { return f == 0; })) return extents_[0];
      symbol = sum_text(whole, factors);
      return -1;
    }
    std::vector<std::string> names;  // those that it depends on
    int64_t factor = extents_[0];
    for (size_t i = 0; i < factors.size(); ++i) {
      if (extents_[i + 1] == extents_[0]) continue;
      names.push_back(plan_.names[i]);
      factor /= plan_.walks[0].at(names.back());
    }
    const auto product = [&](const Extents &at) {
      int64_t value = factor;
      for (const std::string &n : names) value *= at.at(n);
      return value;
    };
    if (agrees(product)) symbol = product_text(factor, names);
    return -1;
  }

 private:
  template <typename Function>
  bool agrees(const Function &f) const {
    for (size_t w = 0; w < extents_.size(); ++w)
      if (extents_[w] >= 0 && f(plan_.walks[w]) != extents_[w]) return false;
    return true;
  }

  static bool is_nameless(const std::string &name) { return name[0] == '?'; }

  std::string sum_text(int64_t whole, const std::vector<int64_t> &factors) const {
    std::string text;
    for (size_t i = 0; i < factors.size(); ++i) {
      if (factors[i] == 0) continue;
      if (is_nameless(plan_.names[i])) return "";
      const int64_t size = std::abs(factors[i]);
      text += factors[i] < 0 ? "-" : text.empty() ? "" : "+";
      text += (size == 1 ? "" : std::to_string(size) + "*") + plan_.names[i];
    }
    if (whole != 0) text += (whole > 0 ? "+" : "") + std::to_string(whole);
    return text;
  }

  static std::string product_text(int64_t factor, const std::vector<std::string> &names) {
    std::string text = factor == 1 ? "" : std::to_string(factor);
    for (const std::string &n : names) {
      if (is_nameless(n)) return "";
      text += (text.empty() ? "" : "*") + n;
    }
    return text;
  }

  const Plan &plan_;
  std::vector<int64_t> extents_;  // one for each walk; -1 where it is not known there
};

const Sampled *known_in(const std::map<std::string, Sampled> &walk, const std::string &name) {
  const auto it = walk.find(name);
  return it != walk.end() && it->second.known ? &it->second : nullptr;
}

// The elements, where they are few and the same in all walks.
Tensor same_elements(const Samples &samples, const std::string &name) {
  Tensor all;
  for (const auto &walk : samples) {
    const Sampled *s = known_in(walk, name);
    if (!s || !s->operand.value.defined() || s->operand.value.size() > static_cast<int64_t>(most_values)) return {};
    if (all.defined() && !is_same(Attribute(all), Attribute(s->operand.value))) return {};
    all = s->operand.value;
  }
  return all;
}

// Whether all walks that know the value know the same rank and type.
bool inferred(const Plan &plan, const Samples &samples, const std::string &name, Graph::Value &v) {
  const Sampled *first = known_in(samples[0], name);
  if (!first) return false;
  v.type = first->operand.type;
  for (const auto &walk : samples)
    if (const Sampled *s = known_in(walk, name);
        s && (s->operand.rank() != first->operand.rank() || s->operand.type != v.type))
      return false;
  bool named = false;
  for (size_t d = 0; d < first->operand.shape.size(); ++d) {
    std::vector<int64_t> extents;
    for (const auto &walk : samples) {
      const Sampled *s = known_in(walk, name);
      extents.push_back(s ? s->operand.shape[d] : -1);
    }
    v.symbols.emplace_back();
    v.shape.push_back(Fit(plan, std::move(extents)).extent(v.symbols.back()));
    named |= !v.symbols.back().empty();
  }
  if (!named) v.symbols.clear();
  v.constant = same_elements(samples, name);
  return true;
}

}  // namespace

Inferred infer_shapes(const Model &model) {
  const Plan plan = planned(model.graph);
  Samples samples;
  for (const Extents &extents : plan.walks) {
    SampleWalk walk(model);
    walk.run(extents);
    samples.push_back(walk.seen());
  }
  Inferred all;
  for (const auto &[name, seen] : samples[0]) {
    Graph::Value v;
    if (!name.empty() && inferred(plan, samples, name, v)) all.values.emplace(name, std::move(v));
  }
  return all;
}

Model with_inferred_shapes(Model model) {
  for (auto &[name, v] : infer_shapes(model).values) {
    const auto given = model.graph.values.find(name);
    if (given != model.graph.values.end() && given->second.constant.defined()) continue;
    const bool is_input =
        std::find(model.graph.inputs.begin(), model.graph.inputs.end(), name) != model.graph.inputs.end();
    if (is_input) continue;
    v.constant = {};
    // A file may know an extent that the walks could not tell.
    if (given != model.graph.values.end() && given->second.ranked && given->second.shape.size() == v.shape.size())
      for (size_t d = 0; d < v.shape.size(); ++d)
        if (v.shape[d] < 0 && v.symbol(d).empty() &&
            (given->second.shape[d] >= 0 || !given->second.symbol(d).empty())) {
          v.shape[d] = given->second.shape[d];
          v.symbols.resize(v.shape.size());
          v.symbols[d] = given->second.symbol(d);
        }
    model.graph.values[name] = v;
  }
  return model;
}

}  // namespace saltern
