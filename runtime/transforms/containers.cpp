// Transforms of transforms.

#include "runtime/transforms/rows.h"

namespace saltern::transforms {

namespace {

std::vector<std::shared_ptr<Transform>> parts_of(const Arguments &a) {
  const auto *list = a["transforms"].as<Argument::List>();
  if (!list || list->empty()) a.refuse("transforms", "a list of transforms");
  std::vector<std::shared_ptr<Transform>> all;
  for (const Argument &e : *list) {
    const auto *part = e.as<Argument::Part>();
    const auto found = part ? std::dynamic_pointer_cast<Transform>(*part) : nullptr;
    if (!found) a.refuse("transforms", "a list of transforms");
    all.push_back(found);
  }
  return all;
}

// Each has what the one before made of the picture, and of what was given beside it.
Argument in_turn(const Arguments &a, Random &random, const Arguments &in, const std::vector<int64_t> &order) {
  const auto parts = parts_of(a);
  Argument::List now = {in["inpt"]};
  Named beside;
  for (const char *name : {"boxes", "keypoints"})
    if (in.has(name)) now.push_back(beside[name] = in[name]);
  for (const int64_t i : order) {
    const Argument found = parts[static_cast<size_t>(i)]->call(random, {now[0]}, beside);
    now = beside.empty() ? Argument::List{found} : *found.as<Argument::List>();
    size_t next = 1;
    for (auto &[name, value] : beside) value = now.at(next++);
  }
  return beside.empty() ? now[0] : Argument(now);
}

std::vector<int64_t> all_of(const Arguments &a) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < parts_of(a).size(); ++i) order.push_back(static_cast<int64_t>(i));
  return order;
}

void check_parts(const Arguments &a) { parts_of(a); }

std::vector<double> chances(const Arguments &a) {
  const size_t count = parts_of(a).size();
  std::vector<double> all = a.has("p") ? a.reals("p") : std::vector<double>(count, 1);
  double sum = 0;
  for (const double p : all) {
    if (!(p >= 0)) a.refuse("p", "numbers of 0 or more");
    sum += p;
  }
  if (all.size() != count || !(sum > 0)) a.refuse("p", "a number for each of " + std::to_string(count) + " transforms");
  for (double &p : all) p /= sum;
  return all;
}

}  // namespace

std::vector<TransformRow> container_rows() {
  const Signature called = of_sample();
  return {
      {"Compose", Signature("transforms"),
       [](const Arguments &a, Random &r, const Arguments &in) { return in_turn(a, r, in, all_of(a)); }, called,
       check_parts},
      {"RandomApply", Signature("transforms, p=0.5"),
       [](const Arguments &a, Random &r, const Arguments &in) {
         return r.uniform() >= a.real("p") ? as_given(in["inpt"], in) : in_turn(a, r, in, all_of(a));
       },
       called,
       [](const Arguments &a) {
         check_parts(a);
         expect_probability(a);
       }},
      {"RandomChoice", Signature("transforms, p=None"),
       [](const Arguments &a, Random &r, const Arguments &in) {
         const std::vector<double> all = chances(a);
         double left = static_cast<double>(r.uniform());
         int64_t which = 0;
         while (which + 1 < static_cast<int64_t>(all.size()) && left >= all[static_cast<size_t>(which)])
           left -= all[static_cast<size_t>(which++)];
         return in_turn(a, r, in, {which});
       },
       called, [](const Arguments &a) { chances(a); }},
      {"RandomOrder", Signature("transforms"),
       [](const Arguments &a, Random &r, const Arguments &in) {
         return in_turn(a, r, in, drawn_order(r, static_cast<int64_t>(parts_of(a).size())));
       },
       called, check_parts},
  };
}

}  // namespace saltern::transforms
