#include "runtime/graph/text.h"
#include "runtime/graph/text_line.h"

namespace saltern {

namespace {

constexpr size_t longest_text = size_t{64} << 20;
constexpr size_t deepest_graph = 32;

// A graph whose lines are being read; those inside of it have names.
struct Open {
  std::string name;
  Graph graph;
};

class Parser {
 public:
  Parser(const std::map<std::string, Tensor> &tensors, const std::string &source)
      : source_(source), referred_{tensors, {}}, open_(1) {}

  Graph parse(const std::string &text) {
    if (text.size() > longest_text)
      fail(source_, ": a graph of ", text.size(), " bytes; expected ", longest_text, " at most");
    int number = 0;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      const std::string content = text.substr(begin, end - begin);
      begin = end + 1;
      Line line(content, source_, ++number);
      if (number == 1) {
        if (content != first_line_of_graph) line.wrong("expected '", first_line_of_graph, "'");
      } else if (!line.at_end()) {
        read(line);
      }
    }
    if (number == 0) fail(source_, ": the graph is empty; expected '", first_line_of_graph, "'");
    if (open_.size() > 1) fail(source_, ": the graph '", open_.back().name, "' has no 'end'");
    return std::move(open_.front().graph);
  }

 private:
  void read(Line &line) {
    struct Reader {
      const char *word;
      void (Parser::*read)(Line &);
    };
    static constexpr Reader readers[] = {
        {"input ", &Parser::input}, {"constant ", &Parser::constant}, {"value ", &Parser::value},
        {"node ", &Parser::node},   {"graph ", &Parser::graph},       {"output ", &Parser::output},
        {"size ", &Parser::size},   {"state ", &Parser::state},       {"end", &Parser::end}};
    for (const Reader &r : readers) {
      if (!line.accept(r.word)) continue;
      (this->*r.read)(line);
      if (!line.at_end()) line.wrong("the line should end here");
      return;
    }
    line.wrong("expected size, input, constant, value, node, graph, output, state or end");
  }

  Graph &here() { return open_.back().graph; }

  void declare(const Line &line, const std::string &name, Graph::Value v) {
    if (!here().values.emplace(name, std::move(v)).second) line.wrong("the value '", name, "' exists already");
  }

  void input(Line &line) {
    here().inputs.push_back(line.name());
    if (!line.at_value()) return;
    Graph::Value v = line.value();
    if (line.accept("=")) v.constant = line.elements(v, referred_);
    declare(line, here().inputs.back(), std::move(v));
  }

  void constant(Line &line) {
    const std::string name = line.name();
    Graph::Value v = line.value();
    v.constant = line.accept("=") ? line.elements(v, referred_) : line.referred_tensor(name, referred_);
    declare(line, name, std::move(v));
  }

  void value(Line &line) {
    const std::string name = line.name();
    declare(line, name, line.value());
  }

  void node(Line &line) {
    Graph::Node n;
    n.operation = line.name();
    line.items("(", ")", [&] { n.inputs.push_back(line.name()); });
    if (line.accept("of ")) n.domain = line.name();
    if (line.accept("as ")) n.label = line.name();
    n.attributes = line.attributes(referred_);
    n.attributes.set_owner(n.operation);
    if (line.accept("with ")) n.references = line.references();
    line.expect("->");
    while (!line.at_end()) {
      n.outputs.push_back(line.name());
      if (line.at_value()) declare(line, n.outputs.back(), line.value());
      if (!line.accept(",")) break;
    }
    here().nodes.push_back(std::move(n));
  }

  void size(Line &line) {
    const std::string name = line.name();
    if (open_.size() > 1) line.wrong("only the whole graph has open sizes");
    OpenSize size = {line.integer()};
    if (line.accept("=")) {
      size.of = line.integer();
      line.expect("/");
      size.by = line.integer();
      if (size.by < 1) line.wrong("a quotient by ", size.by);
    }
    const bool is_sum = size.by == 1 && size.number == size.of && size.number > 0;
    if (!is_sum && !is_stand_in(size.number)) line.wrong("this is no number that stands for a size");
    for (const auto &[known, taken] : here().sizes)
      if (known == name || taken.number == size.number)
        line.wrong("the size '", known, "' is ", taken.number, " already");
    here().sizes[name] = size;
  }

  void state(Line &line) {
    const std::string name = line.name();
    const auto v = here().values.find(name);
    if (v == here().values.end()) line.wrong("there is no input '", name, "'");
    line.expect("->");
    Graph::State s = {name, line.name(), {}};
    s.initial = line.accept("=") ? line.elements(v->second, referred_) : line.referred_tensor(name, referred_);
    here().state.push_back(std::move(s));
  }

  void output(Line &line) { here().outputs.push_back(line.name()); }

  void graph(Line &line) {
    if (open_.size() > deepest_graph) line.wrong("graphs are nested more than ", deepest_graph, " deep");
    open_.push_back({line.name(), {}});
  }

  void end(Line &line) {
    if (open_.size() == 1) line.wrong("no graph is open");
    const std::string name = open_.back().name;
    if (!referred_.graphs.emplace(name, std::make_shared<const Graph>(std::move(here()))).second)
      line.wrong("the graph '", name, "' exists already");
    open_.pop_back();
  }

  const std::string &source_;
  Referred referred_;
  std::vector<Open> open_;
};

Graph checked(const std::string &text, const std::map<std::string, Tensor> &tensors, const std::string &source,
              void (*check)(const Graph &)) {
  Graph graph = Parser(tensors, source).parse(text);
  try {
    check(graph);
  } catch (const Error &e) {
    fail(source, ": ", e.what());
  }
  return graph;
}

}  // namespace

Graph parse_graph(const std::string &text, const std::map<std::string, Tensor> &tensors, const std::string &source) {
  return checked(text, tensors, source, validate);
}

Graph parse_imported_graph(const std::string &text, const std::map<std::string, Tensor> &tensors,
                           const std::string &source) {
  return checked(text, tensors, source, validate_imported);
}

}  // namespace saltern
