#include "generators/model/in_place.h"

#include <algorithm>

namespace saltern::generators {

namespace {

class InPlace {
 public:
  InPlace(const Graph &graph, const std::vector<GroupKernel> &calls, Homes &homes)
      : graph_(graph), calls_(calls), homes_(homes) {
    for (size_t s = 0; s < calls.size(); ++s)
      for (const EmittedArgument &a : calls[s].kernel.arguments) {
        if (!is_value(a)) continue;
        const std::string &home = homes.of(a.value).value;
        first_.emplace(home, s);
        last_[home] = s;
      }
    for (const std::string &o : graph.outputs) last_[homes.of(o).value] = calls.size();
  }

  void run() {
    for (const Graph::State &s : graph_.state)
      if (s.next != s.value) take_state(s);
    for (const Graph::State &s : graph_.state) last_[s.value] = calls_.size();
    for (size_t s = 0; s < calls_.size(); ++s)
      for (int a : calls_[s].kernel.in_place) {
        const std::string &operand = calls_[s].kernel.arguments[static_cast<size_t>(a)].value;
        const std::string &result = calls_[s].kernel.arguments.back().value;
        const std::string from = homes_.of(operand).value, to = homes_.of(result).value;
        if (from == to || last_[from] != s || !is_read_once(from, s) || !homes_.take_over(result, operand)) continue;
        last_[from] = last_[to];
        break;
      }
  }

 private:
  static bool is_value(const EmittedArgument &a) { return !a.constant.defined() && !a.value.empty(); }

  // Beside the operand itself, nothing of its memory may be read: that would be at other places.
  bool is_read_once(const std::string &home, size_t step) const {
    const std::vector<EmittedArgument> &all = calls_[step].kernel.arguments;
    return std::count_if(all.begin(), all.end(), [&](const EmittedArgument &a) {
             return is_value(a) && homes_.of(a.value).value == home;
           }) == 1;
  }

  bool may_write_over(const std::string &operand, size_t step) const {
    const EmittedKernel &k = calls_[step].kernel;
    return std::any_of(k.in_place.begin(), k.in_place.end(),
                       [&](int a) { return k.arguments[static_cast<size_t>(a)].value == operand; });
  }

  void take_state(const Graph::State &s) {
    const auto made = first_.find(s.next), read = last_.find(s.value);
    if (made == first_.end() || homes_.of(s.next).value != s.next) return;
    const bool was_read = read == last_.end() || read->second < made->second;
    const bool in_place = !was_read && read->second == made->second && is_read_once(s.value, made->second) &&
                          may_write_over(s.value, made->second);
    if (was_read || in_place) homes_.take_over(s.next, s.value);
  }

  const Graph &graph_;
  const std::vector<GroupKernel> &calls_;
  Homes &homes_;
  std::unordered_map<std::string, size_t> first_, last_;  // the steps that touch a home
};

}  // namespace

void compute_in_place(const Graph &graph, const std::vector<GroupKernel> &calls, Homes &homes) {
  InPlace(graph, calls, homes).run();
}

}  // namespace saltern::generators
