// Products of matrices, of any rank, and of whatever letters name.

#include "algorithms/contraction.h"
#include "runtime/layers/binary.h"
#include "runtime/layers/matmul.h"
#include "runtime/layers/movement.h"
#include "runtime/nn/composed.h"
#include "runtime/nn/families.h"
#include "runtime/nn/types.h"
#include "runtime/tensor/strided.h"

namespace saltern::nn {

namespace {

// Vectors are matrices of one row, or of one column, for the while.
Variable product(const Variable &a, const Variable &b) {
  const Shape &s = a.shape(), &t = b.shape();
  if (s.empty() || t.empty()) fail("matmul: ", to_string(s), " and ", to_string(t), "; both need a dimension");
  Shape with_row = s, with_column = t;
  if (s.size() == 1) with_row.insert(with_row.begin(), 1);
  if (t.size() == 1) with_column.push_back(1);
  const Variable y = matmul(reshape(a, with_row), reshape(b, with_column));
  Shape shape = y.shape();
  if (t.size() == 1) shape.pop_back();
  if (s.size() == 1) shape.erase(shape.end() - (t.size() == 1 ? 1 : 2));
  return reshape(y, shape);
}

Function::Body of_ranks(size_t a_rank, size_t b_rank, const char *b_name) {
  return [=](const Arguments &a) {
    const Variable x = a.variable("input"), y = a.variable(b_name);
    if (x.shape().size() != a_rank) a.refuse("input", "a tensor of rank " + std::to_string(a_rank));
    if (y.shape().size() != b_rank) a.refuse(b_name, "a tensor of rank " + std::to_string(b_rank));
    return product(x, y);
  };
}

const Function matmul_of("matmul", "input, other",
                         [](const Arguments &a) { return product(a.variable("input"), a.variable("other")); });
const Function mm("mm", "input, mat2", of_ranks(2, 2, "mat2"));
const Function bmm("bmm", "input, mat2", of_ranks(3, 3, "mat2"));
const Function mv("mv", "input, vec", of_ranks(2, 1, "vec"));
const Function dot("dot", "input, tensor", of_ranks(1, 1, "tensor"));
const Function outer("outer", "input, vec2", [](const Arguments &a) {
  return reshape(a.variable("input"), {-1, 1}) * reshape(a.variable("vec2"), {1, -1});
});
// A product, and so much of the input; with a beta of 0 nothing of it, not its NaN either.
Function::Body added_to_product(const char *first, const char *second) {
  return [=](const Arguments &a) {
    const Variable x = a.variable("input"), y = product(a.variable(first), a.variable(second)) * a.real("alpha");
    if (a.real("beta") == 0) return variable_of(call("expand", {y, broadcast_shape(x.shape(), y.shape(), a.owner())}));
    return x * a.real("beta") + y;
  };
}
const Function addmm("addmm", "input, mat1, mat2, *, beta=1, alpha=1", added_to_product("mat1", "mat2"));
const Function baddbmm("baddbmm", "input, batch1, batch2, *, beta=1, alpha=1", added_to_product("batch1", "batch2"));
const Function addmv("addmv", "input, mat, vec, *, beta=1, alpha=1", added_to_product("mat", "vec"));
const Function vdot("vdot", "input, other", of_ranks(1, 1, "other"));

// ---- "bij,bjk->bik". Dots stand for all dimensions that have no letter; without an arrow, letters that occur once.

struct Letters {
  std::vector<algorithms::Labels> operands;
  algorithms::Labels result;
};

Letters parsed(const Arguments &a, const std::vector<int> &ranks) {
  std::string text;
  for (const char c : a.word("equation"))
    if (c != ' ') text += c;
  const size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  std::vector<std::string> parts(1);
  for (const char c : left)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  if (parts.size() != ranks.size()) a.refuse("equation", "letters for " + std::to_string(ranks.size()) + " operands");
  constexpr int first_dot = 1000;  // beyond all letters
  int dots = 0;
  const auto letters = [&](const std::string &part, int rank) {
    const size_t at = part.find("...");
    algorithms::Labels all;
    const int hidden = at == std::string::npos ? 0 : rank - static_cast<int>(part.size()) + 3;
    if (hidden < 0 || (at == std::string::npos && rank != static_cast<int>(part.size())))
      a.refuse("equation", "a letter for each dimension of its operand");
    for (size_t i = 0; i < part.size(); ++i) {
      if (i == at) {
        for (int d = hidden; d-- > 0;) all.push_back(first_dot + d);  // the last has the same number everywhere
        dots = std::max(dots, hidden);
        i += 2;
        continue;
      }
      if (!std::isalpha(static_cast<unsigned char>(part[i])))
        a.refuse("equation", "letters, commas, dots and an arrow");
      all.push_back(part[i]);
    }
    return all;
  };
  Letters found;
  for (size_t i = 0; i < parts.size(); ++i) found.operands.push_back(letters(parts[i], ranks[i]));
  if (arrow != std::string::npos) {
    const std::string right = text.substr(arrow + 2);
    const bool has_dots = right.find("...") != std::string::npos;
    found.result = letters(right, static_cast<int>(right.size()) + (has_dots ? dots - 3 : 0));
    return found;
  }
  std::map<int, int> count;
  for (const auto &o : found.operands)
    for (int l : o) ++count[l];
  for (int d = dots; d-- > 0;) found.result.push_back(first_dot + d);
  for (const auto &[l, n] : count)
    if (n == 1 && l < first_dot) found.result.push_back(l);
  return found;
}

const Operation letters_summed("einsum", [](const Values &in, const Attributes &a) -> Values {
  const std::vector<int64_t> &labels = a.integers("labels"), &result = a.integers("result");
  std::vector<algorithms::Labels> of(in.size());
  size_t next = 0;
  for (size_t i = 0; i < in.size(); ++i)
    for (int d = 0; d < in[i].rank(); ++d) of[i].push_back(static_cast<int>(labels.at(next++)));
  return {algorithms::einsum(in, of, {result.begin(), result.end()})};
});

const Function einsum("einsum", "equation, operands", [](const Arguments &a) {
  const std::vector<Variable> operands = a.variables("operands");
  std::vector<int> ranks;
  for (const Variable &v : operands) ranks.push_back(v.rank());
  const Letters letters = parsed(a, ranks);
  std::map<int, int64_t> extents;
  std::vector<int64_t> labels;
  for (size_t i = 0; i < operands.size(); ++i)
    for (size_t d = 0; d < letters.operands[i].size(); ++d) {
      const int l = letters.operands[i][d];
      const int64_t extent = operands[i].shape()[d];
      int64_t &known = extents.emplace(l, extent).first->second;
      if (known == 1) known = extent;
      if (extent != 1 && extent != known)
        fail("einsum: '", a.word("equation"), "': one letter stands for ", known, " and for ", extent);
      labels.push_back(l);
    }
  for (int l : letters.result)
    if (extents.count(l) == 0) a.refuse("equation", "letters of operands behind the arrow");
  return apply_one(
      letters_summed, operands,
      {{"labels", labels}, {"result", std::vector<int64_t>(letters.result.begin(), letters.result.end())}});
});

// ---- Products of groups: of rows of a, of columns of b, or of what both are summed over, each group up to an offset.

const Function grouped_mm("grouped_mm", "mat_a, mat_b, *, offs=None, bias=None, out_dtype=None",
                          [](const Arguments &a) -> Argument {
                            const Variable x = a.variable("mat_a"), y = a.variable("mat_b");
                            const bool groups_of_x = x.shape().size() == 3, groups_of_y = y.shape().size() == 3;
                            if (!groups_of_x && x.shape().size() != 2)
                              a.refuse("mat_a", "a matrix, or one for each group");
                            if (!groups_of_y && y.shape().size() != 2)
                              a.refuse("mat_b", "a matrix, or one for each group");
                            if ((groups_of_x && groups_of_y) == a.has("offs"))
                              a.refuse("offs", "ends of groups, unless both have one each");
                            if (a.has("bias")) a.refuse("bias", "None, as PyTorch has it");
                            const auto in_its_type = [&](const Variable &z) {
                              return a.has("out_dtype") ? to_type(z, type_named(a.word("out_dtype"))) : z;
                            };
                            if (groups_of_x && groups_of_y) return in_its_type(matmul(x, y));
                            std::vector<Variable> parts;
                            int64_t begin = 0, group = 0;
                            for (int64_t end : a.variable("offs").value().integers()) {
                              const auto part = [&](const Variable &m, bool grouped, int64_t dim) {
                                return grouped ? composed("select", {m, 0, group}) : slice(m, dim, begin, end - begin);
                              };
                              const bool sums = !groups_of_x && !groups_of_y;
                              const Variable z =
                                  matmul(part(x, groups_of_x, sums ? 1 : 0), part(y, groups_of_y, sums ? 0 : 1));
                              parts.push_back(sums ? composed("unsqueeze", {z, 0}) : z);
                              begin = end;
                              ++group;
                            }
                            return in_its_type(concat(parts, groups_of_x ? 1 : 0));
                          });

}  // namespace

const void *products() { return &matmul_of; }

}  // namespace saltern::nn
