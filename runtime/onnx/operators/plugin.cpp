#include "runtime/onnx/plugin.h"

#include <dlfcn.h>

#include <list>
#include <set>

#include "runtime/onnx/load_plugin.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

using Key = std::pair<std::string, std::string>;

// The plug-ins' own rows, by domain and name.
std::map<Key, saltern_operator> &plugged() {
  static std::map<Key, saltern_operator> rows;
  return rows;
}

Type type_named(const std::string &name) {
  for (const TypeFacts &t : all_types())
    if (t.name == name) return t.type;
  fail("there is no element type '", name, "'");
}

Shape shape_of(int32_t rank, const int64_t *extents) {
  if (rank < 0 || rank > 8) fail("a result of rank ", rank, "; expected 0 to 8");
  Shape shape(extents, extents + rank);
  for (const int64_t e : shape)
    if (e < 0) fail("a result of shape ", to_string(shape));
  return shape;
}

// A node as a plug-in sees it. No exception goes through a plug-in's frames: the first one waits until it has returned.
class Call : public saltern_call {
 public:
  Call(const Graph::Node &node, int64_t opset_of_domain) : saltern_call(), node_(node) {
    opset = opset_of_domain;
    output_count = node.outputs.size();
    integer = [](saltern_call *c, const char *name, int64_t otherwise) { return of(c).get(name, otherwise); };
    real = [](saltern_call *c, const char *name, double otherwise) { return of(c).get(name, otherwise); };
    word = [](saltern_call *c, const char *name, const char *otherwise) {
      const auto *text = of(c).find<std::string>(name);
      return text ? text->c_str() : otherwise;
    };
    saltern_call::fail = [](saltern_call *c, const char *why) {
      of(c).guarded(0, [&] {
        saltern::fail(why);
        return 0;
      });
    };
    formula = [](saltern_call *c, const char *type, int32_t rank, const int64_t *extents, const char *element) {
      return of(c).guarded(-1, [&] { return of(c).add_formula(type_named(type), shape_of(rank, extents), element); });
    };
    here = [](saltern_call *c, int operand, int32_t rank) {
      return of(c).guarded("", [&] { return of(c).element_text(operand, rank); });
    };
    give = [](saltern_call *c, size_t output, int operand) {
      of(c).guarded(0, [&] { return of(c).given(output, operand), 0; });
    };
    make = [](saltern_call *c, size_t output, const char *type, int32_t rank, const int64_t *extents) {
      return of(c).guarded(static_cast<void *>(nullptr),
                           [&] { return of(c).made(output, type_named(type), shape_of(rank, extents)); });
    };
  }

  void lower(void (*by)(saltern_call *), Lowering &n) {
    lowering_ = &n;
    for (size_t i = 0; i < n.input_count(); ++i) {
      operands_.push_back(n.has(i) ? n.input(i) : Operand());
      const Operand &x = operands_.back();
      add_input(x.present(), x.type, x.shape, x.value);
    }
    call(by);
  }

  std::vector<HostValue> compute(void (*by)(saltern_call *), const HostCall &host) {
    results_.resize(output_count);
    for (size_t i = 0; i < host.inputs.size(); ++i) {
      const Tensor t = host.has(i) ? host.tensor(i) : Tensor();
      if (t.defined() && t.type() == Type::text) unsupported("a plug-in's operator takes no texts");
      add_input(t.defined(), t.type(), t.shape(), t);
    }
    call(by);
    return std::move(results_);
  }

 private:
  static Call &of(saltern_call *c) { return *static_cast<Call *>(c); }

  template <typename T, typename Action>
  T guarded(T otherwise, const Action &action) {
    try {
      return action();
    } catch (const std::exception &e) {
      if (!error_) error_ = std::current_exception();
      return otherwise;
    }
  }

  template <typename T>
  const T *find(const char *name) const {
    for (const auto &[key, a] : node_.attributes)
      if (key == name) return std::get_if<T>(&a);
    return nullptr;
  }
  template <typename T>
  T get(const char *name, T otherwise) const {
    const T *found = find<T>(name);
    return found ? *found : otherwise;
  }

  void add_input(bool present, Type type, const Shape &shape, const Tensor &value) {
    shapes_.push_back(shape);
    tensors_.push_back(value.defined() ? value.in_layout(Layout::row_major) : Tensor());
    facts_.push_back({present ? facts(type).name.data() : nullptr, static_cast<int32_t>(shape.size()),
                      shapes_.back().data(), tensors_.back().raw()});
  }

  void call(void (*by)(saltern_call *)) {
    inputs = facts_.data();
    input_count = facts_.size();
    by(this);
    if (error_) std::rethrow_exception(error_);
  }

  const Operand &operand(int number) const {
    if (number < 0 || number >= static_cast<int>(operands_.size()) || !operands_[static_cast<size_t>(number)].present())
      saltern::fail("there is no operand ", number);
    return operands_[static_cast<size_t>(number)];
  }

  int add_formula(Type type, const Shape &shape, const std::string &text) {
    if (!lowering_) saltern::fail("formulas are for lower(), not for compute()");
    Expression element;
    try {
      element = formula::parse_expression(text);
    } catch (const std::invalid_argument &e) {
      saltern::fail("the formula '", text, "': ", e.what());
    }
    if (element.type() != type)
      saltern::fail("its formula gives ", facts(element.type()).name, " where ", facts(type).name, " is wanted");
    Values used(operands_.size());
    formula::for_each_node(element, [&](const Expression::Node &leaf) {
      if (leaf.kind == Expression::Kind::axis && leaf.number >= static_cast<int>(shape.size()))
        saltern::fail("the formula '", text, "' has the axis a", leaf.number, "; its result is ", to_string(shape));
      if (leaf.kind != Expression::Kind::load) return;
      const Operand &x = operand(leaf.number);
      if (leaf.type != x.type || leaf.arguments.size() != x.shape.size())
        saltern::fail("the formula '", text, "' reads x", leaf.number, " as ", facts(leaf.type).name, " of rank ",
                      leaf.arguments.size(), "; it is ", facts(x.type).name, " ", to_string(x.shape));
      used[static_cast<size_t>(leaf.number)] = x;
    });
    operands_.push_back(lowering_->computed(formula::of_formula("formula", element, extents(shape), used)));
    return static_cast<int>(operands_.size()) - 1;
  }

  const char *element_text(int number, int32_t rank) {
    const Operand &x = operand(number);
    if (rank < x.rank()) saltern::fail("x", number, " is ", to_string(x.shape), "; a result of rank ", rank);
    std::string text = "x" + std::to_string(number) + "." + std::string(facts(x.type).name) + "[";
    for (int d = 0; d < x.rank(); ++d)
      text += (d == 0 ? "" : ", ") +
              (x.shape[static_cast<size_t>(d)] == 1 ? std::string("i64 0") : "a" + std::to_string(d + rank - x.rank()));
    texts_.push_back(text + "]");
    return texts_.back().c_str();
  }

  void given(size_t output, int number) {
    if (!lowering_) saltern::fail("give() is for lower(), not for compute()");
    lowering_->give(output, operand(number));
  }

  void *made(size_t output, Type type, const Shape &shape) {
    if (lowering_ || output >= results_.size() || type == Type::text)
      saltern::fail("there is no output ", output, " to make");
    const Tensor t = Tensor::zeros(shape, type);
    results_[output] = t;
    return t.raw();
  }

  const Graph::Node &node_;
  Lowering *lowering_ = nullptr;
  std::vector<Operand> operands_;
  std::vector<HostValue> results_;
  std::vector<Tensor> tensors_;
  std::vector<saltern_tensor> facts_;
  // Lists, since what was handed out stays where it is.
  std::list<Shape> shapes_;
  std::list<std::string> texts_;
  std::exception_ptr error_;
};

const saltern_operator &row_of(const Graph::Node &n) { return plugged().at({n.domain, n.operation}); }

void lower(Lowering &n) { Call(n.node(), n.opset()).lower(row_of(n.node()).lower, n); }

std::vector<HostValue> compute(const HostCall &host) {
  return Call(host.node, host.opset).compute(row_of(host.node).compute, host);
}

}  // namespace

void load_plugin(const std::string &path) {
  // A name without a slash is a file here, as everywhere else in the program; not one of the system's libraries.
  void *library = dlopen(path.find('/') == std::string::npos ? ("./" + path).c_str() : path.c_str(), RTLD_NOW);
  if (!library) {
    const char *why = dlerror();
    fail("cannot load the plug-in ", path, ": ", why ? why : "no reason given");
  }
  try {
    const auto entry = reinterpret_cast<const saltern_operators *(*)()>(dlsym(library, "saltern_plugin"));
    if (!entry) fail("it has no function saltern_plugin()");
    const saltern_operators *brought = entry();
    if (!brought) fail("saltern_plugin() gives nothing");
    if (brought->abi != SALTERN_PLUGIN_ABI)
      fail("it is of version ", brought->abi, " of the interface; this program has ", SALTERN_PLUGIN_ABI);
    std::set<Key> own;
    for (size_t i = 0; i < brought->count; ++i) {
      const saltern_operator &o = brought->operators[i];
      if (!o.domain || !o.name || !*o.name) fail("its operator ", i, " has no name");
      const std::string full = std::string(o.domain) + "::" + o.name;
      if (!o.lower && !o.compute) fail("its operator ", full, " has neither a formula nor a function");
      if (find_operator(o.domain, o.name) || !own.insert({o.domain, o.name}).second)
        fail("the operator ", full, " exists already");
    }
    for (size_t i = 0; i < brought->count; ++i) {
      const saltern_operator &o = brought->operators[i];
      plugged()[{o.domain, o.name}] = o;
      add_operator({o.name, o.lower ? lower : nullptr, o.compute ? compute : nullptr, o.domain});
    }
  } catch (const Error &e) {
    dlclose(library);
    fail("the plug-in ", path, ": ", e.what());
  }
}

}  // namespace saltern
