#include "runtime/training/averages.h"

namespace saltern {

namespace {

template <typename T>
void blend(const Tensor &average, const Tensor &parameter, double decay) {
  T *a = static_cast<T *>(average.raw());
  const T *p = static_cast<const T *>(parameter.raw());
  for (int64_t i = 0; i < average.size(); ++i)
    a[i] = static_cast<T>(decay * static_cast<double>(a[i]) + (1 - decay) * static_cast<double>(p[i]));
}

}  // namespace

Averages::Averages(Module &net, double decay) : decay_(decay) {
  if (!(decay >= 0 && decay < 1)) fail("averages of parameters: the decay is ", decay, "; expected 0 to 1, without 1");
  for (const auto &[name, p] : net.named_parameters()) {
    const Type type = p.type();
    if (type != Type::f32 && type != Type::f64)
      fail("averages of parameters: '", name, "' is ", facts(type).name, "; expected f32 or f64");
    const Tensor average = Tensor::like(p.value());
    average.copy_from(p.value());
    pairs_.push_back({name, p.value(), average});
  }
}

void Averages::update() {
  for (const Pair &pair : pairs_)
    pair.average.type() == Type::f32 ? blend<float>(pair.average, pair.parameter, decay_)
                                     : blend<double>(pair.average, pair.parameter, decay_);
}

std::map<std::string, Tensor> Averages::state() const {
  std::map<std::string, Tensor> all;
  for (const Pair &pair : pairs_) all[pair.name] = pair.average;
  return all;
}

void Averages::swap() const {
  for (const Pair &pair : pairs_) {
    const Tensor kept = pair.parameter.clone();
    pair.parameter.copy_from(pair.average);
    pair.average.copy_from(kept);
    pair.parameter.written();
  }
}

}  // namespace saltern
