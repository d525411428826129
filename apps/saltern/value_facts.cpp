#include "apps/saltern/value_facts.h"

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

std::string word(const Json &v) { return v.is_string() ? v.get<std::string>() : v.dump(); }

}  // namespace

Json value_facts(const std::string &name, Type type, const Shape &shape) {
  return {{"name", name}, {"type", facts(type).name}, {"shape", shape}};
}

Json value_facts(const Graph &graph, const std::vector<std::string> &names) {
  Json all = Json::array();
  for (const std::string &n : names) {
    const Graph::Value &v = graph.value(n);
    all.push_back({{"name", n}, {"type", facts(v.type).name}, {"shape", open_shape(v)}});
  }
  return all;
}

std::string value_lines(const Graph &graph, const std::vector<std::string> &names) {
  std::string lines;
  for (const Json &v : value_facts(graph, names)) {
    std::string shape;
    if (v["shape"].is_array())
      for (const Json &e : v["shape"]) shape += (shape.empty() ? "[" : ", ") + word(e);
    else
      shape = word(v["shape"]);
    if (v["shape"].is_array()) shape += shape.empty() ? "[]" : "]";
    lines += "\n  " + word(v["name"]) + " " + word(v["type"]) + " " + shape;
  }
  return lines;
}

}  // namespace saltern
