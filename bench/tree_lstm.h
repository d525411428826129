#pragma once
// A binary tree-LSTM (Tai, Socher and Manning, 2015), as one writes it for one tree: words at the leaves, a class for each
// tree. Shapes of trees differ, so a batch of them is many small nets.

#include <memory>

#include "runtime/layers.h"
#include "runtime/nn/all.h"
#include "runtime/tensor/random.h"

namespace saltern {

struct Tree {
  Variable word;  // of a leaf
  std::unique_ptr<Tree> left, right;
};

// With so many leaves, split at random.
inline Tree random_tree(Random &random, int64_t leaves, int64_t width) {
  if (leaves == 1) return {Variable(random.normal_tensor({1, width})), nullptr, nullptr};
  const auto left = 1 + static_cast<int64_t>(random.below(static_cast<uint64_t>(leaves - 1)));
  return {{},
          std::make_unique<Tree>(random_tree(random, left, width)),
          std::make_unique<Tree>(random_tree(random, leaves - left, width))};
}

struct TreeLstm : Module {
  TreeLstm(int64_t width, int64_t classes)
      : of_word(nn::Linear(width, 3 * width)),
        of_children(nn::Linear(2 * width, 5 * width)),
        out(nn::Linear(width, classes)),
        width_(width) {}

  struct State {
    Variable h, c;
  };

  State state_of(const Tree &tree) {
    if (!tree.left) {
      const Variable g = of_word(tree.word), c = sigmoid(part(g, 0)) * tanh(part(g, 1));
      return {sigmoid(part(g, 2)) * tanh(c), c};
    }
    const State a = state_of(*tree.left), b = state_of(*tree.right);
    const Variable g = of_children(concat({a.h, b.h}, 1));
    const Variable c = sigmoid(part(g, 0)) * tanh(part(g, 1)) + sigmoid(part(g, 2)) * a.c + sigmoid(part(g, 3)) * b.c;
    return {sigmoid(part(g, 4)) * tanh(c), c};
  }

  // The mean over all trees.
  Variable loss(const std::vector<Tree> &trees, const std::vector<int32_t> &classes) {
    std::vector<Variable> all;
    for (size_t i = 0; i < trees.size(); ++i)
      all.push_back(reshape(cross_entropy(out(state_of(trees[i]).h), Tensor::of<int32_t>({1}, {classes[i]})), {1}));
    return mean(concat(all, 0));
  }

  void visit(Visitor &v) override {
    v.child("of_word", of_word);
    v.child("of_children", of_children);
    v.child("out", out);
  }

  nn::Layer of_word, of_children, out;

 private:
  Variable part(const Variable &gates, int64_t i) const { return slice(gates, 1, i * width_, width_); }

  int64_t width_;
};

}  // namespace saltern
