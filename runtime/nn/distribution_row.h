#pragma once
// A distribution as four functions of its parameters: rows of the table, distributions.NAME.log_prob, .entropy, .rsample and
// .kl_divergence.

#include "runtime/nn/function.h"
#include "runtime/nn/table.h"

namespace saltern::nn {

struct DistributionRow {
  using Parameters = const std::vector<Variable> &;

  DistributionRow(const char *name, const std::vector<std::string> &parameters, const std::string &expected,
                  Variable (*log_prob)(Parameters, const Variable &x), Variable (*entropy)(Parameters),
                  Variable (*draw)(Parameters, const Shape &samples), Variable (*kl)(Parameters, Parameters),
                  bool has_gradients = true)
      : name_(name),
        parameters(parameters),
        expected(expected),
        has_gradients(has_gradients),
        log_prob_row(prefix() + "log_prob", joined("") + ", value",
                     [=](const Arguments &a) { return log_prob(of(a), a.variable("value")); }),
        entropy_row(prefix() + "entropy", joined(""), [=](const Arguments &a) { return entropy(of(a)); }),
        draw_row(prefix() + "rsample", joined("") + ", sample_shape=()",
                 [=](const Arguments &a) { return draw(of(a), a.integers("sample_shape")); }),
        kl_row(prefix() + "kl_divergence", joined("p_") + ", " + joined("q_"),
               [=](const Arguments &a) { return kl(of(a, "p_"), of(a, "q_")); }) {
    table<DistributionRow>().add(*this);
  }

  const std::string &name() const { return name_; }
  std::string prefix() const { return "distributions." + name_ + "."; }
  std::string joined(const std::string &before) const {
    std::string all;
    for (const std::string &p : parameters) all += (all.empty() ? "" : ", ") + before + p;
    return all;
  }
  std::vector<Variable> of(const Arguments &a, const std::string &before = "") const {
    std::vector<Variable> all;
    for (const std::string &p : parameters) all.push_back(a.variable(before + p));
    return all;
  }

 private:
  std::string name_;

 public:
  std::vector<std::string> parameters;
  std::string expected;  // of each: + positive numbers, . any
  bool has_gradients;    // whether samples have
  Function log_prob_row, entropy_row, draw_row, kl_row;
};

}  // namespace saltern::nn
