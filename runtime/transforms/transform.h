#pragma once
// Changes of samples, with the names, arguments and defaults of torchvision.transforms.v2: rows of one table, which C++, Python
// and `saltern train` have.
//
//   const Transform augment = Compose({RandomCrop(32, "padding"_a = 4), RandomHorizontalFlip(), ToDtype("float32", true),
//                                      Normalize({0.49, 0.48, 0.45}, {0.25, 0.24, 0.26})});       // all.h
//   Random numbers(7);
//   Tensor y = augment(picture, numbers);                    // (..., C, H, W), u8 or real numbers from 0 to 1
//   const Loader train = batches_of(folder.source(), {}, {2, nullptr, each_sample(augment, /*seed=*/7)});
//
// Boxes (..., 4), as (x1, y1, x2, y2), and key points (..., 2) of a picture go where its pixels go: augment({picture, boxes},
// numbers).boxes.
//
// A transform is a value: what it draws comes from the numbers that it is given. In a loader these are a function of seed, epoch
// and sample: batches are the same for any number of threads, and for training that is resumed.

#include "runtime/layers/module.h"
#include "runtime/nn/function.h"
#include "runtime/tensor/random.h"

namespace saltern::transforms {

using nn::Argument;
using nn::Arguments;
using nn::Named;
using nn::Signature;

// A picture, and what goes where its pixels go, if it is given (beside.h).
inline Signature of_sample() { return Signature("inpt, boxes=None, keypoints=None"); }

struct TransformRow {
  // Of what it was made with, numbers to draw from, and what it is called with.
  using Apply = std::function<Argument(const Arguments &made, Random &random, const Arguments &in)>;

  std::string name;
  Signature made_with;
  Apply apply;
  Signature called_with = of_sample();
  // Refuses, when it is made, what cannot be.
  std::function<void(const Arguments &made)> check = nullptr;
};

// In the order of their names. Null: there is none.
const std::vector<TransformRow> &transform_rows();
const TransformRow *find_transform(std::string_view name);

struct Scene {
  Tensor image, boxes, keypoints;
};

// As it was made. It is a Module, so that it may be an argument of others.
class Transform : public Module {
 public:
  Transform(const TransformRow &row, const std::vector<Argument> &positional, const Named &named = {});

  const TransformRow &row() const { return *row_; }
  const Arguments &made_with() const { return made_with_; }

  Argument call(Random &random, const std::vector<Argument> &in, const Named &named = {}) const;
  // The result, which is one tensor.
  Tensor operator()(const Tensor &x, Random &random) const { return nn::variable_of(call(random, {x})).value(); }
  // With boxes and key points; those that are undefined stay so.
  Scene operator()(const Scene &x, Random &random) const;
  std::string class_name() const override { return row_->name; }
  operator Argument() const { return Argument::Part(std::make_shared<Transform>(*this)); }

 private:
  const TransformRow *row_;
  Arguments made_with_;
};

Transform transform(const std::string &name, const std::vector<Argument> &positional, const Named &named = {});
// "RandomCrop(28, padding=4)"; several are a Compose.
Transform written_transform(const std::string &text);
Transform written_transforms(const std::vector<std::string> &texts);

// For loaders (runtime/training/source_loader.h).
std::function<Tensor(const Tensor &x, int64_t epoch, int64_t sample)> each_sample(const Transform &transform,
                                                                                  uint64_t seed);

}  // namespace saltern::transforms
