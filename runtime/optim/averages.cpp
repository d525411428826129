#include "runtime/optim/averages.h"

#include <set>

#include "runtime/kernels/kernels.h"
#include "runtime/tensor/strided.h"

namespace saltern {

void blend_into(const Tensor &average, const Tensor &p, double part) {
  const bool is_f64 = average.type() == Type::f64;
  if (average.shape() != p.shape() || average.type() != p.type() || (!is_f64 && p.type() != Type::f32))
    fail("an average of ", to_string(average.shape()), " of ", facts(average.type()).name, " and ",
         to_string(p.shape()), " of ", facts(p.type()).name, "; expected f32 or f64 of one shape");
  const Tensor given = arranged_like(p, average);
  if (is_f64) {
    double *a = average.data<double>();
    const double *b = given.data<double>();
    for (int64_t i = 0; i < average.size(); ++i) a[i] += part * (b[i] - a[i]);
    return;
  }
  // A step down -(p), from what is kept.
  call("descent", {flat(average), flat(given), -1.0f, 0.0f, static_cast<float>(1 - part), static_cast<float>(part),
                   flat(average)});
  average.written();
}

Averages::Averages(Module &net, std::optional<double> decay) : net_(net), decay_(decay) {
  if (decay && !(*decay >= 0 && *decay <= 1)) fail("averages: the decay is ", *decay, "; expected between 0 and 1");
  for (const auto &[name, t] : net.state()) state_[name] = t.clone();
}

void Averages::update() {
  std::set<std::string> averaged;
  for (const auto &[name, p] : net_.named_parameters()) averaged.insert(name);
  const double part = count_ == 0 ? 1 : decay_ ? 1 - *decay_ : 1.0 / static_cast<double>(count_ + 1);
  for (const auto &[name, t] : net_.state()) {
    if (part < 1 && averaged.count(name) > 0)
      blend_into(state_.at(name), t, part);
    else
      state_.at(name).copy_from(t);
  }
  ++count_;
}

void Averages::load(const std::map<std::string, Tensor> &state, int64_t count) {
  copy_state(state_, state);
  count_ = count;
}

Averages::Swapped::Swapped(const Averages *averages) : averages_(averages) {
  if (!averages_) return;
  for (const auto &[name, t] : averages_->net_.state()) own_[name] = t.clone();
  averages_->net_.load_state(averages_->state());
}

Averages::Swapped::~Swapped() {
  if (averages_) averages_->net_.load_state(own_);
}

}  // namespace saltern
