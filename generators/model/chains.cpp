#include "generators/model/chains.h"

#include <algorithm>
#include <unordered_map>

#include "generators/model/emitters.h"
#include "generators/model/winograd.h"
#include "runtime/graph/graph_index.h"

namespace saltern::generators {

namespace {

// Images between links are worth keeping in a core's own cache when they are larger than this. Smaller ones come from
// the cache that cores share as fast as pointwise convolutions take them: blocks with 1 to 3 MB between their links
// were 3 to 6 % slower as a chain, for the rows that are computed twice (AMD Zen 4 with 1 MB and 32 MB of cache).
constexpr int64_t least_bytes = 4 << 20;
// What a task holds between its links: it should leave room for weights in a core's own cache.
constexpr int64_t most_held_bytes = 256 * 1024;
// Bands are for threads to share; fewer than these would leave some of them without work.
constexpr int least_bands = 4, most_bands = 8;
// Of the rows of the first link, those that may be computed twice.
constexpr double most_recomputed = 0.125;
// A depthwise window is unrolled along the row: a wider one would be long code.
constexpr int64_t widest_window = 16;

int window_rows(const Geometry &g) { return g.sliding.y.dilation * (g.kernel_y - 1) + 1; }

// How many bands the result is cut into: as many as recompute little. Only links behind the first can make the one
// before them compute rows twice.
int bands_of(const std::vector<Geometry> &links) {
  int bands = std::min(most_bands, links.back().out_height());
  for (size_t i = 1; i < links.size(); ++i) {
    const int shared = window_rows(links[i]) - links[i].sliding.y.stride;
    if (shared > 0) bands = std::min(bands, static_cast<int>(most_recomputed * links[i].height / shared) + 1);
  }
  return bands;
}

bool is_image(const Graph &graph, const std::string &value) {
  const Graph::Value &v = graph.value(value);
  return is_channels_last(v) && v.type == Type::f32;
}

bool is_between_images(const Graph &graph, const Group &group) {
  return is_image(graph, group.anchor().inputs[0]) && is_image(graph, group.output());
}

// Winograd's convolution saves more than a chain does.
bool is_packed(const Graph &graph, const Group &group) {
  return group.anchor().operation == "conv2d" && has_packed_form(graph, group.anchor()) &&
         winograd_tile(group.anchor()) == 0 && is_between_images(graph, group);
}

bool is_pointwise(const Graph &graph, const Group &group) {
  const Geometry g = geometry_of(graph, group.anchor());
  return g.kernel_x == 1 && g.kernel_y == 1 && !g.is_padded() && g.sliding.x.stride == 1 && g.sliding.y.stride == 1;
}

// Between links channels go on to the end of the last panel. What the epilogue reads there has to be constant, so that
// it can be made to.
bool can_fill_panels(const Graph &graph, const Group &group) {
  const int64_t channels = graph.value(group.output()).shape[1];
  const std::vector<std::string> others = other_operands(group.nodes, 1, group.anchor().outputs[0]);
  return channels % panel == 0 || std::all_of(others.begin(), others.end(), [&](const std::string &name) {
           const Graph::Value &v = graph.value(name);
           return elements(v.shape) == 1 || (v.constant.defined() && elements(v.shape) == channels);
         });
}

// Of each group, the only reader of what it makes, if that reads it as its image, and of each reader, the group; else
// none, which is groups.size().
struct Neighbours {
  std::vector<size_t> next, before;
};

Neighbours neighbours(const Graph &graph, const std::vector<Group> &groups) {
  const GraphIndex index(graph);
  std::unordered_map<std::string, size_t> readers;  // by the image
  for (size_t g = 0; g < groups.size(); ++g)
    if (!groups[g].anchor().inputs.empty()) readers.emplace(groups[g].anchor().inputs[0], g);
  Neighbours all = {std::vector<size_t>(groups.size(), groups.size()),
                    std::vector<size_t>(groups.size(), groups.size())};
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto reader = readers.find(groups[g].output());
    if (reader == readers.end() || index.uses(groups[g].output()) != 1) continue;
    all.next[g] = reader->second;
    all.before[reader->second] = g;
  }
  return all;
}

// Whether these groups, all but the last with their results between links, gain by being a chain.
bool gains(const Graph &graph, const std::vector<const Group *> &links) {
  std::vector<Geometry> geometries;
  int64_t between = 0;
  for (const Group *g : links) {
    geometries.push_back(link_geometry(graph, g->anchor()));
    if (g != links.back()) between += 4 * elements(graph.value(g->output()).shape);
  }
  return links.size() > 1 && between >= least_bytes && bands_of(geometries) >= least_bands;
}

}  // namespace

Geometry link_geometry(const Graph &graph, const Graph::Node &node) {
  return is_depthwise(graph, node) ? depthwise_geometry(graph, node) : geometry_of(graph, node);
}

schedules::ChainKnobs chain_knobs(const std::vector<Geometry> &links) {
  const int height = links.back().out_height();
  if (links.size() == 1) return {std::min(4, height), std::min(4, height)};
  const int bands = bands_of(links), band = (height + bands - 1) / bands;
  const auto held_bytes = [&](int strip) {
    int64_t bytes = 0;
    for (size_t i = links.size() - 1; i > 0; --i) {
      strip = (strip - 1) * links[i].sliding.y.stride + window_rows(links[i]);
      bytes += int64_t{4} * links[i - 1].channels_out * links[i].width * strip;
    }
    return bytes;
  };
  int strip = band;
  while (strip > 1 && (band % strip != 0 || held_bytes(strip) > most_held_bytes)) --strip;
  return {strip, band};
}

bool has_chain_form(const Graph &graph, const Group &group) {
  return is_depthwise(graph, group.anchor()) && is_between_images(graph, group) &&
         graph.value(group.output()).shape[1] >= panel &&
         graph.value(group.anchor().inputs[1]).shape[3] <= widest_window;
}

std::vector<Chain> chained(const Graph &graph, std::vector<Group> groups) {
  const Neighbours near = neighbours(graph, groups);
  std::vector<std::vector<size_t>> ending(groups.size());  // the chain that ends with a group
  std::vector<bool> taken(groups.size());
  for (size_t d = 0; d < groups.size(); ++d) {
    if (!has_chain_form(graph, groups[d])) continue;
    std::vector<size_t> links = {d};
    const size_t before = near.before[d], after = near.next[d];
    if (before < d && !taken[before] && is_packed(graph, groups[before]) && can_fill_panels(graph, groups[before]))
      links.insert(links.begin(), before);
    if (after < groups.size() && is_packed(graph, groups[after]) && is_pointwise(graph, groups[after]))
      links.push_back(after);
    std::vector<const Group *> all;
    for (size_t link : links) all.push_back(&groups[link]);
    if (!gains(graph, all)) continue;
    for (size_t link : links) taken[link] = true;
    ending[links.back()] = links;
  }
  std::vector<Chain> chains;
  for (size_t g = 0; g < groups.size(); ++g) {
    if (!taken[g]) ending[g] = {g};
    if (ending[g].empty()) continue;  // it is inside of a chain
    chains.emplace_back();
    for (size_t link : ending[g]) chains.back().links.push_back(std::move(groups[link]));
  }
  return chains;
}

}  // namespace saltern::generators
