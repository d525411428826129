#pragma once
// Layers with PyTorch's names, arguments, parameters and defaults: rows of a table, which C++ and Python make layers of.
//
//   const LayerRow leaky_relu("LeakyReLU", "negative_slope=0.01, inplace=False", calls("leaky_relu"));
//   const LayerRow linear("Linear", "in_features, out_features, bias=True", calls("linear"), [](Layer &self) {
//     ...
//     self.parameter("weight", uniform_parameter({out, in}, bound));
//   });
//
//   Layer layer = make("Linear", {8, 4});              // or nn::Linear(8, 4, "bias"_a = false), runtime/nn/all.h
//   Variable y = layer(x), loss = nn::MSELoss()(y, wanted);
//   std::vector<Variable> states = nn::LSTM(8, 4).all(x);      // y, h, c
//
// A layer that `calls` a function gives it what the layer was called with, then its parameters and buffers, whether it is
// training, and what it was made with, each where the names are the same.

#include "runtime/layers/module.h"
#include "runtime/nn/function.h"
#include "runtime/tensor/random.h"

namespace saltern::nn {

class Layer;

// How the result comes from the layer and what it was called with.
struct Forward {
  std::string called_with;  // the signature
  std::function<Argument(Layer &self, const Arguments &in)> of;
  std::string function = {};  // the one that it calls; empty: it is made of others
};
Forward calls(const std::string &function, const std::string &called_with = "input");

class LayerRow {
 public:
  // Gives a new layer its parameters, buffers and parts.
  using Make = std::function<void(Layer &self)>;

  // Adds itself to the table; it must live as long as the program, at namespace scope.
  LayerRow(std::string name, const std::string &made_with, Forward forward, Make make = nullptr);
  LayerRow(const LayerRow &) = delete;
  LayerRow &operator=(const LayerRow &) = delete;

  const std::string &name() const { return name_; }
  const Signature &made_with() const { return made_with_; }
  const Signature &called_with() const { return called_with_; }
  // The function that it calls; null where it is made of other layers and functions.
  const Function *function() const { return find_function(forward_.function); }

  Layer make(const std::vector<Argument> &positional, const Named &named = {}) const;
  Layer make(const Arguments &made_with) const;

 private:
  friend class Layer;
  std::string name_;
  Signature made_with_, called_with_;
  Forward forward_;
  Make make_;
};

// Null where there is none.
const LayerRow *find_layer(std::string_view name);
std::vector<const LayerRow *> all_layers();
Layer make(const std::string &name, const std::vector<Argument> &positional, const Named &named = {});

// A copy shares its parameters and parts.
class Layer : public Module {
 public:
  Layer(const LayerRow &row, Arguments made_with) : row_(&row), made_with_(std::move(made_with)) {}

  const LayerRow &row() const { return *row_; }
  // What it was made with.
  const Arguments &made_with() const { return made_with_; }

  Argument call(const std::vector<Argument> &positional, const Named &named = {});
  // The result, or the first of several; and all of them.
  Variable operator()(const Given &a, const Given &b = none, const Given &c = none, const Given &d = none,
                      const Given &e = none) {
    return all(a, b, c, d, e).at(0);
  }
  std::vector<Variable> all(const Given &a, const Given &b = none, const Given &c = none, const Given &d = none,
                            const Given &e = none);
  Variable forward(const Variable &x) override;
  void visit(Visitor &v) override;
  std::string class_name() const override { return row_->name(); }
  // What it was made with, but for defaults.
  std::string options() const override;

  // ---- For rows. A parameter or buffer may be undefined: there is none, under a name that functions may ask for.
  void parameter(const std::string &name, const Variable &value) { parameters_.emplace_back(name, value); }
  void buffer(const std::string &name, const Tensor &value) { buffers_.emplace_back(name, value); }
  void part(const std::string &name, std::shared_ptr<Module> module) { parts_.emplace_back(name, std::move(module)); }
  // A layer by its name, as a part.
  Layer &part(const std::string &name, const std::string &layer, const std::vector<Argument> &positional,
              const Named &named = {});
  bool has_parameter(std::string_view name) const;
  Variable &parameter(std::string_view name);
  Tensor &buffer(std::string_view name);
  Module &part(std::string_view name);
  // From here on it is another, with the hooks that it has; gives what that gives.
  Argument become(const Layer &other, const std::vector<Argument> &called_with);
  // Another with the same values, and memory of its own.
  std::shared_ptr<Layer> cloned();
  // Null where there is none, or it is no layer of a row.
  std::shared_ptr<Layer> find_part(std::string_view name) const;
  // Whether there is a parameter or buffer of that name; `found` is it then.
  bool find(std::string_view name, Argument &found) const;

 private:
  Argument result(const std::vector<Argument> &positional, const Named &named = {});

  const LayerRow *row_;
  Arguments made_with_;
  std::vector<std::pair<std::string, Variable>> parameters_;
  std::vector<std::pair<std::string, Tensor>> buffers_;
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> parts_;
};

// Parameters and real buffers of a module, of another type from here on. Parameters stay the same leaves: optimizers that
// have handles of them go on with them. So does a leaf alone, with its gradient, if it is real.
void convert(Module &module, Type type);
void convert(const Variable &leaf, Type type);
// Other tensors as parameters, by their dotted names.
void set_parameters(Module &module, const std::map<std::string, Variable> &parameters);

// What new parameters are drawn from; one for each thread, or for all (runtime/layers/random_stream.h).
Random &random_numbers();
// From here on, these and what functions draw (runtime/layers/random_stream.h) are those of a seed.
void manual_seed(uint64_t seed);

// Uniform in +-bound, and the others that initialisation takes. They require gradients.
Variable uniform_parameter(const Shape &shape, double bound, Layout layout = Layout::row_major);
Variable normal_parameter(const Shape &shape, double deviation = 1);
Variable constant_parameter(const Shape &shape, double value);

}  // namespace saltern::nn
