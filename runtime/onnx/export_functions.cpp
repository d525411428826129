// Operations that are formulas, as functions of an ONNX model: whoever looks at the file sees a node of the operation's
// name, and in the function of that name the standard operators that it is.

#include <algorithm>
#include <map>

#include "runtime/onnx/net_export.h"

namespace saltern {

namespace {

// The nodes of one application, as a net whose values are called by their order: of equal ones, the bodies are equal.
struct Application {
  Graph net;
  std::vector<std::string> inputs, outputs;  // as the net around it calls them
};

Application application_of(const Graph &around, const GraphIndex &index, const std::vector<Graph::Node> &nodes) {
  Application a;
  a.net.sizes = around.sizes;
  std::map<std::string, std::string> names;
  std::map<std::string, int> reads;
  const auto add = [&](const std::string &name, const char *letter, size_t number) {
    const Graph::Value &v = around.value(name);
    names[name] = letter + std::to_string(number);
    a.net.values[names[name]] = {v.shape, v.type, {}};
    return names[name];
  };
  for (const Graph::Node &n : nodes)
    for (const std::string &i : n.inputs) ++reads[i];
  for (const Graph::Node &n : nodes) {
    Graph::Node own = {n.operation, n.attributes, {}, {}};
    for (const std::string &i : n.inputs) {
      if (names.count(i) == 0) {
        a.net.inputs.push_back(add(i, "x", a.inputs.size()));
        a.inputs.push_back(i);
      }
      own.inputs.push_back(names[i]);
    }
    const std::string &o = n.outputs.at(0);
    const bool given = index.uses(o) > reads[o];
    own.outputs = {add(o, given ? "y" : "t", given ? a.outputs.size() : a.net.nodes.size())};
    if (given) a.net.outputs.push_back(own.outputs[0]);
    if (given) a.outputs.push_back(o);
    a.net.nodes.push_back(std::move(own));
  }
  return a;
}

// In functions, constants are made by nodes.
Graph body_of(const Graph &net) {
  NetExport to(net);
  for (const Graph::Node &n : net.nodes) export_formula(to, n);
  Graph exported = to.take(), body;
  body.inputs = exported.inputs;
  body.outputs = exported.outputs;
  for (const auto &[name, v] : exported.values)
    if (v.constant.defined()) body.nodes.push_back({"Constant", {{"value", v.constant}}, {}, {name}});
  for (Graph::Node &n : exported.nodes) body.nodes.push_back(std::move(n));
  return body;
}

}  // namespace

bool export_application(NetExport &to, const Graph &net, const GraphIndex &index, const std::vector<Graph::Node> &nodes,
                        std::vector<ModelFunction> &functions) {
  const auto is_formula = [](const Graph::Node &n) { return n.operation == "formula" && !n.label.empty(); };
  if (!std::all_of(nodes.begin(), nodes.end(), is_formula)) return false;
  const std::string label = nodes[0].label, operation = label.substr(0, label.find(':'));
  const Application a = application_of(net, index, nodes);
  ModelFunction f = {own_domain, operation, "", {}, {}, {}, {{"", exported_opset}}};
  try {
    f.body = body_of(a.net);
  } catch (const Unsupported &) {  // a size that no operand has: the net around it knows all
    return false;
  }
  const auto is_another = [&](const ModelFunction &k) { return k.name == f.name && !is_same(k.body, f.body); };
  for (int number = 2; std::any_of(functions.begin(), functions.end(), is_another); ++number)  // of other shapes
    f.name = operation + "_" + std::to_string(number);
  const auto is_it = [&](const ModelFunction &k) { return k.name == f.name; };
  if (std::none_of(functions.begin(), functions.end(), is_it)) functions.push_back(f);
  to.call(f, a.inputs, a.outputs, label);
  return true;
}

}  // namespace saltern
