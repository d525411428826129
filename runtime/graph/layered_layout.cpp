#include "runtime/graph/layered_layout.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace saltern {

namespace {

constexpr double gap_across = 24, gap_down = 40, margin = 20, width_of_waypoint = 6;
constexpr int sweeps_of_order = 12, sweeps_of_places = 16;
constexpr size_t waypoints_for_each_box = 4, waypoints_at_least = 1000;

// A box, or a place where an arrow passes a layer.
struct Item {
  int layer;
  double width, height;
  double x = 0;  // its middle
  std::vector<size_t> above, below;

  // What nothing leads to stands aside, and does not push or pull the others.
  double weight() const { return above.empty() ? 0.001 : 1; }
};

class Layering {
 public:
  Layering(const std::vector<BoxSize> &boxes, const std::vector<Arrow> &arrows)
      : boxes_(boxes.size()), arrows_(arrows) {
    for (const BoxSize &b : boxes) items_.push_back({0, b.width, b.height});
    choose_layers();
    connect();
    fill_layers();
    order();
    place();
  }

  LayeredLayout result() const;

 private:
  void choose_layers();
  void connect();
  void fill_layers();
  void order();
  void place();
  void place_layer(const std::vector<size_t> &layer, bool by_above);
  double wanted(const Item &item, bool by_above) const;
  void link(size_t from, size_t to) {
    items_[from].below.push_back(to);
    items_[to].above.push_back(from);
  }

  size_t boxes_;  // the first items
  const std::vector<Arrow> &arrows_;
  std::vector<Item> items_;
  std::vector<std::vector<size_t>> ways_;    // of each arrow: items
  std::vector<std::vector<size_t>> layers_;  // from left to right
};

// As deep as the longest way to it; what nothing leads to stands right above its first reader.
void Layering::choose_layers() {
  std::vector<bool> has_source(boxes_), has_reader(boxes_);
  std::vector<size_t> order(arrows_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return arrows_[a].from < arrows_[b].from; });
  for (size_t i : order) {
    const Arrow &a = arrows_[i];
    items_[a.to].layer = std::max(items_[a.to].layer, items_[a.from].layer + 1);
    has_source[a.to] = has_reader[a.from] = true;
  }
  std::vector<int> first_reader(boxes_, std::numeric_limits<int>::max());
  for (const Arrow &a : arrows_) first_reader[a.from] = std::min(first_reader[a.from], items_[a.to].layer);
  for (size_t b = 0; b < boxes_; ++b)
    if (!has_source[b] && has_reader[b]) items_[b].layer = first_reader[b] - 1;
}

void Layering::connect() {
  ways_.resize(arrows_.size());
  const auto length = [&](size_t a) { return items_[arrows_[a].to].layer - items_[arrows_[a].from].layer; };
  std::vector<size_t> shortest_first(arrows_.size());
  std::iota(shortest_first.begin(), shortest_first.end(), size_t{0});
  std::stable_sort(shortest_first.begin(), shortest_first.end(),
                   [&](size_t a, size_t b) { return length(a) < length(b); });
  size_t room = waypoints_for_each_box * boxes_ + waypoints_at_least;
  for (size_t a : shortest_first) {
    const auto needed = static_cast<size_t>(std::max(0, length(a) - 1));
    size_t last = arrows_[a].from;
    if (needed > room) continue;  // not even considered when places are chosen
    room -= needed;
    for (size_t i = 0; i < needed; ++i) {
      items_.push_back({items_[last].layer + 1, width_of_waypoint, 0});
      ways_[a].push_back(items_.size() - 1);
      link(last, items_.size() - 1);
      last = items_.size() - 1;
    }
    link(last, arrows_[a].to);
  }
}

void Layering::fill_layers() {
  int deepest = 0;
  for (const Item &i : items_) deepest = std::max(deepest, i.layer);
  layers_.resize(static_cast<size_t>(deepest) + 1);
  for (size_t i = 0; i < items_.size(); ++i) layers_[static_cast<size_t>(items_[i].layer)].push_back(i);
}

// Each item between its neighbours in the layer that was ordered before.
void Layering::order() {
  std::vector<double> position(items_.size());
  const auto number = [&](const std::vector<size_t> &layer) {
    for (size_t i = 0; i < layer.size(); ++i) position[layer[i]] = static_cast<double>(i);
  };
  for (const auto &layer : layers_) number(layer);
  std::vector<double> key(items_.size());
  for (int sweep = 0; sweep < sweeps_of_order; ++sweep) {
    const bool down = sweep % 2 == 0;
    for (size_t l = 0; l < layers_.size(); ++l) {
      std::vector<size_t> &layer = layers_[down ? l : layers_.size() - 1 - l];
      for (size_t i : layer) {
        const std::vector<size_t> &near = down ? items_[i].above : items_[i].below;
        double sum = 0;
        for (size_t n : near) sum += position[n];
        key[i] = near.empty() ? position[i] : sum / static_cast<double>(near.size());
      }
      std::stable_sort(layer.begin(), layer.end(), [&](size_t a, size_t b) { return key[a] < key[b]; });
      number(layer);
    }
  }
}

double Layering::wanted(const Item &item, bool by_above) const {
  const std::vector<size_t> &near = by_above ? item.above : item.below;
  if (near.empty()) return item.x;
  double sum = 0, weights = 0;
  for (size_t n : near) {
    sum += items_[n].weight() * items_[n].x;
    weights += items_[n].weight();
  }
  return sum / weights;
}

// As near as can be to the wanted places, in the sum of squares, without overlap: neighbours that would push each other
// become one block, which stands at its mean.
void Layering::place_layer(const std::vector<size_t> &layer, bool by_above) {
  struct Block {
    double sum, weight;
    double mean() const { return sum / weight; }
  };
  std::vector<Block> blocks;
  std::vector<size_t> members;
  double offset = 0;  // of the item from the layer's first, where all stand as close as they may
  std::vector<double> offsets;
  for (size_t i = 0; i < layer.size(); ++i) {
    if (i > 0) offset += (items_[layer[i - 1]].width + items_[layer[i]].width) / 2 + gap_across;
    offsets.push_back(offset);
    const double weight = items_[layer[i]].weight();
    Block b = {weight * (wanted(items_[layer[i]], by_above) - offset), weight};
    size_t count = 1;
    while (!blocks.empty() && blocks.back().mean() > b.mean()) {
      b = {b.sum + blocks.back().sum, b.weight + blocks.back().weight};
      count += members.back();
      blocks.pop_back();
      members.pop_back();
    }
    blocks.push_back(b);
    members.push_back(count);
  }
  size_t i = 0;
  for (size_t b = 0; b < blocks.size(); ++b)
    for (size_t m = 0; m < members[b]; ++m, ++i) items_[layer[i]].x = blocks[b].mean() + offsets[i];
}

void Layering::place() {
  for (const auto &layer : layers_) place_layer(layer, true);
  for (int sweep = 0; sweep < sweeps_of_places; ++sweep) {
    const bool down = sweep % 2 == 1;
    for (size_t l = 0; l < layers_.size(); ++l) place_layer(layers_[down ? l : layers_.size() - 1 - l], down);
  }
}

LayeredLayout Layering::result() const {
  LayeredLayout made;
  double left = 0, right = 0;
  for (const Item &i : items_) {
    left = std::min(left, i.x - i.width / 2);
    right = std::max(right, i.x + i.width / 2);
  }
  std::vector<double> tops, heights;
  double y = margin;
  for (const auto &layer : layers_) {
    double height = 0;
    for (size_t i : layer) height = std::max(height, items_[i].height);
    tops.push_back(y);
    heights.push_back(height);
    y += height + gap_down;
  }
  const auto layer_of = [&](size_t i) { return static_cast<size_t>(items_[i].layer); };
  for (size_t b = 0; b < boxes_; ++b) {
    const Item &i = items_[b];
    made.boxes.push_back({i.x - i.width / 2 - left + margin, tops[layer_of(b)] + (heights[layer_of(b)] - i.height) / 2,
                          i.width, i.height});
  }
  for (const std::vector<size_t> &way : ways_) {
    made.ways.emplace_back();
    for (size_t i : way)
      made.ways.back().push_back(
          {items_[i].x - left + margin, tops[layer_of(i)], tops[layer_of(i)] + heights[layer_of(i)]});
  }
  made.width = right - left + 2 * margin;
  made.height = y - gap_down + margin;
  return made;
}

}  // namespace

LayeredLayout layered_layout(const std::vector<BoxSize> &boxes, const std::vector<Arrow> &arrows) {
  if (boxes.empty()) return {};
  return Layering(boxes, arrows).result();
}

}  // namespace saltern
