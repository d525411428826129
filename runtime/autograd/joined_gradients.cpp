#include "runtime/autograd/joined_gradients.h"

#include <algorithm>
#include <numeric>

#include "runtime/layers/movement.h"
#include "runtime/operations.h"

namespace saltern {

namespace {

using GradientGroup = JoinedGradients::Group;

// ---- Parts of a value.

int64_t begin_of(const Attributes &a) { return a.integer("begin"); }

Variable zeros_along(Shape shape, size_t axis, int64_t extent, Type type) {
  shape[axis] = extent;
  return Tensor::zeros(shape, type);
}

// The gradients of parts, in their places along the axis, none of them over another.
Variable in_their_places(const GradientGroup &g, const std::vector<size_t> &parts) {
  const Variable &x = g.inputs[0];
  const int64_t given = g.attributes[0].integer("axis");
  const auto axis = static_cast<size_t>(dimension(given, x.rank(), "slice"));
  std::vector<Variable> all;
  int64_t end = 0;
  for (size_t p : parts) {
    const int64_t begin = begin_of(g.attributes[p]);
    if (begin > end) all.push_back(zeros_along(x.shape(), axis, begin - end, x.type()));
    all.push_back(g.dy[p]);
    end = begin + g.dy[p].shape()[axis];
  }
  if (end < x.shape()[axis]) all.push_back(zeros_along(x.shape(), axis, x.shape()[axis] - end, x.type()));
  return all.size() == 1 ? all[0] : concat(all, given);
}

// Parts may lie over each other: as many layers as it takes.
std::vector<Variable> of_slices(const GradientGroup &g) {
  const auto axis = static_cast<size_t>(dimension(g.attributes[0].integer("axis"), g.inputs[0].rank(), "slice"));
  std::vector<size_t> order(g.dy.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return begin_of(g.attributes[a]) < begin_of(g.attributes[b]); });
  struct Layer {
    int64_t end;
    std::vector<size_t> parts;
  };
  std::vector<Layer> layers;
  for (size_t p : order) {
    const int64_t begin = begin_of(g.attributes[p]);
    auto layer = std::find_if(layers.begin(), layers.end(), [&](const Layer &l) { return l.end <= begin; });
    if (layer == layers.end()) layer = layers.insert(layer, {0, {}});
    layer->parts.push_back(p);
    layer->end = begin + g.dy[p].shape()[axis];
  }
  std::vector<Variable> all;
  for (const Layer &l : layers) all.push_back(in_their_places(g, l.parts));
  return all;
}

// ---- Weights and biases of dense layers.

// A product of so many rows is as fast by itself.
constexpr int64_t many_rows = 256;

Variable rows_of_all(std::vector<Variable> parts) {
  std::reverse(parts.begin(), parts.end());  // as they were taken
  return parts.size() == 1 ? parts[0] : concat(parts, 0);
}

// ---- The table.

struct RowToJoin {
  std::vector<size_t> inputs;  // that have gradients to be joined, and have to be the same ones
  bool (*fits)(const Step &step);
  std::vector<GradientOf> (*joined)(const GradientGroup &g);
};

const std::map<const Operation *, RowToJoin> &rows_to_join() {
  static const std::map<const Operation *, RowToJoin> rows = {
      {&operations::slice,
       {{0},
        [](const Step &) { return true; },
        [](const GradientGroup &g) {
          std::vector<GradientOf> all;
          for (const Variable &layer : of_slices(g)) all.push_back({g.inputs[0], layer});
          return all;
        }}},
      {&operations::dense,
       {{1, 2},
        [](const Step &s) { return s.inputs()[0].rank() == 2 && s.inputs()[0].extent(0) < many_rows; },
        [](const GradientGroup &g) {
          std::vector<GradientOf> all;
          const Variable dy = rows_of_all(g.dy);
          if (g.needed[1])
            all.push_back({g.inputs[1], apply_one(operations::dense_gradient_w, {rows_of_all(g.x), dy})});
          if (g.inputs.size() > 2 && g.needed[2])
            all.push_back({g.inputs[2], apply_one(operations::dense_gradient_b, {dy})});
          return all;
        }}},
  };
  return rows;
}

// Equal for steps whose gradients are one.
std::vector<std::pair<const void *, int64_t>> joint_identity(const Step &s, const RowToJoin &row) {
  std::vector<std::pair<const void *, int64_t>> all = {{&s.operation(), 0}};
  for (size_t i : row.inputs)
    if (i < s.inputs().size()) {
      const Variable &v = s.inputs()[i];
      if (v.step())
        all.emplace_back(v.step().get(), v.index());
      else
        all.emplace_back(v.identity(), -1);
    }
  if (s.attributes().has("axis")) all.emplace_back(nullptr, s.attributes().integer("axis"));
  return all;
}

}  // namespace

JoinedGradients::JoinedGradients(const std::vector<std::shared_ptr<Step>> &steps) {
  std::map<std::vector<std::pair<const void *, int64_t>>, std::shared_ptr<Group>> known;
  for (const auto &s : steps) {
    const auto row = rows_to_join().find(&s->operation());
    if (row == rows_to_join().end() || !row->second.fits(*s)) continue;
    std::shared_ptr<Group> &group = known[joint_identity(*s, row->second)];
    if (!group) group = std::make_shared<Group>();
    ++group->left;
    groups_[s.get()] = group;
  }
  for (auto it = groups_.begin(); it != groups_.end();)
    it = it->second->left == 1 ? groups_.erase(it) : std::next(it);  // alone
}

std::vector<GradientOf> JoinedGradients::take(const Step &step, const Variable &dy, std::vector<bool> &needed) {
  const auto found = groups_.find(&step);
  if (found == groups_.end()) return {};
  Group &group = *found->second;
  const RowToJoin &row = rows_to_join().at(&step.operation());
  --group.left;
  if (dy.defined()) {
    const Taped taped(step, needed);
    group.needed = needed;
    group.inputs = step.inputs();
    const bool reads_x = row.inputs[0] > 0;
    group.x.push_back(reads_x && needed[1] ? taped.input(0) : Variable());
    group.dy.push_back(dy);
    group.attributes.push_back(step.attributes());
    for (size_t i : row.inputs)
      if (i < needed.size()) needed[i] = false;
  }
  if (group.left > 0 || group.dy.empty()) return {};
  std::vector<GradientOf> all = row.joined(group);
  group = {};
  return all;
}

}  // namespace saltern
