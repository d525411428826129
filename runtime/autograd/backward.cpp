#include "runtime/autograd/backward.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "runtime/autograd/batching.h"
#include "runtime/autograd/joined_gradients.h"
#include "runtime/autograd/sparse.h"
#include "runtime/layers/binary.h"

namespace saltern {

namespace {

// What a gradient belongs to: an output of a step, or a leaf.
using Key = std::pair<const void *, int>;
Key key(const Variable &v) { return v.step() ? Key{v.step().get(), v.index()} : Key{v.identity(), -1}; }

struct KeyHash {
  size_t operator()(const Key &k) const {
    return std::hash<const void *>()(k.first) * 31 + static_cast<size_t>(k.second);
  }
};

// Of the types that have no kernels.
const Operation added_gradients("added_gradients", [](Value a, Value b) { return a + b; });

Variable added_rows(const Variable &a, const Variable &b) {
  return of_sparse(a.shape(), joined(*a.sparse(), *b.sparse()));
}

class Walk {
 public:
  Walk(const std::vector<Variable> &ys, const std::vector<Variable> *targets, bool record, bool free_tape)
      : record_(record), free_tape_(free_tape) {
    if (targets) {
      everything_ = false;
      for (const Variable &x : *targets) targets_.insert(key(x));
    }
    collect(ys);
  }

  void run(const std::vector<Variable> &ys, const std::vector<Variable> &dys) {
    RecordingGuard guard(record_ ? std::max(recording_mode(), RecordingMode::where_needed) : RecordingMode::off);
    for (size_t i = 0; i < ys.size(); ++i) add(ys[i], dys[i]);
    JoinedGradients joined(steps_wanted());
    // From the newest step to the oldest, all gradients of a step's outputs are complete when it is reached.
    for (auto it = steps_.rbegin(); it != steps_.rend(); ++it) {
      if (wanted_.at(it->get())) differentiate(**it, joined);
      if (free_tape_) (*it)->release();
      it->reset();
    }
  }

  // The gradients that reached leaves, with their leaves.
  std::vector<std::pair<Variable, Variable>> leaves() const {
    std::vector<std::pair<Variable, Variable>> all;
    for (const Variable &leaf : leaves_) all.emplace_back(leaf, sums_.at(key(leaf)));
    return all;
  }

  Variable of(const Variable &x) const {
    auto it = sums_.find(key(x));
    return it == sums_.end() ? Variable() : it->second;
  }

 private:
  // Which of the steps behind the results lead to something wanted.
  void collect(const std::vector<Variable> &ys) {
    steps_ = steps_behind(ys, [](const Variable &v) { return v.requires_gradient(); });
    for (const auto &step : steps_) {
      if (step->released())
        fail("the tape of operation '", step->operation().name,
             "' has been freed by an earlier backward(); keep it there (Tape::keep, retain_graph=True) to walk it "
             "twice");
      bool wanted = false;
      for (const Variable &in : step->inputs()) wanted |= leads_to_wanted(in);
      wanted_[step.get()] = wanted;
    }
  }

  bool leads_to_wanted(const Variable &in) const {
    if (!in.requires_gradient()) return false;
    if (everything_ || targets_.count(key(in))) return true;
    return in.step() && wanted_.at(in.step().get());
  }

  std::vector<std::shared_ptr<Step>> steps_wanted() const {
    std::vector<std::shared_ptr<Step>> all;
    for (const auto &s : steps_)
      if (wanted_.at(s.get())) all.push_back(s);
    return all;
  }

  void differentiate(const Step &step, JoinedGradients &joined) {
    std::vector<Variable> dy(step.output_count());
    bool any = false;
    for (size_t i = 0; i < dy.size(); ++i) {
      auto it = sums_.find({&step, static_cast<int>(i)});
      if (it == sums_.end()) continue;
      any = true;
      dy[i] = it->second;
      if (!targets_.count(it->first)) sums_.erase(it);  // its memory is free for what comes next
    }
    std::vector<bool> needed;
    for (const Variable &in : step.inputs()) needed.push_back(leads_to_wanted(in));
    for (GradientOf &g : joined.take(step, dy[0], needed)) add(g.value, std::move(g.gradient));
    if (!any || std::none_of(needed.begin(), needed.end(), [](bool n) { return n; })) return;
    const Operation &operation = step.operation();
    if (!operation.gradient) fail("operation '", operation.name, "' has no gradient rule");
    std::vector<Variable> dx = operation.gradient(Taped(step, needed), dy);
    if (dx.size() > needed.size())
      fail("the gradient rule of '", operation.name, "' gave ", dx.size(), " gradients for ", needed.size(), " inputs");
    dy.clear();
    for (size_t i = 0; i < dx.size(); ++i)
      if (needed[i] && dx[i].defined()) {
        if (dx[i].shape() != step.inputs()[i].shape())
          fail("the gradient rule of '", operation.name, "' gave ", to_string(dx[i].shape()), " for input ", i, " of ",
               to_string(step.inputs()[i].shape()));
        add(step.inputs()[i], std::move(dx[i]));
      }
  }

  void add(const Variable &to, Variable gradient) {
    auto [it, is_first] = sums_.try_emplace(key(to));
    if (!to.step() && is_first) leaves_.push_back(to);
    if (is_first)
      it->second = std::move(gradient);
    else
      it->second = accumulate(std::move(it->second), gradient, record_);
  }

  // a + b; in a's memory where nobody else can see it.
  static Variable accumulate(Variable a, const Variable &b, bool record) {
    if (a.sparse() && b.sparse()) return added_rows(a, b);
    if (a.value().type() != Type::f32) return added_gradients(a, b);
    // A part of a larger tensor has strides that kernels do not write.
    if (record || !a.is_unique() || !a.value().is_dense()) return a + b;
    add_to(a.value(), b.value());
    return a;
  }

  bool record_, free_tape_, everything_ = true;
  std::vector<std::shared_ptr<Step>> steps_;
  std::unordered_map<const Step *, bool> wanted_;
  std::unordered_set<Key, KeyHash> targets_;
  std::unordered_map<Key, Variable, KeyHash> sums_;
  std::vector<Variable> leaves_;
};

Variable seed(const Variable &y, const Variable &dy, const char *caller) {
  if (!y.defined()) fail(caller, " of an undefined Variable");
  if (!y.requires_gradient()) fail(caller, " of a Variable that does not depend on anything that requires a gradient");
  if (dy.defined()) {
    if (dy.shape() != y.shape())
      fail(caller, ": a gradient of ", to_string(dy.shape()), " for a result of ", to_string(y.shape()));
    return dy;
  }
  if (y.value().size() != 1)
    fail(caller, " needs a result of one element, or its gradient; this one is ", to_string(y.shape()));
  return Tensor::full(y.shape(), 1, y.value().type());
}

}  // namespace

void backward(const Variable &y, const Variable &dy, Tape tape) {
  const AtOnce nothing_waits;
  const Variable start = seed(y, dy, "backward()");
  Walk walk({y}, nullptr, false, tape == Tape::free);
  walk.run({y}, {start});
  NoGradient guard;
  for (auto &[leaf, gradient] : walk.leaves()) {
    const Variable &before = leaf.gradient();
    const bool both_sparse = before.defined() && before.sparse() && gradient.sparse();
    leaf.set_gradient(both_sparse ? added_rows(before, gradient) : before.defined() ? before + gradient : gradient);
  }
}

void backward(const Variable &loss, Tape tape) { backward(loss, Variable(), tape); }

std::vector<Variable> gradients(const std::vector<Variable> &ys, const std::vector<Variable> &xs,
                                const std::vector<Variable> &dys, const GradientOptions &options) {
  const AtOnce nothing_waits;
  if (!dys.empty() && dys.size() != ys.size())
    fail("gradients(): ", dys.size(), " gradients for ", ys.size(), " results");
  std::vector<Variable> seeds;
  for (size_t i = 0; i < ys.size(); ++i) seeds.push_back(seed(ys[i], dys.empty() ? Variable() : dys[i], "gradients()"));
  for (const Variable &x : xs) {
    if (!x.requires_gradient()) fail("gradients() with respect to a Variable that does not require one");
    if (x.was_read_elsewhere())
      fail("gradients() with respect to a result of ", to_string(x.shape()),
           " that was computed in a batch, and read there: ask for its value() before anything is computed from it");
  }
  Walk walk(ys, &xs, options.create_graph, !options.create_graph && options.tape == Tape::free);
  walk.run(ys, seeds);
  std::vector<Variable> all;
  for (const Variable &x : xs) all.push_back(walk.of(x));
  return all;
}

std::vector<Variable> gradients(const Variable &y, const std::vector<Variable> &xs, const GradientOptions &options) {
  return gradients(std::vector<Variable>{y}, xs, {options.dy}, options);
}

}  // namespace saltern
