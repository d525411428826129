// Bayesian regression three ways: the posterior of a line's weights by stochastic variational inference and by Hamiltonian
// Monte Carlo, beside its closed form.
//   bayesian_regression --output DIR           writes posterior.png and posterior.json
//   bayesian_regression --data points.csv --x age --y height --degree 2 --noise 4 --prior 200

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/bayesian_regression/diagnostics.h"
#include "apps/bayesian_regression/hamiltonian.h"
#include "apps/bayesian_regression/picture.h"
#include "apps/program.h"
#include "runtime/data/csv.h"
#include "runtime/files/file.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/report/progress.h"

namespace saltern {
namespace {

using Json = nlohmann::ordered_json;

struct Settings {
  std::string data, x, y, output = "bayes";
  int64_t degree = 3;
  double noise = 0.25, prior = 2;
  VariationalOptions variational;
  HamiltonianOptions hamiltonian;
  bool json = false;
};

struct Points {
  std::string x_name = "x", y_name = "y";
  std::vector<double> x, y;
};

// A wave that is seen in two places, with noise.
Points a_wave(double noise, uint64_t seed) {
  Random random(seed);
  Points p;
  for (int i = 0; i < 40; ++i) {
    const double x = i < 20 ? random.uniform(-3, -0.5F) : random.uniform(1, 3);
    p.x.push_back(x);
    p.y.push_back(std::sin(x) + noise * static_cast<double>(random.normal()));
  }
  return p;
}

Points read_points(const Settings &o) {
  if (o.data.empty()) return a_wave(o.noise, o.hamiltonian.seed);
  const Table table = read_csv(o.data);
  if (table.names.size() < 2) fail(o.data, ": expected at least two columns");
  Points p = {o.x.empty() ? table.names[0] : o.x, o.y.empty() ? table.names[1] : o.y, {}, {}};
  for (const std::string &name : {p.x_name, p.y_name})
    if (table.words.count(name)) fail(o.data, ": column '", name, "' is of words; expected numbers");
  p.x = table.columns({p.x_name}).reals();
  p.y = table.columns({p.y_name}).reals();
  for (size_t i = 0; i < p.x.size(); ++i)
    if (!std::isfinite(p.x[i]) || !std::isfinite(p.y[i]))
      fail(o.data, ": row ", i + 1, " has no number in '", p.x_name, "' or '", p.y_name, "'");
  if (p.x.size() < 2 || *std::min_element(p.x.begin(), p.x.end()) == *std::max_element(p.x.begin(), p.x.end()))
    fail(o.data, ": column '", p.x_name, "' has fewer than two different numbers");
  return p;
}

Json as_json(const Posterior &p) {
  Json j = {{"mean", p.mean}, {"deviation", Json::array()}, {"covariance", p.covariance}};
  for (size_t i = 0; i < p.mean.size(); ++i) j["deviation"].push_back(p.deviation(i));
  return j;
}

// How far from the closed form: means in its deviations, variances as a share of its own; the largest of all weights.
struct Distance {
  double mean = 0, variance = 0;
};
Distance distance(const Posterior &p, const Posterior &exact) {
  Distance e;
  for (size_t j = 0; j < p.mean.size(); ++j) {
    e.mean = std::max(e.mean, std::fabs(p.mean[j] - exact.mean[j]) / exact.deviation(j));
    e.variance = std::max(e.variance, std::fabs(p.covariance[j][j] / exact.covariance[j][j] - 1));
  }
  return e;
}

// One number of all chains.
std::vector<Chain> column(const Chains &chains, size_t j) {
  std::vector<Chain> all;
  for (const auto &draws : chains.draws) {
    all.emplace_back();
    for (const auto &w : draws) all.back().push_back(w[j]);
  }
  return all;
}

struct Result {
  ClosedForm exact;
  Variational variational;
  Chains chains;
  Posterior sampled;
  std::vector<double> r_hats, effective;

  Json json() const {
    Json j = {{"closed_form", as_json(exact.posterior)},
              {"variational", as_json(variational.posterior)},
              {"hamiltonian", as_json(sampled)}};
    j["closed_form"]["log_evidence"] = exact.log_evidence;
    j["variational"]["elbo"] = variational.elbo;
    j["hamiltonian"]["accepted"] = chains.accepted;
    j["hamiltonian"]["step_size"] = chains.step_size;
    j["hamiltonian"]["r_hat"] = r_hats;
    j["hamiltonian"]["effective_samples"] = effective;
    for (const auto &[name, p] : {std::pair("variational", &variational.posterior), {"hamiltonian", &sampled}}) {
      const Distance d = distance(*p, exact.posterior);
      j[name]["mean_off_in_deviations"] = d.mean;
      j[name]["variance_off"] = d.variance;
    }
    return j;
  }

  void print() const {
    std::printf("             closed form         variational         Hamiltonian       R-hat  effective samples\n");
    for (size_t i = 0; i < exact.posterior.mean.size(); ++i) {
      std::printf("weight %-2zu", i);
      for (const Posterior *p : {&exact.posterior, &variational.posterior, &sampled})
        std::printf("  %8.4f +- %-6.4f", p->mean[i], p->deviation(i));
      std::printf("  %5.3f  %.0f\n", r_hats[i], effective[i]);
    }
    std::printf("log p(y) %.3f, ELBO %.3f; of Hamiltonian moves %.0f %% were taken, with steps of %.3g\n",
                exact.log_evidence, variational.elbo, 100 * chains.accepted, chains.step_size);
  }
};

// Means off by a tenth of a deviation or variances by a fifth, or chains that do not agree: something is wrong, or there were
// too few steps or draws.
constexpr double most_mean_off = 0.1, most_variance_off = 0.2, most_r_hat = 1.05;

std::string fault_of(const Result &r) {
  for (const auto &[name, p] : {std::pair("variational", &r.variational.posterior), {"Hamiltonian", &r.sampled}}) {
    const Distance d = distance(*p, r.exact.posterior);
    if (!(d.mean <= most_mean_off) || !(d.variance <= most_variance_off))
      return std::string("the ") + name + " posterior is not the closed form's: means are off by up to " +
             std::to_string(d.mean) + " deviations, variances by up to " + std::to_string(100 * d.variance) + " %";
  }
  for (size_t j = 0; j < r.r_hats.size(); ++j)
    if (!(r.r_hats[j] <= most_r_hat))
      return "the chains do not agree on weight " + std::to_string(j) + ": R-hat is " + std::to_string(r.r_hats[j]);
  return "";
}

int run(Settings o) {
  set_threads(1);  // rows are few
  const Points points = on_input([&] { return read_points(o); });
  std::error_code error;
  std::filesystem::create_directories(o.output, error);
  if (error) throw FileError("cannot make the folder " + o.output + ": " + error.message());
  const auto [low, high] = std::minmax_element(points.x.begin(), points.x.end());
  const auto scaled = [low = *low, high = *high](double x) { return 2 * (x - low) / (high - low) - 1; };
  std::vector<double> x;
  for (const double v : points.x) x.push_back(scaled(v));
  const Regression regression = {
      powers_of(x, o.degree), Tensor::of<float>({static_cast<int64_t>(x.size())}, {points.y.begin(), points.y.end()}),
      o.noise, o.prior};
  const LogDensity log_density = [&](const Variable &w) { return log_joint(regression, w); };

  nn::manual_seed(o.hamiltonian.seed);
  Result r;
  r.exact = closed_form(regression);
  const auto watched = [&](const char *label, int64_t total, auto &watch, const auto &work) {
    if (o.json) return work();
    Progress progress(label, total);
    const char *const what = label[0] == 'v' ? "ELBO " : "taken ";
    std::string text;
    watch = [&](int64_t done, double value) { progress.update(done, text = what + std::to_string(value)); };
    work();
    progress.finish(text);
    watch = nullptr;
  };
  watched("variational inference", o.variational.steps, o.variational.watch,
          [&] { r.variational = fit_variational(log_density, regression.weights(), o.variational); });
  watched("Hamiltonian Monte Carlo", o.hamiltonian.warm_up + o.hamiltonian.draws, o.hamiltonian.watch,
          [&] { r.chains = sample_hamiltonian(log_density, regression.weights(), o.hamiltonian); });
  r.sampled = posterior_of(r.chains.together());
  for (size_t j = 0; j < r.sampled.mean.size(); ++j) {
    r.r_hats.push_back(r_hat(column(r.chains, j)));
    r.effective.push_back(effective_samples(column(r.chains, j)));
  }

  Picture picture = {points.x_name, points.y_name, points.x, points.y, scaled, {}, o.noise, o.degree};
  picture.posteriors = {{"Hamiltonian", r.sampled}, {"variational", r.variational.posterior}};
  draw_regression(o.output + "/posterior.png", picture);
  write_atomically(o.output + "/posterior.json", r.json().dump(2) + "\n");
  if (o.json)
    std::printf("%s\n", r.json().dump().c_str());
  else
    r.print();
  if (const std::string fault = fault_of(r); !fault.empty()) fail(fault);
  return 0;
}

void define(CLI::App &app, Settings &o) {
  const CLI::Range count(int64_t{1}, int64_t{1} << 30);
  app.add_option("--data", o.data, "A table with names in its first line (.csv); else a wave with noise");
  app.add_option("--x", o.x, "Its column of x; else the first");
  app.add_option("--y", o.y, "Its column of y; else the second");
  app.add_option("-o,--output", o.output, "Folder for posterior.png and posterior.json")->capture_default_str();
  app.add_option("--degree", o.degree, "The highest power of x, which is scaled to [-1, 1]")
      ->check(CLI::Range(int64_t{0}, int64_t{12}))
      ->capture_default_str();
  app.add_option("--noise", o.noise, "The deviation of y from the line")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--prior", o.prior, "The deviation of weights from 0, before y was seen")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--steps", o.variational.steps, "Steps of variational inference")->check(count)->capture_default_str();
  app.add_option("--samples", o.variational.samples, "Samples a step")->check(count)->capture_default_str();
  app.add_option("--chains", o.hamiltonian.chains, "Chains of Hamiltonian Monte Carlo")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 16))
      ->capture_default_str();
  app.add_option("--warm-up", o.hamiltonian.warm_up, "Moves while steps are fitted, thrown away")
      ->check(count)
      ->capture_default_str();
  app.add_option("--draws", o.hamiltonian.draws, "Moves behind it, of each chain")
      ->check(CLI::Range(int64_t{4}, int64_t{1} << 30))
      ->capture_default_str();
  app.add_option("--leaps", o.hamiltonian.leaps, "Leapfrog steps of a move, at most")
      ->check(count)
      ->capture_default_str();
  app.add_option("--seed", o.hamiltonian.seed, "Same seed, same numbers")->capture_default_str();
  app.add_flag("--json", o.json, "Only a line of JSON, in the end");
}

}  // namespace
}  // namespace saltern

int main(int argc, char **argv) {
  using namespace saltern;
  CLI::App app(
      "Finds the posterior of a polynomial's weights by variational inference and by Hamiltonian Monte Carlo, and "
      "compares both with the closed form",
      "bayesian_regression");
  Settings settings;
  define(app, settings);
  return run_program(app, argc, argv, [&] { return run(settings); });
}
