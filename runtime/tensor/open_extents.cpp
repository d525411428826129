#include "runtime/tensor/open_extents.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "runtime/error.h"

namespace saltern {

namespace {

// Prime, so that no division leaves nothing over; products of three of them and of a thousand fit into 64 bits; and all are
// apart by more than what is added to them. The first ones are in files that were saved before sizes could be quotients.
constexpr int64_t numbers[] = {1000003, 291503, 165533, 117937, 115201, 112349, 110419, 108553, 106759, 105137,
                               103583,  101599, 98927,  97301,  95339,  93463,  91423,  89261,  87011,  84947,
                               82883,   80107,  78193,  76579,  74257,  71563,  69263,  66653,  64063,  61637};
constexpr size_t old_numbers = 3;
constexpr int64_t largest_rest = 64, largest_product = int64_t{1} << 60, largest_number = 2 * largest_product;
constexpr size_t most_factors = 3;

thread_local OpenSizes *open_here = nullptr;

void add_products(const OpenSizes &sizes, OpenSizes::const_iterator from, const OpenProduct &of,
                  std::vector<OpenProduct> &all) {
  for (auto s = from; s != sizes.end(); ++s) {
    if (of.number > largest_product / s->second.number) continue;
    OpenProduct p = {of.number * s->second.number, of.names};
    p.names.push_back(s->first);
    all.push_back(p);
    if (p.names.size() < most_factors) add_products(sizes, s, p, all);
  }
}

}  // namespace

std::vector<OpenProduct> products_of(const OpenSizes &sizes) {
  std::vector<OpenProduct> all;
  add_products(sizes, sizes.begin(), {1, {}}, all);
  return all;
}

OpenNumber open_number(int64_t number, const std::vector<OpenProduct> &products) {
  OpenNumber best = {0, number, {}};
  if (number > largest_number || number < -largest_number) return best;  // a file may say anything
  for (const OpenProduct &p : products) {
    const int64_t factor = std::llround(static_cast<double>(number) / static_cast<double>(p.number)),
                  rest = number - factor * p.number;
    const bool nearer = std::abs(rest) < std::abs(best.rest),
               larger = rest == best.rest && std::abs(factor) < std::abs(best.factor);
    if (factor != 0 && std::abs(rest) <= largest_rest && (nearer || larger)) best = {factor, rest, p.names};
  }
  return best;
}

OpenNumber open_number(int64_t number, const OpenSizes &sizes) { return open_number(number, products_of(sizes)); }

std::string to_string(const OpenNumber &number) {
  if (!number.is_open()) return std::to_string(number.rest);
  std::string text = number.factor == 1 ? "" : std::to_string(number.factor) + " * ";
  const bool alone = number.factor == 1 && number.names.size() == 1;
  for (size_t i = 0; i < number.names.size(); ++i) {
    const std::string &name = number.names[i];
    const bool is_sum = name.find(' ') != std::string::npos && name.back() != ')';
    text += (i > 0 ? " * " : "") + (is_sum && !alone ? "(" + name + ")" : name);
  }
  if (number.rest != 0) text += (number.rest < 0 ? " - " : " + ") + std::to_string(std::abs(number.rest));
  return text;
}

bool is_stand_in(int64_t number) {
  return std::find(std::begin(numbers), std::end(numbers), number) != std::end(numbers);
}

int64_t next_stand_in(const OpenSizes &sizes, int64_t below) {
  for (size_t i = old_numbers; i < std::size(numbers); ++i)
    if (numbers[i] < below &&
        std::none_of(sizes.begin(), sizes.end(), [&](const auto &s) { return s.second.number == numbers[i]; }))
      return numbers[i];
  fail("more than ", sizes.size(), " sizes are open, or quotients of such");
}

int64_t extent_quotient(int64_t extent, int64_t by) {
  if (by < 1) fail("an extent of ", extent, " cannot be divided by ", by);
  const OpenNumber n = open_here && by > 1 ? open_number(extent, *open_here) : OpenNumber();
  if (!n.is_open()) return extent / by;
  // (by A + B) div by is A + B div by.
  const int64_t whole = n.rest / by - (n.rest % by < 0 ? 1 : 0), of = extent - whole * by, left = n.rest - whole * by;
  if (n.factor % by == 0) return (of - left) / by + whole;
  const std::string text = to_string(OpenNumber{n.factor, left, n.names});
  const bool plain = text == n.names[0];
  const std::string name = "floor(" + (plain ? text : "(" + text + ")") + " / " + std::to_string(by) + ")";
  const int64_t number = open_here->count(name) ? open_here->at(name).number : next_stand_in(*open_here, of);
  (*open_here)[name] = {number, of, by};
  return number + whole;
}

WithOpenSizes::WithOpenSizes(OpenSizes &sizes) : Temporarily(open_here, &sizes) {}

}  // namespace saltern
