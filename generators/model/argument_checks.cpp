#include "generators/model/argument_checks.h"

#include "generators/formula_functions.h"
#include "generators/model/views.h"

namespace saltern::generators {

namespace {

int64_t count(const std::vector<int> &extents) { return elements(Shape(extents.begin(), extents.end())); }

std::string text(Type type, const Shape &shape, Layout layout) {
  return std::string(facts(type).name) + " " + saltern::to_string(shape) +
         (layout == Layout::channels_last ? " with channels innermost" : " in rows");
}

// What an argument is taken to be.
std::string text(const EmittedArgument &a) { return text(a.type, {a.extents.rbegin(), a.extents.rend()}, a.layout); }

bool is_number(const Halide::Expr &e, int64_t expected) {
  const auto known = Halide::Internal::as_const_int(Halide::Internal::simplify(e));
  return known && *known == expected;
}

}  // namespace

void check_arguments(const Graph &graph, const EmittedKernel &kernel, const std::string &who) {
  for (const EmittedArgument &a : kernel.arguments) {
    if (a.constant.defined()) {
      if (a.type != a.constant.type() || count(a.extents) != a.constant.size())
        fail("the kernel of ", who, " takes a constant of ", facts(a.constant.type()).name, " ",
             saltern::to_string(a.constant.shape()), " as ", text(a));
    } else if (!a.value.empty()) {
      const Graph::Value &v = graph.value(a.value);
      if (a.type != v.type || count(a.extents) != (a.part ? a.part->count : elements(v.shape)) || !lies_as(v, a.layout))
        fail("the kernel of ", who, " takes '", a.value, "' as ", text(a), "; it is ",
             text(v.type, v.shape, is_channels_last(v) ? v.layout : Layout::row_major));
    }
  }
}

std::vector<int> checked_strides(const Graph &graph, const EmittedArgument &a, const Homes::Home &home,
                                 const std::string &who) {
  const Graph::Value &memory = graph.value(home.value);
  const auto strides = strides_of(a.extents, home.piece);
  int64_t last = home.piece.offset;
  for (size_t d = 0; strides && d < strides->size(); ++d) last += int64_t{a.extents[d] - 1} * (*strides)[d];
  if (!strides || count(a.extents) != home.piece.count || facts(memory.type).bytes() != facts(a.type).bytes() ||
      home.piece.offset < 0 || last >= elements(memory.shape))
    fail("the kernel of ", who, " takes '", a.value, "' as ", text(a), ", which does not fit where it lies in '",
         home.value, "'");
  return *strides;
}

void check_build(const EmittedKernel &kernel, const Build &build) {
  const std::vector<Halide::OutputImageParam> buffers = build.all_buffers();
  if (buffers.size() != kernel.arguments.size())
    fail("the code takes ", buffers.size(), " arguments; given are ", kernel.arguments.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    const EmittedArgument &a = kernel.arguments[i];
    const auto parameter = buffers[i].parameter();
    bool same = parameter.type() == storage_type(a.type) &&
                parameter.dimensions() == static_cast<int>(a.extents.size()) &&
                (a.aligned || parameter.host_alignment() <= facts(a.type).bytes());
    for (size_t d = 0; same && d < a.extents.size(); ++d)
      same = is_number(parameter.extent_constraint(static_cast<int>(d)), a.extents[d]) &&
             is_number(parameter.stride_constraint(static_cast<int>(d)), a.strides[d]);
    if (!same) fail("argument ", i, " is given as ", text(a), "; the code takes something else");
  }
}

}  // namespace saltern::generators
