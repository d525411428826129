#pragma once
// Decision trees as tables, from the two ways in which files write them down.

#include "runtime/autograd/attributes.h"

namespace saltern {

struct Trees {
  std::vector<int64_t> roots;                                 // of each tree
  std::vector<int64_t> feature, mode, missing_true, yes, no;  // of each node
  std::vector<double> split;
  std::vector<std::vector<double>> sets;  // of nodes that ask for membership; `split` is its number
  std::vector<int64_t> leaf;              // of each node: its row of weights, -1 of none
  int64_t targets = 1;
  struct Vote {
    int64_t row, target;
    double weight;
  };
  std::vector<Vote> votes;

  size_t size() const { return yes.size(); }
};

// TreeEnsembleClassifier and -Regressor: nodes by (tree, node) numbers, leaves among them; votes of `prefix` + "_ids".
Trees numbered_trees(const Attributes &attributes, const std::string &prefix);

// TreeEnsemble: inner nodes and leaves are numbered apart; leaves stand after the nodes here.
Trees separate_trees(const Attributes &attributes);

}  // namespace saltern
