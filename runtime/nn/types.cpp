// Element types.

#include "runtime/nn/types.h"
#include "runtime/nn/families.h"

namespace saltern::nn {

namespace {

const Function cast("cast", "input, dtype", by_formula([](const Arguments &a) {
                      return formula::cast(type_named(a.word("dtype")), a.value("input"));
                    }));

}  // namespace

std::string numpy_name(Type type) {
  const TypeFacts &f = facts(type);
  const std::string bits = std::to_string(f.bits);
  if (type == Type::bf16) return "bfloat16";
  switch (f.kind) {
    case TypeFacts::Kind::real:
      return f.is_small_real() ? std::string(f.name) : "float" + bits;
    case TypeFacts::Kind::integer:
      return "int" + bits;
    case TypeFacts::Kind::natural:
      return "uint" + bits;
    default:
      return std::string(f.name);
  }
}

Type type_named(const std::string &name) {
  for (const TypeFacts &f : all_types())
    if (f.name == name || numpy_name(f.type) == name) return f.type;
  throw ArgumentError("there is no element type '" + name + "'");
}

Variable to_type(const Variable &x, Type type) {
  return x.type() == type ? x : cast(x, std::string(facts(type).name));
}

Variable or_full(const Variable &v, const Shape &shape, double value, const Variable &like) {
  return v.defined() ? v : Variable(Tensor::full(shape, value, like.type()));
}

const void *types() { return &cast; }

}  // namespace saltern::nn
