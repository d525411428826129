#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "runtime/onnx/operators/ml_scores.h"
#include "runtime/onnx/operators/ml_trees.h"

namespace saltern {

namespace {

// By the numbers that TreeEnsemble gives them.
const std::vector<std::string> modes = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",   "BRANCH_GT",
                                        "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER"};
constexpr int64_t is_member = 6;

}  // namespace

Trees numbered_trees(const Attributes &a, const std::string &prefix) {
  Trees t;
  const std::vector<int64_t> &tree = a.integers("nodes_treeids"), &number = a.integers("nodes_nodeids");
  const std::vector<std::string> &kinds = a.words("nodes_modes");
  t.split = reals_of(a, "nodes_values");
  t.feature = a.integers("nodes_featureids");
  t.missing_true = a.integers("nodes_missing_value_tracks_true", {});
  const size_t count = tree.size();
  t.missing_true.resize(count, 0);
  const std::vector<int64_t> &yes = a.integers("nodes_truenodeids"), &no = a.integers("nodes_falsenodeids");
  for (size_t size : {number.size(), kinds.size(), t.split.size(), t.feature.size(), yes.size(), no.size()})
    if (size != count) fail("attributes of nodes have ", count, " and ", size, " values; expected as many");
  std::map<std::pair<int64_t, int64_t>, int64_t> places;
  std::set<int64_t> trees;
  for (size_t i = 0; i < count; ++i) {
    if (!places.emplace(std::pair{tree[i], number[i]}, static_cast<int64_t>(i)).second)
      fail("tree ", tree[i], " has node ", number[i], " twice");
    if (trees.insert(tree[i]).second) t.roots.push_back(static_cast<int64_t>(i));
  }
  const auto place = [&](int64_t in, int64_t node) {
    const auto it = places.find({in, node});
    if (it == places.end()) fail("tree ", in, " has no node ", node);
    return it->second;
  };
  int64_t leaves = 0;
  for (size_t i = 0; i < count; ++i) {
    const bool is_leaf = kinds[i] == "LEAF";
    const auto mode = std::find(modes.begin(), modes.begin() + is_member, kinds[i]);
    if (!is_leaf && mode == modes.begin() + is_member) fail("nodes_modes has '", kinds[i], "'");
    // A leaf asks nothing; it gets a mode below, one that occurs anyway.
    t.mode.push_back(is_leaf ? -1 : mode - modes.begin());
    t.yes.push_back(is_leaf ? static_cast<int64_t>(i) : place(tree[i], yes[i]));
    t.no.push_back(is_leaf ? static_cast<int64_t>(i) : place(tree[i], no[i]));
    t.leaf.push_back(is_leaf ? leaves++ : -1);
    if (is_leaf) t.feature[i] = 0;
  }
  const auto some = std::find_if(t.mode.begin(), t.mode.end(), [](int64_t m) { return m >= 0; });
  const int64_t usual = some == t.mode.end() ? 0 : *some;
  std::replace(t.mode.begin(), t.mode.end(), int64_t{-1}, usual);

  const std::vector<int64_t> &vote_tree = a.integers(prefix + "_treeids"), &vote_node = a.integers(prefix + "_nodeids"),
                             &vote_for = a.integers(prefix + "_ids");
  const std::vector<double> weights = reals_of(a, prefix + "_weights");
  if (vote_tree.size() != weights.size() || vote_node.size() != weights.size() || vote_for.size() != weights.size())
    fail("attributes of votes differ in their numbers of values");
  for (size_t v = 0; v < weights.size(); ++v) {
    const int64_t row = t.leaf[static_cast<size_t>(place(vote_tree[v], vote_node[v]))];
    if (row >= 0) t.votes.push_back({row, vote_for[v], weights[v]});
  }
  return t;
}

Trees separate_trees(const Attributes &a) {
  Trees t;
  t.roots = a.integers("tree_roots");
  t.feature = a.integers("nodes_featureids");
  t.mode = a.tensor("nodes_modes").integers();
  t.split = a.tensor("nodes_splits").reals();
  t.targets = a.integer("n_targets");
  const std::vector<int64_t> &yes = a.integers("nodes_truenodeids"), &no = a.integers("nodes_falsenodeids"),
                             &yes_leaf = a.integers("nodes_trueleafs"), &no_leaf = a.integers("nodes_falseleafs"),
                             &target = a.integers("leaf_targetids");
  const std::vector<double> weights = a.tensor("leaf_weights").reals();
  t.missing_true = a.integers("nodes_missing_value_tracks_true", {});
  const size_t count = yes.size(), leaves = weights.size();
  t.missing_true.resize(count, 0);
  for (size_t size : {t.feature.size(), t.mode.size(), t.split.size(), no.size(), yes_leaf.size(), no_leaf.size()})
    if (size != count) fail("attributes of nodes have ", count, " and ", size, " values; expected as many");
  if (target.size() != leaves) fail(leaves, " weights and ", target.size(), " targets of leaves");
  const auto first_leaf = static_cast<int64_t>(count);
  std::vector<double> members;
  if (a.has("membership_values")) members = a.tensor("membership_values").reals();
  size_t member = 0;
  for (size_t i = 0; i < count; ++i) {
    if (t.mode[i] < 0 || t.mode[i] > is_member) fail("nodes_modes has ", t.mode[i]);
    t.yes.push_back(yes_leaf[i] != 0 ? first_leaf + yes[i] : yes[i]);
    t.no.push_back(no_leaf[i] != 0 ? first_leaf + no[i] : no[i]);
    t.leaf.push_back(-1);
    if (t.mode[i] != is_member) continue;
    t.split[i] = static_cast<double>(t.sets.size());
    t.sets.emplace_back();
    for (; member < members.size() && !std::isnan(members[member]); ++member) t.sets.back().push_back(members[member]);
    if (member++ >= members.size()) fail("membership_values has no set for node ", i);
  }
  for (size_t i = 0; i < leaves; ++i) {
    const int64_t self = first_leaf + static_cast<int64_t>(i);
    t.yes.push_back(self);
    t.no.push_back(self);
    t.feature.push_back(0);
    t.split.push_back(0);
    t.missing_true.push_back(0);
    t.mode.push_back(t.mode.empty() ? 0 : t.mode[0]);
    t.leaf.push_back(static_cast<int64_t>(i));
    t.votes.push_back({static_cast<int64_t>(i), target[i], weights[i]});
  }
  return t;
}

}  // namespace saltern
