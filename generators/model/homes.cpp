#include "generators/model/homes.h"

#include <algorithm>

#include "generators/model/emitters.h"
#include "generators/model/views.h"

namespace saltern::generators {

namespace {

// Rows that are shorter are not worth it: vectors would be cut up.
constexpr int64_t least_run = 8;
// Joins of more parts that nobody computes in their places are one kernel instead of copies.
constexpr size_t most_copies = 8;
// All that lies in a value is looked at when it is put into another one: a join that grew by more parts is copied.
constexpr size_t most_tenants = 512;

}  // namespace

Homes::Homes(const Graph &graph, const std::vector<GroupCall> &calls) : graph_(graph), index_(graph) {
  for (const GroupCall &c : calls) {
    if (c.kernel)
      for (const EmittedArgument &a : c.kernel->arguments)
        if (!a.value.empty()) uses_[a.value].push_back({a.extents, whole(a.value)});
    if (c.group.anchor().operation != "concat") continue;
    for (const std::string &i : c.group.anchor().inputs) uses_[i].push_back({memory_extents(graph.value(i)), whole(i)});
  }
  for (const Graph::Node &n : graph.nodes)
    if (const auto offset = view_offset(graph, n)) {
      const Graph::Value &v = graph.value(n.outputs[0]);
      add(n.outputs[0], of(n.inputs[0]), Piece::dense(*offset / facts(v.type).bytes(), elements(v.shape)));
    }
  for (const GroupCall &c : calls) {
    if (!c.kernel || c.group.nodes.size() > 1) continue;
    const auto piece = loaded_piece(graph, c.group.anchor());
    if (piece && piece->run >= least_run && put(c.group.output(), c.group.anchor().inputs[0], *piece))
      in_place_.insert(c.group.output());
  }
  for (const GroupCall &c : calls)
    if (c.group.anchor().operation == "concat") place_parts(c.group.anchor());
}

Piece Homes::whole(const std::string &value) const { return Piece::dense(0, elements(graph_.value(value).shape)); }

std::optional<Homes::Home> Homes::find(const std::string &value) const {
  Home home = {value, whole(value)};
  for (auto it = homes_.find(value); it != homes_.end(); it = homes_.find(home.value)) {
    const auto piece = inside(it->second.piece, home.piece);
    if (!piece) return std::nullopt;
    home = {it->second.value, *piece};
  }
  return home;
}

Homes::Home Homes::of(const std::string &value) const { return find(value).value(); }

Homes::Home Homes::of(const EmittedArgument &argument) const {
  const Home home = of(argument.value);
  return argument.part ? Home{home.value, inside(home.piece, *argument.part).value()} : home;
}

bool Homes::fits(const std::string &value) const {
  const std::optional<Home> home = find(value);
  if (!home) return false;
  // Users of the model see dense memory.
  if (!home->piece.is_dense() && index_.is_output(value)) return false;
  if (const auto uses = uses_.find(value); uses != uses_.end())
    for (const Use &use : uses->second) {
      const std::optional<Piece> piece = inside(home->piece, use.piece);
      if (!piece || !strides_of(use.extents, *piece)) return false;
    }
  const auto tenants = tenants_.find(value);
  return tenants == tenants_.end() || std::all_of(tenants->second.begin(), tenants->second.end(),
                                                  [&](const std::string &tenant) { return fits(tenant); });
}

// Where it lies is said at once, not by way of what it is a piece of: a piece may be one of thousands of pieces.
bool Homes::add(const std::string &value, const Home &into, const Piece &piece) {
  const std::optional<Piece> there = inside(into.piece, piece);
  if (!there) return false;
  homes_[value] = {into.value, *there};
  tenants_[into.value].push_back(value);
  tenant_counts_[into.value] += 1 + tenant_counts_[value];
  return true;
}

bool Homes::put(const std::string &value, const std::string &into, const Piece &piece) {
  if (tenant_counts_[value] > most_tenants) return false;
  const Home home = of(into);
  if (!add(value, home, piece)) return false;
  if (fits(value)) return true;
  homes_.erase(value);
  tenants_[home.value].pop_back();
  tenant_counts_[home.value] -= 1 + tenant_counts_[value];
  return false;
}

bool Homes::take_over(const std::string &result, const std::string &operand) {
  const Home from = of(operand), to = of(result);
  const auto bytes = [&](const std::string &value) {
    const Graph::Value &v = graph_.value(value);
    return elements(v.shape) * facts(v.type).bytes();
  };
  if (to.value != result || from.piece.offset != 0 || bytes(from.value) != bytes(result)) return false;
  homes_[result] = {from.value, whole(result)};
  return true;
}

bool Homes::is_placed(const Graph::Node &concat, size_t input) const {
  const auto it = placed_.find(concat.outputs[0]);
  return it != placed_.end() && it->second.at(input);
}

// A part that a kernel makes, and that has no other place yet, is made in its place. The whole of its memory must be
// the part, since there is room for no more.
void Homes::place_parts(const Graph::Node &concat) {
  const std::string &joined = concat.outputs[0];
  uses_[joined].push_back({memory_extents(graph_.value(joined)), whole(joined)});
  const std::vector<Piece> pieces = part_pieces(graph_, concat);
  const int64_t bytes = facts(graph_.value(joined).type).bytes();
  if (pieces.empty()) return;
  const bool in_rows = std::any_of(pieces.begin(), pieces.end(), [](const Piece &p) { return !p.is_dense(); });
  // Parts that are dense there keep the alignment that kernels are used to.
  for (const Piece &p : pieces)
    if (!in_rows && p.offset * bytes % buffer_alignment != 0) return;
  std::vector<bool> placed(pieces.size(), false);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const std::string &part = concat.inputs[i];
    if (pieces[i].count == 0 || (in_rows && pieces[i].run < least_run)) continue;
    const Home home = of(part);
    if (home.value == joined || home.piece.count != whole(home.value).count || !index_.producer(home.value)) continue;
    if (index_.producer(home.value)->outputs.size() != 1) continue;
    placed[i] = put(home.value, joined, pieces[i]);
  }
  const auto copies = static_cast<size_t>(std::count(placed.begin(), placed.end(), false));
  const bool short_rows =
      std::any_of(pieces.begin(), pieces.end(), [](const Piece &p) { return p.count > 0 && p.run < least_run; });
  if (in_rows && copies == pieces.size() && (short_rows || copies > most_copies)) return;
  placed_[joined] = placed;
  for (size_t i = 0; i < pieces.size(); ++i)
    if (!placed[i]) uses_[joined].push_back({memory_extents(graph_.value(concat.inputs[i])), pieces[i]});
}

}  // namespace saltern::generators
