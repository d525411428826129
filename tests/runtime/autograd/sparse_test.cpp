// Sparse gradients of tables, beside dense ones, and what optimizers write.

#include "runtime/autograd/sparse.h"

#include "runtime/autograd/backward.h"
#include "runtime/nn/all.h"
#include "runtime/optim/optimizer.h"
#include "tests/errors.h"

namespace saltern {
namespace {

using namespace nn::literals;

const Variable places(Tensor::of<int64_t>({4}, {5, 1, 5, 2}));

nn::Layer table(bool sparse) {
  nn::manual_seed(4);
  return nn::Embedding(6, 3, "sparse"_a = sparse);
}

TEST(SparseGradients, AreTheDenseOneInFewerRows) {
  nn::Layer with = table(true), without = table(false);
  for (nn::Layer *layer : {&with, &without}) backward(sum(square((*layer)(places))));
  const Variable found = with.parameter("weight").gradient(), wanted = without.parameter("weight").gradient();
  ASSERT_NE(found.sparse(), nullptr);
  EXPECT_EQ(wanted.sparse(), nullptr);
  EXPECT_EQ(found.sparse()->rows, (std::vector<int64_t>{5, 1, 5, 2}));
  const SparseRows once = coalesced(*found.sparse());
  EXPECT_EQ(once.rows, (std::vector<int64_t>{1, 2, 5}));
  EXPECT_EQ(once.values.shape(), (Shape{3, 3}));
  EXPECT_EQ(found.value().reals(), wanted.value().reals());
  EXPECT_EQ(dense(wanted.shape(), once).reals(), wanted.value().reals());
}

TEST(SparseGradients, SgdMovesAsByTheDenseOne) {
  nn::Layer with = table(true), without = table(false);
  for (nn::Layer *layer : {&with, &without}) {
    SGD optimizer(*layer, {0.1});
    backward(sum(square((*layer)(places))));
    optimizer.step();
  }
  EXPECT_EQ(with.parameter("weight").value().reals(), without.parameter("weight").value().reals());
}

TEST(SparseGradients, SparseAdamLeavesOtherRowsAndTheirMomentsAlone) {
  nn::Layer layer = table(true);
  const std::vector<double> before = layer.parameter("weight").value().reals();
  SparseAdam optimizer(layer, {0.1});
  backward(sum(square(layer(places))));
  optimizer.step();
  const std::vector<double> after = layer.parameter("weight").value().reals(),
                            mean = optimizer.state().at("mean.weight").reals();
  for (size_t i = 0; i < before.size(); ++i) {
    const bool touched = i / 3 == 1 || i / 3 == 2 || i / 3 == 5;
    EXPECT_EQ(after[i] != before[i], touched) << i;
    EXPECT_EQ(mean[i] != 0, touched) << i;
    EXPECT_NEAR(std::abs(after[i] - before[i]), touched ? 0.1 : 0, 1e-3);  // the first step is the rate
  }
}

TEST(SparseGradients, SparseAdamRefusesDenseOnes) {
  nn::Layer layer = table(false);
  SparseAdam optimizer(layer);
  backward(sum(square(layer(places))));
  expect_error([&] { optimizer.step(); }, {"sparse gradients only"});
}

}  // namespace
}  // namespace saltern
