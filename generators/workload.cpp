#include "generators/workload.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "runtime/error.h"
#include "runtime/kernels/kernels.h"

namespace saltern::generators {

namespace {

double size_of(const ArgumentFacts &a) {
  double elements = 1;
  for (int e : a.extents) elements *= e;
  return elements;
}

void expect_that_it_fits(const std::string &kernel, const std::vector<ArgumentFacts> &facts) {
  double bytes = 0;
  for (const ArgumentFacts &a : facts) {
    if (a.kind == ArgumentFacts::Kind::scalar) continue;
    for (int e : a.extents)
      if (e < 1) fail("kernel ", kernel, ": '", a.name, "' would have an extent of ", e);
    if (size_of(a) > std::numeric_limits<int32_t>::max())
      fail("kernel ", kernel, ": '", a.name, "' would have ", size_of(a), " elements; kernels take 2^31 - 1 at most");
    bytes += size_of(a) * a.type.bytes();
  }
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (bytes > memory / 2)
    fail("kernel ", kernel, ": the call needs ", bytes / 1e9, " GB, more than half of this machine's ", memory / 1e9);
}

template <typename T>
void fill(Halide::Runtime::Buffer<> &b, double low, double high, std::mt19937 &random) {
  std::uniform_real_distribution<double> uniform(low, high);
  b.as<T>().for_each_value(
      [&](T &v) { v = static_cast<T>(std::is_floating_point_v<T> ? uniform(random) : std::floor(uniform(random))); });
}

// Types that a trial can fill; anything else is left at zero.
struct Filler {
  halide_type_t type;
  void (*fill)(Halide::Runtime::Buffer<> &, double, double, std::mt19937 &);
};

const Filler fillers[] = {
    {halide_type_of<float>(), fill<float>},     {halide_type_of<double>(), fill<double>},
    {halide_type_of<int32_t>(), fill<int32_t>}, {halide_type_of<int64_t>(), fill<int64_t>},
    {halide_type_of<uint8_t>(), fill<uint8_t>}, {halide_type_of<uint32_t>(), fill<uint32_t>},
};

}  // namespace

Workload::Workload(const std::string &kernel, const Call &call) : kernel_(kernel), facts_(arguments_of(kernel, call)) {
  expect_that_it_fits(kernel, facts_);
  std::mt19937 random(1);
  // Addresses of elements are kept: no growth after this.
  inputs_.reserve(facts_.size());
  outputs_.reserve(facts_.size());
  scalars_.reserve(facts_.size());
  for (const ArgumentFacts &a : facts_) {
    if (a.kind == ArgumentFacts::Kind::scalar) {
      halide_scalar_value_t v = {};
      if (a.type.code == halide_type_float)
        v.u.f32 = static_cast<float>(a.value);
      else
        v.u.i32 = static_cast<int32_t>(a.value);
      scalars_.push_back(v);
      library_arguments_.push_back(&scalars_.back());
      continue;
    }
    std::vector<Buffer> &list = a.kind == ArgumentFacts::Kind::output ? outputs_ : inputs_;
    list.emplace_back(a.type, a.extents);
    Buffer &b = list.back();
    std::fill_n(static_cast<uint8_t *>(b.data()), b.size_in_bytes(), uint8_t{0});
    if (a.kind == ArgumentFacts::Kind::buffer)
      for (const Filler &f : fillers)
        if (f.type == a.type) f.fill(b, a.low, a.high, random);
    library_arguments_.push_back(b.raw_buffer());
    exact_arguments_.push_back(b.raw_buffer());
  }
}

void Workload::run_library() {
  const CompiledKernel *row = find_compiled_kernel(kernel_);
  if (!row) fail("there is no library kernel '", kernel_, "'");
  call_by_address(*row, library_arguments_);
}

void Workload::run(const ExactKernel &kernel) { kernel(exact_arguments_); }

double Workload::bytes() const {
  double sum = 0;
  for (const ArgumentFacts &a : facts_)
    if (a.kind != ArgumentFacts::Kind::scalar) sum += size_of(a) * a.type.bytes();
  return sum;
}

double Workload::difference(const ExactKernel &kernel) {
  run_library();
  std::vector<Buffer> want;
  for (const Buffer &o : outputs_) want.push_back(o.copy());
  for (Buffer &o : outputs_)
    if (o.type() == halide_type_of<float>()) o.as<float>().fill(NAN);
  run(kernel);
  double largest = 1, most = 0;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!(outputs_[i].type() == halide_type_of<float>())) continue;
    const auto &got = outputs_[i].as<float>();
    want[i].as<float>().for_each_element([&](const int *at) {
      const double w = want[i].as<float>()(at), d = std::fabs(got(at) - w);
      largest = std::max(largest, std::fabs(w));
      most = std::isnan(d) ? INFINITY : std::max(most, d);
    });
  }
  return most / largest;
}

}  // namespace saltern::generators
