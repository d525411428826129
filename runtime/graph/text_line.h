#pragma once
// One line of a graph's text (text.h), read from left to right. What is wrong is an Error that names source, line and
// column.

#include <string>

#include "runtime/graph/graph.h"

namespace saltern {

constexpr const char *first_line_of_graph = "saltern graph 1";

// "sequence", and so on.
const char *name(Graph::Container container);

// What a line can refer to.
struct Referred {
  const std::map<std::string, Tensor> &tensors;  // beside the text
  std::map<std::string, SharedGraph> graphs;     // of the lines before
};

class Line {
 public:
  Line(const std::string &text, const std::string &source, int number)
      : text_(text), source_(source), number_(number) {}

  template <typename... Parts>
  [[noreturn]] void wrong(const Parts &...parts) const {
    fail(source_, ", line ", number_, ", column ", at_ + 1, ": ", parts...);
  }

  bool at_end();
  bool accept(const std::string &symbol);
  void expect(const std::string &symbol);
  // Calls `each` for every one of what stands between two symbols, with commas between them.
  template <typename Each>
  void items(const std::string &open, const std::string &close, const Each &each) {
    expect(open);
    if (accept(close)) return;
    do each();
    while (accept(","));
    expect(close);
  }
  std::string name();
  // Whether a value's facts follow, or the next thing.
  bool at_value();
  Graph::Value value();
  // What follows the facts of a value that has elements: the elements, or where they are.
  Tensor elements(const Graph::Value &v, const Referred &referred);
  Tensor referred_tensor(const std::string &name, const Referred &referred) const;
  Attributes attributes(const Referred &referred);
  std::map<std::string, std::string> references();
  int64_t integer();

 private:
  char next();
  bool accept_word(const std::string &word);
  Type type();
  void shape(Graph::Value &v);
  std::string word();
  std::vector<int64_t> integers();
  Attribute attribute(const Referred &referred);
  Attribute any_list(const Referred &referred);
  formula::Expression formula();
  Tensor tensor(const Referred &referred);
  SharedGraph graph(const Referred &referred);

  const std::string &text_;
  const std::string &source_;
  int number_;
  size_t at_ = 0;
};

}  // namespace saltern
