#include "runtime/autograd/batching.h"

#include <algorithm>
#include <exception>
#include <map>
#include <unordered_map>

#include "runtime/autograd/batch_rows.h"
#include "runtime/autograd/joining.h"
#include "runtime/layers/movement.h"

namespace saltern {

namespace {

thread_local Agenda *current = nullptr;

size_t mixed(size_t hash, size_t with) { return (hash ^ with) * 0x9e3779b97f4a7c15u; }

}  // namespace

// What applications have in common that one call computes.
struct Signature {
  const Operation *operation;
  Attributes attributes;
  std::vector<std::pair<Type, Shape>> inputs;
  bool needed;  // gradients are recorded

  Joining by = {};
  std::vector<Tensor> outlines = {};  // of the results
  std::vector<Shape> shapes = {};
  size_t number = 0;

  bool is_of(const Operation &o, const std::vector<Variable> &in, const Attributes &a, bool n) const {
    return operation == &o && needed == n && attributes == a &&
           std::equal(in.begin(), in.end(), inputs.begin(), inputs.end(), [](const Variable &v, const auto &known) {
             return v.type() == known.first && v.shape() == known.second;
           });
  }
};

// One application that waits, and then knows where its results are.
struct Postponed {
  Postponed(Agenda *a, std::shared_ptr<const Signature> s, std::vector<Variable> in, std::vector<Tensor> kept)
      : agenda(a), signature(std::move(s)), inputs(std::move(in)), leaves(std::move(kept)) {
    for (const Tensor &t : leaves) versions.push_back(t.memory()->keep());
  }
  ~Postponed() { let_go(); }
  Postponed(const Postponed &) = delete;
  Postponed &operator=(const Postponed &) = delete;

  bool is_computed() const { return !results.empty(); }
  void let_go() {
    for (const Tensor &t : leaves) t.memory()->let_go();
    leaves.clear();
    inputs.clear();
  }

  Agenda *agenda;  // that computes it; null when it did, or has gone
  std::shared_ptr<const Signature> signature;
  std::vector<Variable> inputs;
  std::vector<Tensor> leaves;  // among the inputs: they must not be written until they are read
  std::vector<uint64_t> versions;
  size_t depth = 0;  // of all that waits for nothing

  size_t waits_for = 0;
  std::vector<Postponed *> readers;

  static constexpr int64_t whole = BatchRow::whole;
  std::vector<Variable> results;
  int64_t row = whole;  // of the results, unless these are its own
};

class Agenda {
 public:
  ~Agenda() {
    for (const auto &p : all_) p->agenda = nullptr;
    while (!all_.empty()) all_.pop_back();  // readers first: a long chain of owners would exhaust the stack
  }

  std::vector<Variable> add(const Operation &operation, const std::vector<Variable> &inputs,
                            const Attributes &attributes, bool needed);
  void compute();
  static void settle(const Variable &v);

 private:
  struct Ready {
    std::vector<Postponed *> all;
    size_t depths = 0;
    // Of several with one mean, the signature that came first.
    double depth() const { return static_cast<double>(depths) / static_cast<double>(all.size()); }
  };
  // Those that share parameters.
  using Group = std::pair<size_t, std::vector<const void *>>;

  std::shared_ptr<const Signature> signature_of(const Operation &operation, const std::vector<Variable> &inputs,
                                                const Attributes &attributes, bool needed);
  static Group group_of(const Postponed &p);
  static void compute_all(const std::vector<Postponed *> &equal);
  static void compute_joined(const std::vector<Postponed *> &equal);
  static BatchRow row_of(const Variable &v);
  void forget_unread();

  std::vector<std::shared_ptr<Postponed>> all_;                                           // as they were applied
  std::unordered_map<size_t, std::vector<std::shared_ptr<const Signature>>> signatures_;  // by hash
  size_t signatures_made_ = 0;
};

std::shared_ptr<const Signature> Agenda::signature_of(const Operation &operation, const std::vector<Variable> &inputs,
                                                      const Attributes &attributes, bool needed) {
  size_t hash = mixed(reinterpret_cast<size_t>(&operation), needed ? 1 : 0);
  for (const Variable &v : inputs)
    for (int64_t extent : v.shape()) hash = mixed(hash, static_cast<size_t>(extent));
  auto &near = signatures_[hash];
  for (const auto &known : near)
    if (known->is_of(operation, inputs, attributes, needed)) return known;
  Signature made = {&operation, attributes, {}, needed};
  for (const Variable &v : inputs) made.inputs.emplace_back(v.type(), v.shape());
  made.outlines = outlines_of(operation, inputs, attributes);
  for (const Tensor &t : made.outlines) made.shapes.push_back(t.shape());
  made.by = joining_of(operation, inputs, attributes);
  made.number = signatures_made_++;
  return near.emplace_back(std::make_shared<const Signature>(std::move(made)));
}

std::vector<Variable> Agenda::add(const Operation &operation, const std::vector<Variable> &inputs,
                                  const Attributes &attributes, bool needed) {
  const std::shared_ptr<const Signature> signature = signature_of(operation, inputs, attributes, needed);
  std::vector<Tensor> leaves;
  size_t depth = 0;
  for (const Variable &v : inputs) {
    const auto &before = v.node_->postponed;
    if (!before)
      leaves.push_back(v.value());
    else if (!before->is_computed())
      depth = std::max(depth, before->depth + 1);
  }
  const auto p = std::make_shared<Postponed>(this, signature, inputs, std::move(leaves));
  p->depth = depth;
  all_.push_back(p);
  std::vector<Variable> results;
  for (size_t i = 0; i < signature->outlines.size(); ++i) {
    results.push_back(Variable::output(signature->outlines[i], needed, nullptr, static_cast<int>(i)));
    results.back().node_->postponed = p;
  }
  return results;
}

// Nobody has a handle of their results, nor waits for them.
void Agenda::forget_unread() {
  std::vector<std::shared_ptr<Postponed>> read;
  for (; !all_.empty(); all_.pop_back())
    if (all_.back().use_count() > 1) read.push_back(std::move(all_.back()));
  all_.assign(read.rbegin(), read.rend());
}

Agenda::Group Agenda::group_of(const Postponed &p) {
  Group group = {p.signature->number, {}};
  for (size_t i : p.signature->by.shared)
    if (i < p.inputs.size()) group.second.push_back(p.inputs[i].identity());
  return group;
}

void Agenda::compute() {
  forget_unread();
  const AtOnce guard;
  std::map<Group, Ready> ready;
  const auto add = [&](Postponed *p) {
    Ready &r = ready[group_of(*p)];
    r.all.push_back(p);
    r.depths += p->depth;
  };
  const std::vector<std::shared_ptr<Postponed>> now = std::move(all_);
  all_.clear();
  for (const auto &p : now) {
    p->agenda = nullptr;
    for (const Variable &v : p->inputs)
      if (const auto &before = v.node_->postponed; before && !before->is_computed()) {
        before->readers.push_back(p.get());
        ++p->waits_for;
      }
    if (p->waits_for == 0) add(p.get());
  }
  while (!ready.empty()) {
    const auto next = std::min_element(
        ready.begin(), ready.end(), [](const auto &a, const auto &b) { return a.second.depth() < b.second.depth(); });
    const std::vector<Postponed *> equal = std::move(next->second.all);
    ready.erase(next);
    compute_all(equal);
    for (Postponed *p : equal) {
      for (Postponed *reader : p->readers)
        if (--reader->waits_for == 0) add(reader);
      p->readers.clear();
    }
  }
}

void Agenda::compute_all(const std::vector<Postponed *> &equal) {
  const Signature &s = *equal[0]->signature;
  for (const Postponed *p : equal)
    for (size_t i = 0; i < p->leaves.size(); ++i)
      if (!p->leaves[i].memory()->has_version(p->versions[i]))
        fail("an input of operation '", s.operation->name, "', ", to_string(p->leaves[i].shape()),
             ", was written in place before the operation was computed, which Batching postpones: ask for a result's "
             "value() before writing");
  const RecordingGuard guard(s.needed ? RecordingMode::where_needed : RecordingMode::off);
  if (s.by.way == Joining::Way::alone || equal.size() == 1)
    for (Postponed *p : equal) p->results = apply(*s.operation, p->inputs, s.attributes);
  else
    compute_joined(equal);
  for (Postponed *p : equal) p->let_go();
}

void Agenda::compute_joined(const std::vector<Postponed *> &equal) {
  const Signature &s = *equal[0]->signature;
  std::vector<Variable> inputs;
  std::vector<bool> is_joined;
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    const Variable &first = equal[0]->inputs[i];
    const bool is_one = std::all_of(equal.begin(), equal.end(),
                                    [&](const Postponed *p) { return p->inputs[i].identity() == first.identity(); });
    // What broadcasts need not be repeated, but for one operand, which the results have their first dimension from.
    const bool more = i + 1 < s.inputs.size() || std::count(is_joined.begin(), is_joined.end(), true) > 0;
    is_joined.push_back(!s.by.shares(i) && !(is_one && s.by.way == Joining::Way::broadcast && more));
    if (!is_joined.back()) {
      inputs.push_back(first);
      continue;
    }
    std::vector<BatchRow> rows;
    for (const Postponed *p : equal) rows.push_back(row_of(p->inputs[i]));
    inputs.push_back(batch_of(rows));
  }
  const std::vector<Variable> results = apply_joined(s.by, *s.operation, static_cast<int64_t>(equal.size()),
                                                     std::move(inputs), is_joined, s.attributes, s.shapes);
  for (size_t row = 0; row < equal.size(); ++row) {
    equal[row]->results = results;
    equal[row]->row = static_cast<int64_t>(row);
  }
}

// Where its elements are.
BatchRow Agenda::row_of(const Variable &v) {
  const auto &p = v.node_->postponed;
  if (!p || p->row == Postponed::whole) return {v};
  v.node_->was_read_elsewhere = true;
  return {p->results[static_cast<size_t>(v.node_->index)], p->row};
}

void Agenda::settle(const Variable &v) {
  Variable::Node &node = *v.node_;
  const std::shared_ptr<Postponed> p = node.postponed;
  if (!p->is_computed() && p->agenda) p->agenda->compute();
  if (!p->is_computed())
    fail("a result of operation '", p->signature->operation->name, "', ", to_string(v.shape()),
         ", was postponed, and an error ended the batch that it is of");
  const AtOnce guard;
  Variable found = p->results[static_cast<size_t>(node.index)];
  if (p->row != Postponed::whole) {
    const RecordingGuard mode(node.requires_gradient ? RecordingMode::where_needed : RecordingMode::off);
    found = reshape(batch_of({{found, p->row}}), v.shape());
  }
  node.value = found.value();
  node.step = found.step();
  node.index = found.index();
  node.postponed = nullptr;
}

void compute_postponed(const Variable &v) { Agenda::settle(v); }

Batching::Batching()
    : agenda_(current ? nullptr : std::make_unique<Agenda>()), exceptions_(std::uncaught_exceptions()) {
  if (agenda_) current = agenda_.get();
}

Batching::~Batching() noexcept(false) {
  if (!agenda_) return;
  current = nullptr;
  if (std::uncaught_exceptions() == exceptions_) agenda_->compute();
}

void Batching::compute() {
  if (agenda_) agenda_->compute();
}

void Batching::drop() {
  if (!agenda_) return;
  current = nullptr;
  agenda_.reset();
}

AtOnce::AtOnce() : Temporarily(current, nullptr) {}

std::optional<std::vector<Variable>> postponed(const Operation &operation, const std::vector<Variable> &inputs,
                                               const Attributes &attributes) {
  if (!current || recording_mode() == RecordingMode::everything) return std::nullopt;
  bool needed = false;
  for (const Variable &v : inputs) needed |= v.requires_gradient();
  try {
    return current->add(operation, inputs, attributes, needed && recording_mode() != RecordingMode::off);
  } catch (
      const std::exception &) {  // it goes by its operands' elements, or says what is wrong when it is computed now
    return std::nullopt;
  }
}

}  // namespace saltern
