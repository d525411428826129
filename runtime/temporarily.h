#pragma once
// A variable that has another value as long as this lives; what guards are made of.

namespace saltern {

template <typename T, typename Variable = T>
class Temporarily {
 public:
  Temporarily(const Temporarily &) = delete;
  Temporarily &operator=(const Temporarily &) = delete;

 protected:
  Temporarily(Variable &variable, T value) : variable_(variable), before_(variable) { variable_ = value; }
  ~Temporarily() { variable_ = before_; }

 private:
  Variable &variable_;
  const T before_;
};

}  // namespace saltern
