#pragma once
// What AutoAugment chooses from: pairs of changes, as Cubuk et al. (2019) found them for a set of pictures.

#include <string>
#include <vector>

namespace saltern::transforms {

struct PolicyStep {
  std::string name;
  double probability;
  int64_t strength;  // 0 to 9
};
using PolicyPair = std::pair<PolicyStep, PolicyStep>;

// "imagenet", "cifar10" or "svhn".
const std::vector<PolicyPair> &policy(const std::string &name);

}  // namespace saltern::transforms
