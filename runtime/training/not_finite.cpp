#include "runtime/training/not_finite.h"

#include <map>

#include "runtime/autograd/backward.h"
#include "runtime/tensor/checkpoint.h"
#include "runtime/training/parts.h"

namespace saltern {

namespace {

void expect_finite_gradient(const Variable &d, const std::string &of) {
  if (d.defined()) expect_finite(d.value(), of);
}

}  // namespace

void explain_not_finite(Module &net, const Loss &loss, const Examples &batch, const std::string &where) {
  expect_finite(batch.x, where + "the input: ");
  std::vector<std::pair<NamedPart, Variable>> outputs;
  const Watching watching(layers_of(net), nullptr,
                          [&](const NamedPart &part, const Variable &y) { outputs.emplace_back(part, y); });
  const Variable value = loss(net(batch.x), batch.target);
  for (const auto &[part, y] : outputs) expect_finite(y.value(), where + "the output of " + part.text() + ": ");
  expect_finite(value.value(), where + "the loss: ");

  // From the last layer back: what comes to a layer is finite, so that what is not, in its parameters' gradients or in what
  // it hands on, is its own.
  const auto gradient = [&](const Variable &v) {
    return v.requires_gradient() ? gradients(value, {v})[0] : Variable();
  };
  std::string maker = "the loss";
  for (auto it = outputs.rbegin(); it != outputs.rend(); ++it) {
    auto &[part, y] = *it;
    expect_finite_gradient(gradient(y), where + "the gradient that " + maker + " hands on: ");
    for (const auto &[name, p] : part.module->named_parameters())
      expect_finite_gradient(gradient(p), where + "the gradient of '" + name + "' of " + part.text() + ": ");
    maker = part.text();
  }
  for (const auto &[name, p] : net.named_parameters())  // those that belong to no layer
    expect_finite_gradient(gradient(p), where + "the gradient of '" + name + "': ");
}

}  // namespace saltern
