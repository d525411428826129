#include "apps/saltern/constant_input.h"

#include <charconv>
#include <cmath>
#include <filesystem>

#include "apps/saltern/loaded_model.h"
#include "runtime/onnx/flat_values.h"
#include "runtime/onnx/tensor_proto.h"
#include "runtime/tensor/element.h"

namespace saltern {

namespace {

// 1,-2,0.5 as a tensor of the input's type: one number for an input of rank 0, else a list.
Tensor parsed_numbers(const std::string &text, const Graph::Value &v) {
  std::vector<double> numbers;
  for (size_t at = 0; at < text.size();) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    const auto next = static_cast<size_t>(end - text.data());
    if (error != std::errc() || (next < text.size() && text[next] != ','))
      fail("'", text, "' is not a list of numbers");
    if (!is_real(v.type) && std::abs(number) > 9e15) fail("give a file for an integer of this size");
    numbers.push_back(number);
    at = next + 1;
  }
  const bool single = v.ranked && v.shape.empty();
  if ((single && numbers.size() != 1) || v.shape.size() > 1) fail("give a file for a value of this shape");
  Tensor t = Tensor::empty(single ? Shape{} : Shape{static_cast<int64_t>(numbers.size())}, v.type);
  for (size_t i = 0; i < numbers.size(); ++i) set_element(v.type, t.raw(), static_cast<int64_t>(i), numbers[i]);
  return t;
}

}  // namespace

void fix_input(Model &model, const std::string &text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) fail("--constant ", text, ": expected NAME=1,2 or NAME=FILE.pb");
  const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
  check_is_input(model.graph, name, "--constant");
  Graph::Value &v = model.graph.values.at(name);
  try {
    if (is_sequence(v)) fail("the input is a sequence");
    const bool in_file = std::filesystem::path(value).extension() == ".pb";
    const Tensor given = in_file ? read_value_file(value, Graph::Container::tensor).tensor() : parsed_numbers(value, v);
    if (given.type() != v.type) fail("it is ", facts(given.type()).name, ", expected ", facts(v.type).name);
    v.constant = given;
    v.shape = given.shape();
  } catch (const Error &e) {
    fail("--constant ", text, ": ", e.what());
  }
}

}  // namespace saltern
