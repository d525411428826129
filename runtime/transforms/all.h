#pragma once
// Transforms by their names, with torchvision's arguments:
//
//   using namespace saltern::transforms;
//   using namespace saltern::nn::literals;
//   const Transform augment = Compose({RandomCrop(32, "padding"_a = 4), RandomHorizontalFlip()});

#include "runtime/transforms/transform.h"

// clang-format off
#define SALTERN_FOR_EACH_TRANSFORM(X) \
  X(AugMix) X(AutoAugment) X(CenterCrop) X(ColorJitter) X(Compose) X(ConvertImageDtype) X(CutMix) X(ElasticTransform) \
  X(FiveCrop) X(GaussianBlur) X(GaussianNoise) X(Grayscale) X(Identity) X(LinearTransformation) X(MixUp) X(Normalize) \
  X(Pad) X(RGB) X(RandAugment) X(RandomAdjustSharpness) X(RandomAffine) X(RandomApply) X(RandomAutocontrast) \
  X(RandomChannelPermutation) X(RandomChoice) X(RandomCrop) X(RandomEqualize) X(RandomErasing) X(RandomGrayscale) \
  X(RandomHorizontalFlip) X(RandomInvert) X(RandomOrder) X(RandomPerspective) X(RandomPhotometricDistort) \
  X(RandomPosterize) X(RandomResize) X(RandomResizedCrop) X(RandomRotation) X(RandomShortestSize) X(RandomSolarize) \
  X(RandomVerticalFlip) X(RandomZoomOut) X(Resize) X(ScaleJitter) X(TenCrop) X(ToDtype) X(TrivialAugmentWide) \
  X(UniformTemporalSubsample)
// clang-format on

namespace saltern::transforms {

struct NamedTransform {
  const char *name;
  Transform operator()(const nn::Given &a = nn::none, const nn::Given &b = nn::none, const nn::Given &c = nn::none,
                       const nn::Given &d = nn::none, const nn::Given &e = nn::none,
                       const nn::Given &f = nn::none) const {
    const nn::Call all({&a, &b, &c, &d, &e, &f});
    return transform(name, all.positional, all.named);
  }
};

#define SALTERN_TRANSFORM(NAME) inline constexpr NamedTransform NAME{#NAME};
SALTERN_FOR_EACH_TRANSFORM(SALTERN_TRANSFORM)
#undef SALTERN_TRANSFORM

}  // namespace saltern::transforms
