#include "apps/saltern/value_facts.h"

#include "runtime/graph/text_line.h"

namespace saltern {

namespace {

using Json = nlohmann::ordered_json;

Json open_shape(const Graph::Value &v) {
  if (!v.ranked) return "of any rank";
  Json shape = Json::array();
  for (size_t d = 0; d < v.shape.size(); ++d) {
    const std::string symbol = d < v.symbols.size() && !v.symbols[d].empty() ? v.symbols[d] : "?";
    shape.push_back(v.shape[d] >= 0 ? Json(v.shape[d]) : Json(symbol));
  }
  return shape;
}

// "f32", or "sequence f32".
std::string type_of(const Graph::Value &v) {
  const std::string type(facts(v.type).name);
  return v.container == Graph::Container::tensor ? type : std::string(saltern::name(v.container)) + " " + type;
}

}  // namespace

std::string word(const Json &v) {
  if (v.is_string()) return v.get<std::string>();
  if (!v.is_array()) return v.dump();
  std::string all;
  for (const Json &e : v) all += (all.empty() ? "" : ", ") + word(e);
  return "[" + all + "]";
}

Json value_facts(const std::string &name, Type type, const Shape &shape) {
  return {{"name", name}, {"type", facts(type).name}, {"shape", shape}};
}

Json value_facts(const Graph &graph, const std::vector<std::string> &names) {
  Json all = Json::array();
  for (const std::string &n : names) {
    const Graph::Value &v = graph.value(n);
    all.push_back({{"name", n}, {"type", type_of(v)}, {"shape", open_shape(v)}});
  }
  return all;
}

std::string value_lines(const Graph &graph, const std::vector<std::string> &names) {
  std::string lines;
  for (const Json &v : value_facts(graph, names))
    lines += "\n  " + word(v["name"]) + " " + word(v["type"]) + " " + word(v["shape"]);
  return lines;
}

}  // namespace saltern
