// Scans in ONNX. What does not wait for the element before is computed of all elements at once; the rest is the body of a
// Scan, a net of one formula.

#include "runtime/onnx/export.h"
#include "runtime/onnx/net_export.h"

namespace saltern {

namespace {

using formula::Expression;
using Kind = Expression::Kind;

bool carries(const Expression &e) {
  bool found = false;
  formula::for_each_node(e, [&](const Expression::Node &n) { found |= n.kind == Kind::carried; });
  return found;
}

// One scan as formulas of all elements and the body that reads them.
class Apart {
 public:
  Apart(Graph &to, const Graph::Node &scan) : to_(to), scan_(scan), type_(element().type()), shape_(shape()) {
    for (int d = 0; d < static_cast<int>(shape_.size()); ++d) axes_.push_back(formula::axis(d));
    body_.sizes = to.sizes;
    body_.add_input(inside("carried"), shape_, type_);
  }

  Graph::Node run() {
    std::vector<std::string> inputs = {first()};
    const Expression next = rest(element());
    if (parts_.empty()) part(formula::constant(type_, 0));  // which says how many steps there are
    const std::string made =
        body_.add_node("formula", body_.inputs, inside("next"), shape_, {{"element", next}}, type_);
    body_.outputs = {made, body_.add_node("identity", {made}, inside("made"), shape_, {}, type_)};
    inputs.insert(inputs.end(), parts_.begin(), parts_.end());
    const std::vector<int64_t> axes(parts_.size(), along());
    return {"scan",
            {{"body", std::make_shared<const Graph>(onnx_of(body_).graph)},
             {"num_scan_inputs", static_cast<int64_t>(parts_.size())},
             {"scan_input_axes", axes},
             {"scan_output_axes", std::vector<int64_t>{along()}}},
            inputs,
            scan_.outputs};
  }

 private:
  const Expression &element() const { return scan_.attributes.expression("element"); }
  int64_t along() const { return scan_.attributes.integer("along"); }
  std::string inside(const std::string &name) const { return scan_.outputs[0] + ".body." + name; }
  // Of the elements of one step.
  Shape shape() const {
    Shape s = to_.value(scan_.outputs[0]).shape;
    s.erase(s.begin() + static_cast<std::ptrdiff_t>(along()));
    return s;
  }

  std::string first() {
    std::vector<Expression> at = axes_;
    at.insert(at.begin() + static_cast<std::ptrdiff_t>(along()), Expression(0));
    return to_.add_node("formula", scan_.inputs, to_.fresh_name(scan_.outputs[0] + ".first"), shape_,
                        {{"element", with_axes(scan_.attributes.expression("before"), at)}}, type_);
  }

  // What is left of an expression for the body to compute.
  Expression rest(const Expression &e) {
    if (e->kind == Kind::constant) return e;
    if (e->kind == Kind::carried) return formula::load(0, type_, axes_);
    if (!carries(e)) return part(e);
    if (e->kind == Kind::load) unsupported(describe(scan_), ": what is carried says where to read");
    std::vector<Expression> arguments;
    for (const Expression &a : e->arguments) arguments.push_back(rest(a));
    return rebuilt(e, std::move(arguments));
  }

  // The body's input that has an element of it at each step.
  Expression part(const Expression &e) {
    const auto known = numbers_.find(e);
    if (known != numbers_.end()) return formula::load(known->second, e.type(), axes_);
    const Shape whole = to_.value(scan_.outputs[0]).shape;
    parts_.push_back(to_.add_node("formula", scan_.inputs, to_.fresh_name(scan_.outputs[0] + ".part"), whole,
                                  {{"element", e}}, e.type()));
    const auto number = static_cast<int>(parts_.size());
    body_.add_input(inside("part" + std::to_string(number)), shape_, e.type());
    numbers_[e] = number;
    return formula::load(number, e.type(), axes_);
  }

  Graph &to_;
  const Graph::Node &scan_;
  const Type type_;
  const Shape shape_;
  std::vector<Expression> axes_;
  Graph body_;
  std::vector<std::string> parts_;
  std::map<Expression, int, formula::ByStructure> numbers_;
};

}  // namespace

Graph with_scan_bodies(Graph net) {
  const std::vector<Graph::Node> nodes = std::move(net.nodes);
  net.nodes.clear();
  for (const Graph::Node &n : nodes) {
    Graph::Node as_it_is = n.operation == "scan" ? Apart(net, n).run() : n;
    net.nodes.push_back(std::move(as_it_is));
  }
  return net;
}

void export_scan(NetExport &to, const Graph::Node &scan) {
  to.add("Scan", scan.inputs, {to.temporary(scan.outputs[0] + ".last"), scan.outputs[0]}, scan.attributes);
}

}  // namespace saltern
