#include "apps/language_model/generation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace saltern {

int64_t chosen(const std::vector<float> &scores, const Sampling &sampling, Random &random) {
  const auto largest = std::max_element(scores.begin(), scores.end());
  if (sampling.temperature == 0) return largest - scores.begin();
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  if (sampling.top > 0) order.resize(std::min(order.size(), static_cast<size_t>(sampling.top)));
  std::vector<double> up_to;  // the sum of the likelihoods so far, up to a factor
  for (const size_t i : order)
    up_to.push_back((up_to.empty() ? 0 : up_to.back()) +
                    std::exp(static_cast<double>(scores[i] - *largest) / sampling.temperature));
  const double at = static_cast<double>(random.uniform()) * up_to.back();
  const auto found = std::upper_bound(up_to.begin(), up_to.end(), at);
  return static_cast<int64_t>(order[static_cast<size_t>(std::min(found, up_to.end() - 1) - up_to.begin())]);
}

Generated generate(LanguageModel &net, const std::vector<int64_t> &prompt, int64_t length, const Sampling &sampling) {
  if (prompt.empty()) fail("a text to go on with has at least one character");
  const NoGradient guard;
  const EvaluationMode mode(net);
  Random random(sampling.seed);
  std::vector<Variable> state;
  for (const auto &[name, tensor] : net.beginning()) state.emplace_back(tensor);
  Generated g = {prompt, {}};
  for (size_t i = 0; i + 1 < prompt.size() + static_cast<size_t>(length); ++i) {
    const LanguageModel::Stepped s = net.step(Tensor::of<int64_t>({1}, {g.tokens[i]}), state);
    const Tensor &scores = s.scores.value();
    g.scores.emplace_back(scores.data<float>(), scores.data<float>() + scores.size());
    state = s.state;
    if (i + 1 == g.tokens.size()) g.tokens.push_back(chosen(g.scores.back(), sampling, random));
  }
  return g;
}

}  // namespace saltern
