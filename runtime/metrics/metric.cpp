#include "runtime/metrics/metric.h"

#include <algorithm>

#include "runtime/metrics/moments.h"

namespace saltern::metrics {

namespace {

// Rows add themselves before main; those of other archives that nothing names are brought by families().
std::map<std::string, const MetricRow *, std::less<>> &rows() {
  static auto *all = [] {
    families();
    return new std::map<std::string, const MetricRow *, std::less<>>;
  }();
  return *all;
}

void expect_one_shape(const std::string &owner, const std::string &name, const Shape &a, const Shape &b) {
  if (a != b) fail(owner, ": '", name, "' has the shape ", to_string(a), " so far, and ", to_string(b), " here");
}

void append(const std::string &owner, const std::string &name, Numbers &into, const Numbers &more) {
  if (into.rank() == 0 || more.rank() == 0) fail(owner, ": '", name, "' is no list");
  if (more.size() == 0) return;
  if (into.size() == 0) {
    into = more;
    return;
  }
  Shape expected = into.shape;
  expected[0] = more.shape[0];
  expect_one_shape(owner, name, expected, more.shape);
  into.shape[0] += more.shape[0];
  into.all.insert(into.all.end(), more.begin(), more.end());
}

void elementwise(const std::string &owner, const std::string &name, Numbers &into, const Numbers &more,
                 const std::function<double(double, double)> &f) {
  expect_one_shape(owner, name, into.shape, more.shape);
  std::transform(into.begin(), into.end(), more.begin(), into.begin(), f);
}

using Combine = void (*)(const std::string &owner, const std::string &name, Numbers &into, const Numbers &more);
const std::map<std::string, Combine> combines = {
    {"sum", [](auto &o, auto &n, auto &a, auto &b) { elementwise(o, n, a, b, std::plus<>()); }},
    {"max", [](auto &o, auto &n, auto &a,
               auto &b) { elementwise(o, n, a, b, [](double x, double y) { return std::max(x, y); }); }},
    {"min", [](auto &o, auto &n, auto &a,
               auto &b) { elementwise(o, n, a, b, [](double x, double y) { return std::min(x, y); }); }},
    {"list", append},
    {"moments", [](auto &o, auto &n, auto &a, auto &b) {
       expect_one_shape(o, n, a.shape, b.shape);
       merge_moments(a, b);
     }}};

std::string in_brackets(const std::string &inputs, const std::string &options) {
  return inputs + (inputs.empty() || options.empty() ? "" : ", ") + options;
}

}  // namespace

const Numbers &State::operator[](const std::string &name) const {
  const auto found = all_.find(name);
  if (found == all_.end()) fail("a metric's state has no '", name, "'");
  return found->second.numbers;
}

void State::merge(const std::string &owner, const State &other) {
  if (all_.empty()) {
    all_ = other.all_;
    return;
  }
  for (const auto &[name, entry] : other.all_) {
    const auto found = all_.find(name);
    if (found == all_.end() || found->second.how != entry.how)
      fail(owner, ": a state without ", entry.how, " '", name, "' cannot be merged with one that has it");
    combines.at(entry.how)(owner, name, found->second.numbers, entry.numbers);
  }
}

std::map<std::string, Tensor> State::tensors() const {
  std::map<std::string, Tensor> all;
  for (const auto &[name, entry] : all_) {
    Numbers n = entry.numbers;
    n.whole = false;
    all[entry.how + "." + name] = tensor_of(n);
  }
  return all;
}

State State::of(const std::string &owner, const std::map<std::string, Tensor> &tensors) {
  State s;
  for (const auto &[key, t] : tensors) {
    const size_t dot = key.find('.');
    const std::string how = key.substr(0, dot);
    if (dot == std::string::npos || combines.count(how) == 0) fail(owner, ": '", key, "' is no name of a state");
    s.all_[key.substr(dot + 1)] = {how, {t.shape(), t.reals()}};
  }
  return s;
}

MetricRow::MetricRow(std::string name, std::string function, const std::string &made_with,
                     const std::string &updated_with, Statistics statistics, Value value, Check check,
                     const std::string &called_with, Value called)
    : name_(std::move(name)),
      function_(std::move(function)),
      made_with_(made_with),
      updated_with_(updated_with),
      called_with_(called_with.empty() ? in_brackets(updated_with, made_with) : called_with),
      statistics_(std::move(statistics)),
      value_(std::move(value)),
      called_(std::move(called)),
      check_(std::move(check)) {
  if (!rows().emplace(name_, this).second) fail("two metrics are called '", name_, "'");
}

MetricRow::MetricRow(std::string name, std::string function, const std::string &made_with,
                     const std::string &updated_with, Choice choice)
    : MetricRow(std::move(name), std::move(function), made_with, updated_with, nullptr, nullptr) {
  choice_ = std::move(choice);
}

Argument MetricRow::call(const std::vector<Argument> &positional, const Named &named) const {
  const Arguments all = called_with_.bind(function_, positional, named);
  Named options, in;
  for (const nn::Parameter &p : called_with_.parameters())
    (updated_with_.has(p.name) ? in : options)[p.name] = all[p.name];
  Metric one(*this, {}, options);
  one.update({}, in);
  return one.called();
}

const MetricRow *find_metric(std::string_view name) {
  const auto found = rows().find(name);
  if (found != rows().end()) return found->second;
  for (const auto &[_, row] : rows())
    if (!name.empty() && row->function() == name) return row;
  return nullptr;
}

std::vector<const MetricRow *> all_metrics() {
  std::vector<const MetricRow *> all;
  for (const auto &[_, row] : rows()) all.push_back(row);
  return all;
}

Metric::Metric(const MetricRow &row, const std::vector<Argument> &positional, const Named &named)
    : row_(&row), options_(row.made_with_.bind(row.name_, positional, named)) {
  if (row.choice_) {
    const auto [name, options] = row.choice_(options_);
    *this = metric(name, options);
  } else if (row.check_) {
    row.check_(options_);
  }
}

State Metric::statistics(const std::vector<Argument> &positional, const Named &named) const {
  return row_->statistics_(options_, row_->updated_with_.bind(name(), positional, named));
}

void Metric::update(const std::vector<Argument> &positional, const Named &named) {
  state_.merge(name(), statistics(positional, named));
}

Argument Metric::step(const std::vector<Argument> &positional, const Named &named) {
  const State batch = statistics(positional, named);
  state_.merge(name(), batch);
  return row_->value_(options_, batch);
}

Argument Metric::compute() const { return is_updated() ? row_->value_(options_, state_) : result(nan); }

Argument Metric::called() const { return row_->called_ ? row_->called_(options_, state_) : compute(); }

double Metric::value() const {
  const Argument all = compute();
  const auto *v = all.as<Variable>();
  if (!v || v->size() != 1) fail(name(), " has no single number as its value; compute() gives all");
  return v->value().item();
}

void Metric::merge(const Metric &other) {
  if (other.row_ != row_) fail(name(), " cannot be merged with ", other.name());
  state_.merge(name(), other.state_);
}

Metric metric(std::string_view name, const Named &options) {
  const MetricRow *row = find_metric(name);
  if (!row) fail("there is no metric '", name, "'");
  return {*row, {}, options};
}

}  // namespace saltern::metrics
