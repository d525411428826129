#include "runtime/nn/layer.h"

#include <map>

#include "runtime/layers/random_stream.h"
#include "runtime/nn/table.h"
#include "runtime/nn/types.h"

namespace saltern::nn {

namespace {

template <typename Pairs>
auto *found_in(Pairs &pairs, std::string_view name) {
  for (auto &[key, value] : pairs)
    if (key == name) return &value;
  return static_cast<decltype(&pairs.front().second)>(nullptr);
}

}  // namespace

Forward calls(const std::string &function, const std::string &called_with) {
  return {called_with,
          [function](Layer &self, const Arguments &in) -> Argument {
            const Function *f = find_function(function);
            if (!f) fail(self.row().name(), " calls '", function, "', which is no function");
            std::vector<Argument> values;
            for (const Parameter &p : f->signature().parameters()) {
              Argument value = p.otherwise;
              if (in.signature().has(p.name))
                value = in[p.name];
              else if (self.find(p.name, value)) {
              } else if (p.name == "training")
                value = self.training();
              else if (self.made_with().signature().has(p.name))
                value = self.made_with()[p.name];
              else if (p.is_required)
                fail(self.row().name(), " has no '", p.name, "' for its function '", function, "'");
              values.push_back(std::move(value));
            }
            return (*f)(Arguments(f->signature(), self.row().name(), std::move(values)));
          },
          function};
}

LayerRow::LayerRow(std::string name, const std::string &made_with, Forward forward, Make make)
    : name_(std::move(name)),
      made_with_(made_with),
      called_with_(forward.called_with),
      forward_(std::move(forward)),
      make_(std::move(make)) {
  table<LayerRow>().add(*this);
}

Layer LayerRow::make(const std::vector<Argument> &positional, const Named &named) const {
  return make(made_with_.bind(name_, positional, named));
}

Layer LayerRow::make(const Arguments &made_with) const {
  Layer layer(*this, made_with);
  if (make_) make_(layer);
  return layer;
}

const LayerRow *find_layer(std::string_view name) { return table<LayerRow>().find(name); }
std::vector<const LayerRow *> all_layers() { return table<LayerRow>().all(); }

Layer make(const std::string &name, const std::vector<Argument> &positional, const Named &named) {
  return table<LayerRow>().expect(name, "layer").make(positional, named);
}

Argument Layer::result(const std::vector<Argument> &positional, const Named &named) {
  return row_->forward_.of(*this, row_->called_with().bind(row_->name(), positional, named));
}

// Hooks see the first input and the first result, and may put another in the place of a single one.
Argument Layer::call(const std::vector<Argument> &positional, const Named &named) {
  if (!has_hooks()) return result(positional, named);
  const auto first = [](const Argument &of) {
    const std::vector<Variable> all = variables_of(of);
    return all.empty() ? Variable() : all[0];
  };
  const Variable x = first(positional);
  before(x);
  const Argument y = result(positional, named);
  const Variable hooked = behind(x, first(y));
  return y.as<Variable>() ? Argument(hooked) : y;
}

std::vector<Variable> Layer::all(const Given &a, const Given &b, const Given &c, const Given &d, const Given &e) {
  const Call given({&a, &b, &c, &d, &e});
  std::vector<Variable> found = variables_of(call(given.positional, given.named));
  if (found.empty()) fail(class_name(), " gave no tensor");
  return found;
}

// operator() of Module is for the hooks.
Variable Layer::forward(const Variable &x) {
  const std::vector<Variable> found = variables_of(result({x}));
  if (found.empty()) fail(class_name(), " gave no tensor");
  return found[0];
}

std::string Layer::options() const {
  std::string text;
  const std::vector<Parameter> &parameters = made_with_.signature().parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string value = to_string(made_with_.values()[i]);
    if (parameters[i].is_required || value != to_string(parameters[i].otherwise))
      text += (text.empty() ? "" : ", ") + parameters[i].name + "=" + value;
  }
  return text;
}

void Layer::visit(Visitor &v) {
  for (auto &[name, value] : parameters_)
    if (value.defined()) v.parameter(name, value);
  for (auto &[name, value] : buffers_)
    if (value.defined()) v.buffer(name, value);
  for (auto &[name, module] : parts_) v.child(name, *module);
}

Layer &Layer::part(const std::string &name, const std::string &layer, const std::vector<Argument> &positional,
                   const Named &named) {
  auto made = std::make_shared<Layer>(nn::make(layer, positional, named));
  part(name, made);
  return *made;
}

bool Layer::find(std::string_view name, Argument &found) const {
  if (const Variable *p = found_in(parameters_, name)) return found = Argument(*p), true;
  if (const Tensor *b = found_in(buffers_, name)) return found = b->defined() ? Argument(*b) : Argument(), true;
  return false;
}

bool Layer::has_parameter(std::string_view name) const {
  const Variable *p = found_in(parameters_, name);
  return p && p->defined();
}

Variable &Layer::parameter(std::string_view name) {
  Variable *p = found_in(parameters_, name);
  if (!p) fail(row_->name(), " has no parameter '", name, "'");
  return *p;
}

Tensor &Layer::buffer(std::string_view name) {
  Tensor *b = found_in(buffers_, name);
  if (!b) fail(row_->name(), " has no buffer '", name, "'");
  return *b;
}

Module &Layer::part(std::string_view name) {
  auto *m = found_in(parts_, name);
  if (!m) fail(row_->name(), " has no part '", name, "'");
  return **m;
}

Argument Layer::become(const Layer &other, const std::vector<Argument> &called_with) {
  row_ = other.row_;
  made_with_ = other.made_with_;
  parameters_ = other.parameters_;
  buffers_ = other.buffers_;
  parts_ = other.parts_;
  return result(called_with);
}

namespace {

// With layers of its own in the place of given ones, one for each.
Argument with_own_layers(const Argument &given, std::map<const Module *, Argument::Part> &own) {
  if (const auto *list = given.as<Argument::List>()) {
    Argument::List all;
    for (const Argument &a : *list) all.push_back(with_own_layers(a, own));
    return all;
  }
  const auto *part = given.as<Argument::Part>();
  const auto layer = part ? std::dynamic_pointer_cast<Layer>(*part) : nullptr;
  if (!layer) return given;
  const auto [found, is_new] = own.try_emplace(layer.get());
  if (is_new) found->second = layer->cloned();
  return found->second;
}

Tensor copy_of(const Tensor &t) {
  if (!t.defined()) return t;
  const Tensor copy = Tensor::like(t);
  copy.copy_from(t);
  return copy;
}

// What another has under the same names: of its types, and frozen where that is.
class Taking : public Visitor {
 public:
  explicit Taking(Module &from) {
    class Finding : public Visitor {
     public:
      explicit Finding(Taking &to) : to_(to) {}

     protected:
      void on_parameter(const std::string &name, Variable &p) override { to_.parameters_[name] = p; }
      void on_buffer(const std::string &name, Tensor &b) override { to_.buffers_[name] = b; }

     private:
      Taking &to_;
    } finding(*this);
    from.visit(finding);
  }

 protected:
  void on_parameter(const std::string &name, Variable &p) override {
    const Variable &from = parameters_.at(name);
    p = Variable(copy_of(from.value()), from.requires_gradient());
  }
  void on_buffer(const std::string &name, Tensor &b) override { b = copy_of(buffers_.at(name)); }

 private:
  std::map<std::string, Variable> parameters_;
  std::map<std::string, Tensor> buffers_;
};

}  // namespace

std::shared_ptr<Layer> Layer::cloned() {
  std::map<const Module *, Argument::Part> own;
  std::vector<Argument> given;
  for (const Argument &a : made_with_.values()) given.push_back(with_own_layers(a, own));
  auto copy = std::make_shared<Layer>(row_->make(Arguments(made_with_.signature(), made_with_.owner(), given)));
  Taking values(*this);
  copy->visit(values);
  copy->train(training());
  return copy;
}

std::shared_ptr<Layer> Layer::find_part(std::string_view name) const {
  const auto *m = found_in(parts_, name);
  return m ? std::dynamic_pointer_cast<Layer>(*m) : nullptr;
}

namespace {

Tensor converted(const Tensor &t, Type type) {
  const NoGradient guard;
  return t.type() == type ? t : to_type(t, type).value();
}

class Converting : public Visitor {
 public:
  explicit Converting(Type type) : type_(type) {}

 protected:
  void on_parameter(const std::string &, Variable &p) override {
    if (p.is_leaf())
      convert(p, type_);
    else  // made of others (parametrizations), and made again when the layer is called
      p = Variable(converted(p.value(), type_), p.requires_gradient());
  }
  void on_buffer(const std::string &, Tensor &b) override {
    if (is_real(b.type())) b = converted(b, type_);
  }

 private:
  Type type_;
};

class Setting : public Visitor {
 public:
  explicit Setting(const std::map<std::string, Variable> &parameters) : parameters_(parameters) {}

 protected:
  void on_parameter(const std::string &name, Variable &p) override {
    const auto found = parameters_.find(name);
    if (found == parameters_.end()) return;
    if (found->second.shape() != p.shape())
      fail("parameter '", name, "' is ", to_string(p.shape()), "; ", to_string(found->second.shape()), " was given");
    p = found->second;
  }

 private:
  const std::map<std::string, Variable> &parameters_;
};

}  // namespace

void convert(const Variable &leaf, Type type) {
  if (!is_real(leaf.type()) || leaf.type() == type) return;
  leaf.set_value(converted(leaf.value(), type));
  if (leaf.gradient().defined()) leaf.set_gradient(converted(leaf.gradient().value(), type));
}

void convert(Module &module, Type type) {
  Converting v(type);
  module.walk(v);
}

void set_parameters(Module &module, const std::map<std::string, Variable> &parameters) {
  Setting v(parameters);
  module.walk(v);
}

Random &random_numbers() {
  static Random of_all(0);
  static thread_local Random own(0);
  return is_random_stream_shared() ? of_all : own;
}

void manual_seed(uint64_t seed) {
  random_numbers() = Random(seed);
  begin_random_stream(seed);
}

Variable uniform_parameter(const Shape &shape, double bound, Layout layout) {
  const auto b = static_cast<float>(bound);
  return {random_numbers().uniform_tensor(shape, -b, b, layout), true};
}

Variable normal_parameter(const Shape &shape, double deviation) {
  const Tensor t = random_numbers().normal_tensor(shape);
  for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] *= static_cast<float>(deviation);
  return {t, true};
}

Variable constant_parameter(const Shape &shape, double value) { return {Tensor::full(shape, value), true}; }

}  // namespace saltern::nn
