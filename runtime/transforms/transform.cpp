#include "runtime/transforms/transform.h"

#include <algorithm>

#include "runtime/nn/written.h"
#include "runtime/transforms/rows.h"

namespace saltern::transforms {

const std::vector<TransformRow> &transform_rows() {
  static const std::vector<TransformRow> all = [] {
    std::vector<TransformRow> rows;
    for (const auto &of : {container_rows, value_rows, size_rows, place_rows, colour_rows, augment_rows, batch_rows})
      for (TransformRow &row : of()) rows.push_back(std::move(row));
    std::sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) { return a.name < b.name; });
    return rows;
  }();
  return all;
}

const TransformRow *find_transform(std::string_view name) {
  for (const TransformRow &row : transform_rows())
    if (row.name == name) return &row;
  return nullptr;
}

Transform::Transform(const TransformRow &row, const std::vector<Argument> &positional, const Named &named)
    : row_(&row), made_with_(row.made_with.bind(row.name, positional, named)) {
  if (row.check) row.check(made_with_);
}

Argument Transform::call(Random &random, const std::vector<Argument> &in, const Named &named) const {
  return row_->apply(made_with_, random, row_->called_with.bind(row_->name, in, named));
}

Scene Transform::operator()(const Scene &x, Random &random) const {
  Named beside;
  if (x.boxes.defined()) beside["boxes"] = x.boxes;
  if (x.keypoints.defined()) beside["keypoints"] = x.keypoints;
  const Argument found = call(random, {x.image}, beside);
  if (beside.empty()) return {nn::variable_of(found).value(), {}, {}};
  const std::vector<Variable> all = nn::variables_of(found);
  return {all.at(0).value(), x.boxes.defined() ? all.at(1).value() : Tensor(),
          x.keypoints.defined() ? all.back().value() : Tensor()};
}

Transform transform(const std::string &name, const std::vector<Argument> &positional, const Named &named) {
  const TransformRow *row = find_transform(name);
  if (!row) fail("there is no transform '", name, "'");
  return {*row, positional, named};
}

namespace {

Transform made(const nn::WrittenCall &c) { return transform(c.name, c.positional, c.named); }

}  // namespace

Transform written_transform(const std::string &text) {
  return made(nn::written_call(text, [](const nn::WrittenCall &c) -> Argument { return made(c); }));
}

Transform written_transforms(const std::vector<std::string> &texts) {
  Argument::List all;
  for (const std::string &t : texts) all.push_back(written_transform(t));
  return transform("Compose", {Argument(all)});
}

std::function<Tensor(const Tensor &, int64_t, int64_t)> each_sample(const Transform &transform, uint64_t seed) {
  return [=](const Tensor &x, int64_t epoch, int64_t sample) {
    Random of_epoch(seed, static_cast<uint64_t>(epoch)), of_sample(of_epoch.bits(), static_cast<uint64_t>(sample));
    Random numbers(of_sample.bits());
    return transform(x, numbers);
  };
}

}  // namespace saltern::transforms
