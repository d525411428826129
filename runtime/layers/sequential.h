#pragma once
// Layers one after another.
//
//   Sequential net(Conv2d(random, 1, 32, 3), ReLU(), Flatten(), Linear(random, 21632, 10));
//
// Layers are given by value, or as shared_ptr to be shared with other nets. Names are their positions: "0.weight". An
// error says which layer it came from: "layer 3 (Linear): ...".

#include <memory>

#include "runtime/layers/module.h"

namespace saltern {

class Sequential : public Module {
 public:
  Sequential() = default;
  template <typename... Layers, typename = std::enable_if_t<(sizeof...(Layers) != 1) ||
                                                            !(std::is_same_v<std::decay_t<Layers>, Sequential> && ...)>>
  explicit Sequential(Layers &&...layers) {
    (add(std::forward<Layers>(layers)), ...);
  }

  template <typename Layer>
  void add(Layer &&layer) {
    using Plain = std::decay_t<Layer>;
    if constexpr (std::is_convertible_v<Plain, std::shared_ptr<Module>>)
      layers_.push_back(std::forward<Layer>(layer));
    else
      layers_.push_back(std::make_shared<Plain>(std::forward<Layer>(layer)));
    if (!layers_.back()) fail("Sequential: layer ", layers_.size() - 1, " is null");
  }

  size_t size() const { return layers_.size(); }
  Module &at(size_t i) const { return *layers_.at(i); }

  Variable forward(const Variable &x) override {
    Variable y = x;
    for (size_t i = 0; i < layers_.size(); ++i) y = inside("layer " + std::to_string(i), *layers_[i], y);
    return y;
  }

  void visit(Visitor &v) override {
    for (size_t i = 0; i < layers_.size(); ++i) v.child(std::to_string(i), *layers_[i]);
  }

 private:
  std::vector<std::shared_ptr<Module>> layers_;
};

}  // namespace saltern
