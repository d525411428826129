#include "runtime/transforms/policies.h"

#include <map>
#include <sstream>

#include "runtime/error.h"

namespace saltern::transforms {

namespace {

// Two changes each: a name, tenths of a probability, a strength.
const std::map<std::string, const char *> policy_texts = {
    {"imagenet",
     "Posterize 4 8 Rotate 6 9  Solarize 6 5 AutoContrast 6 0  Equalize 8 0 Equalize 6 0  Posterize 6 7 "
     "Posterize 6 6  Equalize 4 0 Solarize 2 4  Equalize 4 0 Rotate 8 8  Solarize 6 3 Equalize 6 0 "
     "Posterize 8 5 Equalize 10 0  Rotate 2 3 Solarize 6 8  Equalize 6 0 Posterize 4 6  Rotate 8 8 Color 4 "
     "0  Rotate 4 9 Equalize 6 0  Equalize 0 0 Equalize 8 0  Invert 6 0 Equalize 10 0  Color 6 4 Contrast "
     "10 8  Rotate 8 8 Color 10 2  Color 8 8 Solarize 8 7  Sharpness 4 7 Invert 6 0  ShearX 6 5 Equalize "
     "10 0  Color 4 0 Equalize 6 0  Equalize 4 0 Solarize 2 4  Solarize 6 5 AutoContrast 6 0  Invert 6 0 "
     "Equalize 10 0  Color 6 4 Contrast 10 8  Equalize 8 0 Equalize 6 0"},
    {"cifar10",
     "Invert 1 0 Contrast 2 6  Rotate 7 2 TranslateX 3 9  Sharpness 8 1 Sharpness 9 3  ShearY 5 8 "
     "TranslateY 7 9  AutoContrast 5 0 Equalize 9 0  ShearY 2 7 Posterize 3 7  Color 4 3 Brightness 6 7 "
     "Sharpness 3 9 Brightness 7 9  Equalize 6 0 Equalize 5 0  Contrast 6 7 Sharpness 6 5  Color 7 7 "
     "TranslateX 5 8  Equalize 3 0 AutoContrast 4 0  TranslateY 4 3 Sharpness 2 6  Brightness 9 6 Color 2 "
     "8  Solarize 5 2 Invert 0 0  Equalize 2 0 AutoContrast 6 0  Equalize 2 0 Equalize 6 0  Color 9 9 "
     "Equalize 6 0  AutoContrast 8 0 Solarize 2 8  Brightness 1 3 Color 7 0  Solarize 4 5 AutoContrast 9 0 "
     "TranslateY 9 9 TranslateY 7 9  AutoContrast 9 0 Solarize 8 3  Equalize 8 0 Invert 1 0  TranslateY 7 "
     "9 AutoContrast 9 0"},
    {"svhn",
     "ShearX 9 4 Invert 2 0  ShearY 9 8 Invert 7 0  Equalize 6 0 Solarize 6 6  Invert 9 0 Equalize 6 0 "
     "Equalize 6 0 Rotate 9 3  ShearX 9 4 AutoContrast 8 0  ShearY 9 8 Invert 4 0  ShearY 9 5 Solarize 2 6 "
     "Invert 9 0 AutoContrast 8 0  Equalize 6 0 Rotate 9 3  ShearX 9 4 Solarize 3 3  ShearY 8 8 Invert 7 0 "
     "Equalize 9 0 TranslateY 6 6  Invert 9 0 Equalize 6 0  Contrast 3 3 Rotate 8 4  Invert 8 0 TranslateY "
     "0 2  ShearY 7 6 Solarize 4 8  Invert 6 0 Rotate 8 4  ShearY 3 7 TranslateX 9 3  ShearX 1 6 Invert 6 "
     "0  Solarize 7 2 TranslateY 6 7  ShearY 8 4 Invert 8 0  ShearX 7 9 TranslateY 8 3  ShearY 8 5 "
     "AutoContrast 7 0  ShearX 7 2 Invert 1 0"}};

std::vector<PolicyPair> pairs_of(const char *text) {
  std::vector<PolicyPair> all;
  std::istringstream in(text);
  const auto step = [&](PolicyStep &s) {
    if (!(in >> s.name >> s.probability >> s.strength)) return false;
    s.probability /= 10;
    return true;
  };
  for (PolicyPair p; step(p.first) && step(p.second);) all.push_back(p);
  return all;
}

}  // namespace

const std::vector<PolicyPair> &policy(const std::string &name) {
  static const std::map<std::string, std::vector<PolicyPair>> all = [] {
    std::map<std::string, std::vector<PolicyPair>> made;
    for (const auto &[known, text] : policy_texts) made[known] = pairs_of(text);
    return made;
  }();
  const auto found = all.find(name);
  if (found == all.end()) fail("there is no policy '", name, "'; expected imagenet, cifar10 or svhn");
  return found->second;
}

}  // namespace saltern::transforms
