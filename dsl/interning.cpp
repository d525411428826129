// Every node once: a table of the nodes that somebody holds, by a hash of what they say.

#include <cstring>
#include <mutex>
#include <unordered_map>

#include "dsl/value.h"

namespace saltern::formula {

namespace {

using Kind = Expression::Kind;
using Node = Expression::Node;

uint64_t bits_of(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// The same in every process: it decides nothing that anybody sees, but keeps what is measured the same.
class Hash {
 public:
  void add(uint64_t value) { hash_ = (hash_ ^ value) * 0x9E3779B97F4A7C15u + (hash_ >> 29); }
  void add(const std::string &text) {
    for (unsigned char c : text) add(uint64_t{c});
  }
  size_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xCBF29CE484222325u;
};

size_t hash_of(const Node &n) {
  Hash h;
  h.add(static_cast<uint64_t>(n.kind) << 16 | static_cast<uint64_t>(n.type) << 8 | static_cast<uint64_t>(n.function));
  h.add(static_cast<uint64_t>(n.number));
  h.add(bits_of(n.real));
  h.add(static_cast<uint64_t>(n.integer));
  for (const Expression &a : n.arguments) h.add(a->hash);
  for (const ReductionStep &s : n.steps) h.add(static_cast<uint64_t>(s.id));
  h.add(n.name);
  return h.value();
}

bool says_the_same(const Node &a, const Node &b) {
  if (a.kind != b.kind || a.type != b.type || a.function != b.function || a.number != b.number ||
      bits_of(a.real) != bits_of(b.real) || a.integer != b.integer || a.stage != b.stage || a.name != b.name ||
      a.arguments.size() != b.arguments.size() || a.steps.size() != b.steps.size())
    return false;
  for (size_t i = 0; i < a.arguments.size(); ++i)
    if (!is_same(a.arguments[i], b.arguments[i])) return false;
  for (size_t i = 0; i < a.steps.size(); ++i)
    if (a.steps[i].id != b.steps[i].id) return false;
  return true;
}

bool is_index(const Node &n) {
  if (n.type != Type::i64) return false;
  switch (n.kind) {
    case Kind::constant:
    case Kind::axis:
    case Kind::step:
    case Kind::symbol:
      return true;
    case Kind::call:
      for (const Expression &a : n.arguments)
        if (!a->is_index) return false;
      return true;
    default:
      return false;
  }
}

class Table {
 public:
  Expression find_or_add(Node node) {
    const size_t hash = node.hash;
    std::vector<std::shared_ptr<const Node>> others;  // let go of when the table is free again
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [first, last] = rows_.equal_range(hash);
    for (auto row = first; row != last; ++row) {
      std::shared_ptr<const Node> known = row->second.lock();
      if (!known) continue;  // its last holder is just letting go
      if (says_the_same(*known, node)) return Expression(std::move(known));
      others.push_back(std::move(known));
    }
    const std::shared_ptr<const Node> made(new Node(std::move(node)), [this](const Node *n) { forget(n); });
    rows_.emplace(hash, made);
    return Expression(made);
  }

 private:
  void forget(const Node *n) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto [first, last] = rows_.equal_range(n->hash);
      for (auto row = first; row != last;) row = row->second.expired() ? rows_.erase(row) : std::next(row);
    }
    delete n;  // and with it, maybe, its arguments: outside of the lock
  }

  std::mutex mutex_;
  std::unordered_multimap<size_t, std::weak_ptr<const Node>> rows_;
};

int order(const Expression &a, const Expression &b) {
  if (is_same(a, b)) return 0;
  const auto by = [](const auto &x, const auto &y) { return x < y ? -1 : y < x ? 1 : 0; };
  for (const int o : {by(a->kind, b->kind), by(a->type, b->type), by(a->function, b->function),
                      by(a->number, b->number), by(a->integer, b->integer), by(bits_of(a->real), bits_of(b->real)),
                      by(a->name, b->name), by(a->arguments.size(), b->arguments.size())})
    if (o != 0) return o;
  // Equal parts are one node: only the first that differs is looked into.
  for (size_t i = 0; i < a->arguments.size(); ++i)
    if (!is_same(a->arguments[i], b->arguments[i])) return order(a->arguments[i], b->arguments[i]);
  // Reductions and loads of values that differ in nothing else, by who was there first.
  for (size_t i = 0; i < a->steps.size() && i < b->steps.size(); ++i)
    if (a->steps[i].id != b->steps[i].id) return by(a->steps[i].id, b->steps[i].id);
  return a->stage && b->stage ? by(a->stage->id, b->stage->id) : by(a->stage != nullptr, b->stage != nullptr);
}

}  // namespace

Expression interned(Node node) {
  static auto *table = new Table;  // never destroyed: expressions may be held by what is destroyed last
  node.hash = hash_of(node);
  node.is_index = is_index(node);
  return table->find_or_add(std::move(node));
}

bool stands_before(const Expression &a, const Expression &b) { return order(a, b) < 0; }

}  // namespace saltern::formula
