#include "generators/model/update_order.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "generators/model/views.h"

namespace saltern::generators {

namespace {

class LateUpdates {
 public:
  LateUpdates(const Graph &graph, std::vector<Group> groups) : groups_(std::move(groups)) {
    std::unordered_map<std::string, std::string> memory;  // the state that a value is, or a view of
    std::unordered_map<std::string, std::string> written;
    for (const Graph::State &s : graph.state) {
      memory[s.value] = s.value;
      if (s.next != s.value) written[s.next] = s.value;
    }
    for (const Group &g : groups_) {
      Facts facts;
      for (const Graph::Node &n : g.nodes) {
        for (const std::string &i : n.inputs) {
          facts.reads.insert(i);
          if (const auto state = memory.find(i); state != memory.end()) facts.reads_state.insert(state->second);
        }
        for (const std::string &o : n.outputs)
          if (const auto state = written.find(o); state != written.end()) facts.writes_state.insert(state->second);
      }
      const Graph::Node &anchor = g.anchor();
      if (g.nodes.size() == 1 && is_view(graph, anchor) && memory.count(anchor.inputs[0]))
        memory[anchor.outputs[0]] = memory.at(anchor.inputs[0]);
      for (const std::string &state : facts.reads_state) ++readers_[state];
      facts_.push_back(std::move(facts));
    }
  }

  std::vector<Group> run() {
    std::vector<size_t> waiting;
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (!is_ready(g)) {
        hold(g);
        waiting.push_back(g);
        continue;
      }
      put(g);
      for (bool found = true; found && !waiting.empty();) {
        const auto ready = std::find_if(waiting.begin(), waiting.end(), [&](size_t w) { return is_ready(w); });
        found = ready != waiting.end();
        if (!found) break;
        const size_t next = *ready;
        waiting.erase(ready);
        put(next);
      }
    }
    for (size_t g : waiting) put(g);
    return std::move(ordered_);
  }

 private:
  struct Facts {
    std::set<std::string> reads, reads_state, writes_state;
  };

  bool is_ready(size_t g) const {
    const Facts &f = facts_[g];
    const auto is_held = [&](const std::string &value) { return held_.count(value) > 0; };
    const auto is_read = [&](const std::string &state) {
      const auto left = readers_.find(state);
      return left != readers_.end() && left->second > static_cast<int>(f.reads_state.count(state));
    };
    return std::none_of(f.reads.begin(), f.reads.end(), is_held) &&
           std::none_of(f.writes_state.begin(), f.writes_state.end(), is_read);
  }
  void hold(size_t g) {
    for (const Graph::Node &n : groups_[g].nodes) held_.insert(n.outputs.begin(), n.outputs.end());
  }
  void put(size_t g) {
    for (const std::string &state : facts_[g].reads_state) --readers_[state];
    for (const Graph::Node &n : groups_[g].nodes)
      for (const std::string &o : n.outputs) held_.erase(o);
    ordered_.push_back(std::move(groups_[g]));
  }

  std::vector<Group> groups_, ordered_;
  std::vector<Facts> facts_;
  std::unordered_map<std::string, int> readers_;  // of a state, that are to come
  std::unordered_set<std::string> held_;          // what those that wait make
};

}  // namespace

std::vector<Group> with_late_updates(const Graph &graph, std::vector<Group> groups) {
  return graph.state.empty() ? groups : LateUpdates(graph, std::move(groups)).run();
}

}  // namespace saltern::generators
