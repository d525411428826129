#include "runtime/onnx/export_einsum.h"

#include <algorithm>
#include <set>

namespace saltern {

namespace {

using formula::Expression;
using Kind = Expression::Kind;

char letter(size_t place) { return static_cast<char>('a' + place); }

using PlaceOf = std::function<size_t(const Expression::Node &)>;
using PlacesIn = std::function<std::optional<std::vector<size_t>>(const Expression::Node &)>;

// The dimensions that an expression depends on, in their order; none where it has sums of its own.
std::vector<size_t> places_of(const Expression &e, const PlaceOf &place_of) {
  bool sums = false;
  formula::for_each_node(e, [&](const Expression::Node &n) { sums |= n.kind == Kind::reduce; });
  if (sums) return {};
  std::set<size_t> places;
  formula::for_each_node(e, [&](const Expression::Node &n) {
    if (n.kind == Kind::axis || n.kind == Kind::step) places.insert(place_of(n));
  });
  return {places.begin(), places.end()};
}

// Whether the places are all dimensions, each once, as an Einsum wants them.
bool are_dimensions(const std::vector<size_t> &places, size_t most) {
  return std::all_of(places.begin(), places.end(), [&](size_t p) { return p < most; });
}

// False where one is no tensor that an Einsum takes.
bool collect(const Expression &e, size_t rank, const PlacesIn &places_in, const PlaceOf &place_of,
             std::vector<EinsumFactor> &factors) {
  if (e->kind == Kind::call && e->function == formula::Function::multiply)
    return collect(e->arguments[0], rank, places_in, place_of, factors) &&
           collect(e->arguments[1], rank, places_in, place_of, factors);
  if (!is_real(e.type())) return false;
  const auto whole = e->kind == Kind::load ? places_in(*e.get()) : std::nullopt;
  const bool is_whole = whole && are_dimensions(*whole, rank);
  factors.push_back({e, is_whole, is_whole ? *whole : places_of(e, place_of)});
  return is_whole || !factors.back().places.empty();
}

}  // namespace

std::optional<EinsumProduct> einsum_of(const Expression &body, const std::vector<size_t> &own, size_t axes,
                                       const PlacesIn &places_in, const PlaceOf &place_of) {
  EinsumProduct product;
  std::vector<EinsumFactor> &factors = product.factors;
  const size_t rank = std::max(axes, own.empty() ? 0 : *std::max_element(own.begin(), own.end()) + 1);
  if (!collect(body, rank, places_in, place_of, factors) || factors.size() < 2) return std::nullopt;
  std::set<size_t> seen;
  for (const EinsumFactor &f : factors) seen.insert(f.places.begin(), f.places.end());
  const auto has_all = [&](const EinsumFactor &f) { return f.places.size() == seen.size(); };
  const auto is_whole = [](const EinsumFactor &f) { return f.is_whole; };
  if (!std::all_of(factors.begin(), factors.end(), is_whole) && std::any_of(factors.begin(), factors.end(), has_all))
    return std::nullopt;
  const auto is_own = [&](size_t p) { return std::count(own.begin(), own.end(), p) > 0; };
  if (!std::all_of(own.begin(), own.end(), [&](size_t p) { return seen.count(p) > 0; })) return std::nullopt;
  for (size_t p : seen) {
    if (is_own(p)) continue;
    if (p >= axes) return std::nullopt;  // a step around this reduction
    product.kept.push_back(p);
  }
  for (const EinsumFactor &f : factors) {
    if (&f != &factors.front()) product.equation += ",";
    for (size_t p : f.places) product.equation += letter(p);
  }
  product.equation += "->";
  for (size_t p : product.kept) product.equation += letter(p);
  return product;
}

}  // namespace saltern
