#include "runtime/nn/promotion.h"

#include "runtime/layers/binary.h"

namespace saltern::nn {

namespace {

int rank_of(Type type) {
  const TypeFacts &f = facts(type);
  return (f.kind == TypeFacts::Kind::real ? 2000 : f.kind == TypeFacts::Kind::boolean ? 0 : 1000) + f.bits;
}

// A number takes the type of the tensor that it meets, unless it is of a higher kind.
Type type_beside(const Argument &number, Type type) {
  if (number.as<double>() && !is_real(type)) return Type::f32;
  return number.as<int64_t>() && type == Type::boolean ? Type::i64 : type;
}

}  // namespace

Operands promoted(const Arguments &of, const char *first, const char *second) {
  const Argument &x = of[first], &y = of[second];
  const auto *u = x.as<Variable>(), *v = y.as<Variable>();
  if (u && v) {
    const Type type = common(u->type(), v->type());
    return {to_type(*u, type), to_type(*v, type)};
  }
  if (u) {
    const Type type = type_beside(y, u->type());
    return {to_type(*u, type), scalar(of.real(second), type)};
  }
  if (!v) of.refuse(first, "a tensor");
  const Type type = type_beside(x, v->type());
  return {scalar(of.real(first), type), to_type(*v, type)};
}

Variable as_real(const Variable &x) { return is_real(x.type()) ? x : to_type(x, Type::f32); }

Type common(Type a, Type b) { return rank_of(a) >= rank_of(b) ? a : b; }

OfOne::OfOne(const std::string &name, const std::function<Value(const Value &)> &of, const std::string &argument,
             bool is_real)
    : operation(name, [of](const Values &in, const Attributes &) -> Values { return {of(in.at(0))}; }),
      function(name, argument, [this, argument, is_real](const Arguments &a) {
        const Variable x = a.variable(argument);
        return operation(is_real ? as_real(x) : x);
      }) {}

OfTwo::OfTwo(const std::string &name, const std::function<Value(const Value &, const Value &)> &of,
             const std::string &arguments, bool is_real)
    : operation(name, [of](const Values &in, const Attributes &) -> Values { return {of(in.at(0), in.at(1))}; }),
      function(name, arguments, [this, is_real](const Arguments &a) {
        const auto &all = a.signature().parameters();
        const Operands o = promoted(a, all[0].name.c_str(), all[1].name.c_str());
        return is_real ? operation(as_real(o.a), as_real(o.b)) : operation(o.a, o.b);
      }) {}

}  // namespace saltern::nn
