#pragma once
// Values of a graph as people and programs read them: name, type and shape.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"

namespace saltern {

nlohmann::ordered_json value_facts(const std::string &name, Type type, const Shape &shape);
// An extent that is open has its name, or a question mark.
nlohmann::ordered_json value_facts(const Graph &graph, const std::vector<std::string> &names);

// A fact without the quotes of JSON: x, [batch, 3].
std::string word(const nlohmann::ordered_json &fact);

// One line each: "  x f32 [1, 3, height, width]".
std::string value_lines(const Graph &graph, const std::vector<std::string> &names);

}  // namespace saltern
