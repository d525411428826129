#include "generators/model/planned_model.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "generators/model/argument_checks.h"
#include "generators/model/chains.h"
#include "generators/model/direct_edges.h"
#include "generators/model/emitters.h"
#include "generators/model/homes.h"
#include "generators/model/in_place.h"
#include "generators/model/lives.h"
#include "generators/model/stages.h"
#include "generators/model/state_memory.h"
#include "generators/model/views.h"
#include "runtime/files/hash.h"
#include "runtime/graph/flops.h"
#include "schedules/balance.h"

namespace saltern::generators {

namespace {

// The weights of a model, one after the other, each aligned; equal ones are there once.
class Weights {
 public:
  int64_t add(const Tensor &constant) {
    const auto [seen, is_new] = seen_.try_emplace({constant.raw(), constant.bytes()}, constant, 0);
    if (is_new) seen->second.second = place(constant);
    return seen->second.second;
  }
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  int64_t place(const Tensor &constant) {
    const auto *from = static_cast<const uint8_t *>(constant.raw());
    const size_t bytes = constant.bytes();
    const std::string hash = content_hash({static_cast<const char *>(constant.raw()), bytes});
    const auto [first, last] = known_.equal_range(hash);
    for (auto same = first; same != last; ++same) {
      const auto at = bytes_.begin() + static_cast<std::ptrdiff_t>(same->second.offset);
      if (same->second.bytes == bytes && std::equal(from, from + bytes, at)) return same->second.offset;
    }
    bytes_.resize((bytes_.size() + buffer_alignment - 1) / buffer_alignment * buffer_alignment);
    const auto offset = static_cast<int64_t>(bytes_.size());
    bytes_.insert(bytes_.end(), from, from + bytes);
    known_.insert({hash, {offset, bytes}});
    return offset;
  }

  struct Place {
    int64_t offset;
    size_t bytes;
  };
  std::vector<uint8_t> bytes_;
  std::multimap<std::string, Place> known_;
  // By where they are in memory, which each keeps: what many steps read is looked at once.
  std::map<std::pair<const void *, size_t>, std::pair<Tensor, int64_t>> seen_;
};

int64_t bytes_of(const EmittedArgument &a) {
  int64_t bytes = facts(a.type).bytes();
  for (int e : a.extents) bytes *= e;
  return bytes;
}

std::string scratch_name(size_t step, size_t argument) {
  return "scratch\n" + std::to_string(step) + " " + std::to_string(argument);  // no value is called so
}

std::vector<GroupCall> group_calls(const Graph &graph) {
  std::vector<GroupCall> calls;
  for (const Chain &chain : chained(graph, group_nodes(graph))) {
    const Group &first = chain.links.front();
    if (chain.links.size() > 1) {
      Group all;
      for (const Group &link : chain.links) all.nodes.insert(all.nodes.end(), link.nodes.begin(), link.nodes.end());
      calls.push_back({std::move(all), emit_chain(graph, chain)});
      continue;
    }
    if (is_view(graph, first.anchor()) || elements(graph.value(first.output()).shape) == 0) continue;
    const bool joins = first.anchor().operation == "concat";
    calls.push_back({first, joins ? std::nullopt : std::optional<EmittedKernel>(emit(graph, first))});
  }
  return calls;
}

// The kernels that are left to call for a group, when it is known where values lie.
std::vector<EmittedKernel> calls_of(const Graph &graph, const GroupCall &call, const Homes &homes) {
  const Graph::Node &anchor = call.group.anchor();
  if (call.kernel)
    return homes.is_read_in_place(call.group.output()) ? std::vector<EmittedKernel>() : std::vector{*call.kernel};
  if (!homes.is_joined_by_parts(anchor)) return {emit(graph, call.group)};
  std::vector<EmittedKernel> copies;
  const std::vector<Piece> pieces = part_pieces(graph, anchor);
  for (size_t i = 0; i < pieces.size(); ++i)
    if (!homes.is_placed(anchor, i) && pieces[i].count > 0) copies.push_back(emit_part(graph, anchor, i, pieces[i]));
  return copies;
}

// What stages.h asks about a step. A kernel writes its last argument, and all else that its nodes make.
StageStep stage_step(const Graph &graph, const GroupKernel &call, const Homes &homes) {
  StageStep step = {};
  double bytes = 0, constant_bytes = 0, flops = 0;
  for (const EmittedArgument &a : call.kernel.arguments) {
    bytes += static_cast<double>(bytes_of(a));
    if (a.constant.defined()) constant_bytes += static_cast<double>(bytes_of(a));
    if (a.constant.defined() || a.value.empty()) continue;
    const Homes::Home home = homes.of(a);
    const bool made = std::any_of(call.group->nodes.begin(), call.group->nodes.end(), [&](const Graph::Node &n) {
      return std::find(n.outputs.begin(), n.outputs.end(), a.value) != n.outputs.end();
    });
    step.touches.push_back({home.value, home.piece, made || &a == &call.kernel.arguments.back()});
  }
  for (const Graph::Node &n : call.group->nodes) flops += saltern::flops(graph, n);
  // As the schedules cut tasks (schedules/patterns/): by time, or of 16384 elements.
  const auto written = static_cast<double>(bytes_of(call.kernel.arguments.back()));
  using schedules::estimated_microseconds;
  step.one_task = flops > 0 ? estimated_microseconds(flops, constant_bytes) < 2 * schedules::task_microseconds
                            : written < 2 * 16384 * sizeof(float);
  step.microseconds = 0.2 + estimated_microseconds(flops, bytes);
  return step;
}

// Steps in the order in which they run, their kernels, and when each runs beside others.
struct Ordered {
  std::vector<DriverStep> steps;
  std::vector<EmittedKernel> kernels;
  std::vector<When> when;
};

Ordered in_stages(const Graph &graph, std::vector<GroupKernel> calls, const Homes &homes) {
  std::vector<StageStep> facts;
  for (const GroupKernel &c : calls) facts.push_back(stage_step(graph, c, homes));
  Ordered all;
  int number = 0;
  for (const Stage &stage : stages_of(facts)) {
    const auto first = static_cast<int>(all.steps.size());
    int last = first - 1, lane_number = 0;
    for (const std::vector<size_t> &lane : stage.lanes) last += static_cast<int>(lane.size());
    for (const std::vector<size_t> &lane : stage.lanes) {
      const size_t begin = all.steps.size();
      for (size_t c : lane) {
        const auto step = static_cast<int>(all.steps.size());
        all.steps.push_back({0, calls[c].group->output(), {}});
        all.when.push_back(stage.lanes.size() > 1 ? When{step, first, last, number, lane_number} : When::alone(step));
        all.kernels.push_back(std::move(calls[c].kernel));
      }
      all.steps[begin].length = static_cast<int>(lane.size());
      ++lane_number;
    }
    all.steps[static_cast<size_t>(first)].lanes = lane_number;
    ++number;
  }
  return all;
}

// The values in whose memory kernels write.
std::set<std::string> written_by(const Graph &graph, const std::vector<GroupKernel> &calls, const Homes &homes) {
  std::set<std::string> written;
  for (const GroupKernel &c : calls) {
    written.insert(homes.of(c.kernel.arguments.back()).value);
    for (const Graph::Node &n : c.group->nodes)
      for (const std::string &o : n.outputs)
        if (graph.values.count(o)) written.insert(homes.of(o).value);
  }
  return written;
}

std::vector<int> dense_strides(const std::vector<int> &extents) {
  return strides_of(extents, Piece::dense(0, std::numeric_limits<int64_t>::max())).value();
}

// One way through the model; kernels and weights are shared by all.
class Planning {
 public:
  explicit Planning(bool state_outside) : state_outside_(state_outside) {}
  Variant add(const Graph &graph);
  PlannedModel finish() {
    result_.plan.kernels = static_cast<int>(result_.kernels.size());
    result_.plan.weights = weights_.take();
    return std::move(result_);
  }
  PlannedModel &result() { return result_; }

 private:
  int number_of(const EmittedKernel &kernel) {
    const auto [it, is_new] = numbers_.emplace(kernel.key, static_cast<int>(numbers_.size()));
    if (is_new) result_.kernels.push_back(kernel);
    return it->second;
  }

  bool state_outside_;
  PlannedModel result_;
  Weights weights_;
  std::map<std::string, int> numbers_;  // of kernels, by key
};

Variant Planning::add(const Graph &graph) {
  Variant variant;
  const std::vector<GroupCall> groups = group_calls(graph);
  Homes homes(graph, groups);
  std::vector<GroupKernel> calls;
  for (const GroupCall &g : groups)
    for (EmittedKernel &kernel : calls_of(graph, g, homes)) calls.push_back({std::move(kernel), &g.group});
  compute_in_place(graph, calls, homes);
  const std::map<std::string, int> direct = direct_edges(graph, homes, written_by(graph, calls, homes));
  Ordered ordered = in_stages(graph, std::move(calls), homes);
  variant.steps = ordered.steps;

  const StateMemory state(graph);
  if (state.initial().size() > 0 && !state_outside_) {
    result_.plan.state_bytes = state.initial().size();
    result_.plan.first_state = weights_.add(state.initial());
  }

  Lives lives;
  const When before = When::alone(-1), after = When::alone(static_cast<int>(ordered.kernels.size()));
  const auto touch = [&](const std::string &name, const When &step) {
    const std::string home = homes.of(name).value;
    if (state.has(home)) return;
    const Graph::Value &v = graph.value(home);
    lives.touch(home, elements(v.shape) * facts(v.type).bytes(), step);
  };
  for (const std::string &i : graph.inputs) touch(i, before);
  for (size_t s = 0; s < ordered.kernels.size(); ++s)
    for (size_t a = 0; a < ordered.kernels[s].arguments.size(); ++a) {
      const EmittedArgument &use = ordered.kernels[s].arguments[a];
      if (use.constant.defined()) continue;
      if (use.value.empty())
        lives.touch(scratch_name(s, a), bytes_of(use), ordered.when[s]);
      else
        touch(use.value, ordered.when[s]);
    }
  for (const std::string &o : graph.outputs)
    if (!graph.value(o).constant.defined()) touch(o, after);
  lives.plan();
  result_.plan.workspace_bytes = std::max(result_.plan.workspace_bytes, lives.bytes());

  const auto region = [&](const Homes::Home &home) {
    return state.has(home.value) ? Region::state : Region::workspace;
  };
  const auto place = [&](const Homes::Home &home) {
    const int64_t start = state.has(home.value) ? state.offset(home.value) : lives.offset(home.value);
    return start + home.piece.offset * facts(graph.value(home.value).type).bytes();
  };
  for (size_t s = 0; s < ordered.kernels.size(); ++s) {
    EmittedKernel &kernel = ordered.kernels[s];
    const std::string who = "node '" + variant.steps[s].origin + "'";
    check_arguments(graph, kernel, who);
    for (size_t a = 0; a < kernel.arguments.size(); ++a) {
      EmittedArgument &use = kernel.arguments[a];
      use.strides = dense_strides(use.extents);
      BufferUse buffer = {Region::workspace, 0, use.type, use.extents, {}};
      if (use.constant.defined()) {
        buffer.region = Region::weights;
        buffer.offset = weights_.add(use.constant);
      } else if (use.value.empty()) {
        buffer.offset = lives.offset(scratch_name(s, a));
      } else {
        const Homes::Home home = homes.of(use);
        buffer.region = region(home);
        buffer.offset = place(home);
        use.strides = checked_strides(graph, use, home, who);
        use.aligned = home.piece.is_dense() && buffer.offset % buffer_alignment == 0;
        if (const auto edge = direct.find(home.value); edge != direct.end()) {
          buffer.edge = static_cast<int>(graph.state.size()) + edge->second;
          buffer.offset -= lives.offset(home.value);
        }
        if (buffer.region == Region::state) {
          buffer.edge = state.number(home.value);
          buffer.offset -= state.offset(home.value);
        }
      }
      buffer.strides = use.strides;
      variant.steps[s].buffers.push_back(std::move(buffer));
    }
    variant.steps[s].kernel = number_of(placed(std::move(kernel)));
  }

  const auto edge = [&](const std::string &name, int number) {
    const Graph::Value &v = graph.value(name);
    if (v.constant.defined())
      return Edge{name,
                  v.type,
                  v.shape,
                  Layout::row_major,
                  Region::weights,
                  weights_.add(v.constant.in_layout(Layout::row_major))};
    const auto found = direct.find(homes.of(name).value);
    return Edge{name,
                v.type,
                v.shape,
                is_channels_last(v) ? Layout::channels_last : Layout::row_major,
                region(homes.of(name)),
                place(homes.of(name)),
                found != direct.end() && found->second == number};
  };
  int number = 0;
  for (const std::string &i : graph.given()) variant.inputs.push_back(edge(i, number++));
  for (const std::string &o : graph.asked()) variant.outputs.push_back(edge(o, number++));
  for (const Graph::State &s : graph.state) {
    variant.state.push_back(edge(s.value, number));
    const Edge &kept = variant.state.back(), next = edge(s.next, number);
    const auto bytes = static_cast<int64_t>(s.initial.bytes());
    if (bytes > 0 && (next.region != Region::state || next.offset != kept.offset))
      variant.copies.push_back({next.region, next.offset, kept.offset, bytes});
  }
  variant.copies = copies_in_order(std::move(variant.copies));
  return variant;
}

}  // namespace

PlannedModel planned(const std::vector<Graph> &variants, bool state_outside) {
  Planning planning(state_outside);
  for (const Graph &graph : variants) planning.result().plan.variants.push_back(planning.add(graph));
  return planning.finish();
}

}  // namespace saltern::generators
