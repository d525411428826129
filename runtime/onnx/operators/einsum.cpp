// Einsum: y[output labels] = sum over all other labels of the product of the operands' elements.
//
// Operands are multiplied from the left, two at a time, and what no later one needs is summed at once. Two real
// operands that share summed labels are a matrix product; everything else is one formula.

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "algorithms/contraction.h"
#include "runtime/onnx/operators/arguments.h"
#include "runtime/onnx/operators/building_blocks.h"
#include "runtime/onnx/operators/operators.h"

namespace saltern {

namespace {

// A letter, or a dimension of the ellipsis: -1 for the last one, -2 before it.
using Label = int;
using Labels = std::vector<Label>;

struct Term {
  Operand value;
  Labels labels;
};

struct Equation {
  std::vector<Term> terms;
  Labels output;
};

bool contains(const Labels &labels, Label l) { return std::find(labels.begin(), labels.end(), l) != labels.end(); }

// ---- Reading the equation.

// The labels of one term; `dots` is how many dimensions its ellipsis has.
Labels read_term(const std::string &text, int dots) {
  Labels labels;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 3, "...") == 0) {
      for (int d = dots; d > 0; --d) labels.push_back(-d);
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      labels.push_back(text[i]);
    } else {
      fail("the equation's term '", text, "' has a '", text[i], "'; expected letters and one '...'");
    }
  }
  return labels;
}

bool has_dots(const std::string &text) { return text.find("...") != std::string::npos; }
int letters(const std::string &text) { return static_cast<int>(text.size()) - (has_dots(text) ? 3 : 0); }

std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

Equation read_equation(const Lowering &n) {
  std::string text;
  for (char c : n.attributes().word("equation"))
    if (c != ' ') text += c;
  const size_t arrow = text.find("->");
  const std::vector<std::string> parts = split(text.substr(0, arrow));
  if (parts.size() != n.input_count())
    fail("the equation '", text, "' has ", parts.size(), " terms for ", n.input_count(), " inputs");
  Equation e;
  int most_dots = 0;
  std::map<Label, int> times;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Operand &x = n.input(i);
    expect_same_type(n.input(0), x);
    const int dots = x.rank() - letters(parts[i]);
    if (dots < 0 || (dots > 0 && !has_dots(parts[i])))
      fail("the equation's term '", parts[i], "' is for an input of ", to_string(x.shape));
    most_dots = std::max(most_dots, dots);
    e.terms.push_back({x, read_term(parts[i], dots)});
    for (Label l : e.terms.back().labels) ++times[l];
  }
  if (arrow != std::string::npos) {
    e.output = read_term(text.substr(arrow + 2), most_dots);
    for (Label l : e.output)
      if (!times.count(l) || std::count(e.output.begin(), e.output.end(), l) > 1)
        fail("the output of the equation '", text, "' has a label that is in no term, or has it twice");
    return e;
  }
  // Without an arrow: the ellipsis, then the letters that occur once, in the order of the alphabet. Labels are sorted.
  for (const auto &[label, count] : times)
    if (label < 0 || count == 1) e.output.push_back(label);
  return e;
}

// ---- Computing it.

using Extents = std::map<Label, int64_t>;

Extents extents_of(const std::vector<Term> &terms) {
  Extents all;
  for (const Term &t : terms)
    for (size_t d = 0; d < t.labels.size(); ++d) {
      int64_t &extent = all.emplace(t.labels[d], 1).first->second;
      const int64_t here = t.value.shape[d];
      if (extent != 1 && here != 1 && here != extent) fail("one label stands for extents of ", extent, " and ", here);
      if (here != 1) extent = here;
    }
  return all;
}

Shape shape_of(const Labels &labels, const Extents &extents) {
  Shape shape;
  for (Label l : labels) shape.push_back(extents.at(l));
  return shape;
}

// The product of all, summed over what is not in the result.
Operand multiplied(Lowering &n, const std::vector<Term> &terms, const Labels &result) {
  extents_of(terms);  // refuses those that do not fit
  Values all;
  std::vector<Labels> labels;
  for (const Term &t : terms) {
    all.push_back(t.value);
    labels.push_back(t.labels);
  }
  return n.computed(algorithms::einsum(all, labels, result));
}

// A diagonal where a label occurs twice, and sums over labels that nothing else needs.
Term simplified(Lowering &n, const Term &t, const std::set<Label> &needed) {
  Labels kept;
  for (Label l : t.labels)
    if (needed.count(l) && !contains(kept, l)) kept.push_back(l);
  return kept == t.labels ? t : Term{multiplied(n, {t}, kept), kept};
}

Operand arranged(Lowering &n, const Term &t, const Labels &wanted) {
  std::vector<int> order;
  for (Label l : wanted)
    order.push_back(static_cast<int>(std::find(t.labels.begin(), t.labels.end(), l) - t.labels.begin()));
  return n.transposed(t.value, order);
}

Labels joined(std::initializer_list<Labels> parts) {
  Labels all;
  for (const Labels &p : parts) all.insert(all.end(), p.begin(), p.end());
  return all;
}

Operand contracted(Lowering &n, const Term &a, const Term &b, const Labels &result) {
  const Extents extents = extents_of({a, b});
  Labels batch, rows, columns, inner;
  bool broadcast = false;
  for (Label l : a.labels) {
    const bool both = contains(b.labels, l);
    (both ? contains(result, l) ? batch : inner : rows).push_back(l);
  }
  for (Label l : b.labels)
    if (!contains(a.labels, l)) columns.push_back(l);
  for (const Term *t : {&a, &b}) broadcast |= shape_of(t->labels, extents) != t->value.shape;
  if (inner.empty() || broadcast || working_type(a.value.type) != Type::f32) return multiplied(n, {a, b}, result);
  const auto count = [&](const Labels &l) { return elements(shape_of(l, extents)); };
  const Operand left =
      n.reshaped(arranged(n, a, joined({batch, rows, inner})), {count(batch), count(rows), count(inner)});
  const Operand right =
      n.reshaped(arranged(n, b, joined({batch, inner, columns})), {count(batch), count(inner), count(columns)});
  const Labels made = joined({batch, rows, columns});
  const Operand y = n.reshaped(matrix_product(n, left, right), shape_of(made, extents));
  return arranged(n, {y, made}, result);
}

void einsum(Lowering &n) {
  const Equation e = read_equation(n);
  extents_of(e.terms);
  // The labels that the output needs, and those terms that are asked for by their numbers.
  const auto needed = [&](const auto &is_asked) {
    std::set<Label> all(e.output.begin(), e.output.end());
    for (size_t k = 0; k < e.terms.size(); ++k)
      if (is_asked(k)) all.insert(e.terms[k].labels.begin(), e.terms[k].labels.end());
    return all;
  };
  const auto alone = [&](size_t i) { return simplified(n, e.terms[i], needed([&](size_t k) { return k != i; })); };
  if (e.terms.size() == 1) return n.give(0, multiplied(n, e.terms, e.output));
  Term product = alone(0);
  for (size_t i = 1; i < e.terms.size(); ++i) {
    const Term next = alone(i);
    Labels result = e.output;
    if (i + 1 < e.terms.size()) {
      const std::set<Label> later = needed([&](size_t k) { return k > i; });
      result.clear();
      for (Label l : joined({product.labels, next.labels}))
        if (later.count(l) && !contains(result, l)) result.push_back(l);
    }
    product = {contracted(n, product, next, result), result};
  }
  n.give(0, product.value);
}

}  // namespace

const OperatorList einsum_operators = {{"Einsum", einsum}};

}  // namespace saltern
