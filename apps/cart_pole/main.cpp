// Learns to hold a pole upright on a cart, by deep Q-learning.
//   cart_pole train --output DIR     writes model.safetensors, returns.png, training.json; ends with 1 where it does not learn
//   cart_pole play MODEL             plays with what was learned

#include <chrono>
#include <functional>
#include <numeric>

#include "apps/cart_pole/agent.h"
#include "apps/training_program.h"
#include "runtime/data/png.h"
#include "runtime/graph/executor.h"
#include "runtime/graph/model_file.h"
#include "runtime/graph/open_sizes.h"
#include "runtime/graph/trace.h"
#include "runtime/report/plot.h"
#include "runtime/report/progress.h"

namespace {

using namespace saltern;

constexpr size_t last_episodes = 100;  // that a mean is of

double mean(const std::vector<double> &of) {
  return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(std::max<size_t>(of.size(), 1));
}
// Of those that had been played when `episodes` were.
double mean_of_last(const std::vector<double> &returns, size_t episodes) {
  const auto end = returns.begin() + static_cast<std::ptrdiff_t>(episodes);
  return mean({end - static_cast<std::ptrdiff_t>(std::min(episodes, last_episodes)), end});
}

// The returns of some episodes.
std::vector<double> played(const std::function<int(const CartPole::Observation &)> &action, int64_t limit,
                           int64_t episodes, uint64_t seed) {
  CartPole cart(limit);
  CartPole::Observation o = cart.reset(seed);
  std::vector<double> returns;
  for (double sum = 0; static_cast<int64_t>(returns.size()) < episodes;) {
    const CartPole::Transition t = cart.step(action(o));
    sum += static_cast<double>(t.reward);
    o = t.observation;
    if (!t.terminated && !t.truncated) continue;
    returns.push_back(sum);
    sum = 0;
    o = cart.reset();
  }
  return returns;
}

struct TrainCommand {
  ProgramOptions training = {"cart_pole", /*epochs=*/0, /*batch=*/64, /*rate=*/1e-3};
  int64_t steps = 60000, limit = 200;
  double goal = 195;

  explicit TrainCommand(CLI::App &app) {
    training.add_to(app);
    app.add_option("--steps", steps, "At most so many steps of the cart")
        ->check(CLI::Range(1, 100000000))
        ->capture_default_str();
    app.add_option("--limit", limit, "Steps of an episode, at most")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str();
    app.add_option("--goal", goal, "The mean return of the last 100 episodes that it is to reach")
        ->capture_default_str();
  }

  // How often an action is tried at random: at first always, later seldom.
  static double chance(int64_t step) { return std::max(0.01, 1 - static_cast<double>(step) / 5000); }

  int run() const {
    const auto begin = std::chrono::steady_clock::now();
    training.begin();
    nn::manual_seed(training.seed);
    AgentOptions options;
    options.rate = training.rate;
    Agent agent(options);
    Random random(training.seed);
    Replay replay(50000);
    CartPole cart(limit);
    CartPole::Observation o = cart.reset(training.seed);
    std::vector<double> returns;
    std::optional<Progress> progress;
    if (!training.json) progress.emplace("cart-pole", steps);
    bool is_solved = false;
    int64_t step = 0;
    for (double sum = 0; step < steps && !is_solved; ++step) {
      const int action = static_cast<double>(random.uniform()) < chance(step)
                             ? static_cast<int>(random.below(CartPole::actions))
                             : agent.best_action(o);
      const CartPole::Transition t = cart.step(action);
      replay.add({o, action, t.reward, t.observation, t.terminated});
      // What was learned in the end is not to be lost by large steps.
      agent.set_rate(training.rate * (1 - static_cast<double>(step) / static_cast<double>(steps)));
      if (replay.size() >= 500) agent.learn(replay.drawn(training.batch, random));
      sum += static_cast<double>(t.reward);
      o = t.observation;
      if (!t.terminated && !t.truncated) continue;
      returns.push_back(sum);
      sum = 0;
      o = cart.reset();
      const double reached = mean_of_last(returns, returns.size());
      is_solved = returns.size() >= last_episodes && reached >= goal;
      if (progress)
        progress->update(step, "episode " + std::to_string(returns.size()) + "  mean return " + text(reached));
    }
    const double reached = mean_of_last(returns, returns.size());
    if (progress) progress->finish(std::string(is_solved ? "solved" : "not solved") + "  mean return " + text(reached));

    save_model(training.file("model.safetensors"), trace(agent.net(), {"batch", 4}));
    draw_returns(returns);
    // Without any chance, from beginnings that it has not seen.
    const std::vector<double> test = played([&](const auto &seen) { return agent.best_action(seen); }, limit,
                                            last_episodes, training.seed + 1000000);
    training.end({{"solved", is_solved},
                  {"steps", step},
                  {"episodes", returns.size()},
                  {"mean_return", reached},
                  {"test_return", mean(test)},
                  {"seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()}});
    return is_solved ? 0 : failed;
  }

  static std::string text(double number) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.1f", number);
    return digits;
  }

  void draw_returns(const std::vector<double> &returns) const {
    std::vector<double> episodes, means;
    for (size_t i = 1; i <= returns.size(); ++i) {
      episodes.push_back(static_cast<double>(i));
      means.push_back(mean_of_last(returns, i));
    }
    Plot plot;
    plot.title = "Cart-pole by deep Q-learning";
    plot.x_label = "episode";
    plot.left_label = "return";
    const double last = std::max(1.0, static_cast<double>(returns.size()));
    plot.series = {{"an episode", episodes, returns, {150, 185, 225}, Axis::left, 4, Style::points},
                   {"mean of the last 100", episodes, means, colours::blue},
                   {"goal", {1, last}, {goal, goal}, colours::green, Axis::left, 1.5}};
    write_png(training.file("returns.png"), draw(plot).pixels());
  }
};

struct PlayCommand {
  std::string model;
  int64_t episodes = 10, limit = 500;
  uint64_t seed = 1;

  explicit PlayCommand(CLI::App &app) {
    app.add_option("model", model, "What `cart_pole train` wrote, model.safetensors")
        ->required()
        ->check(CLI::ExistingFile);
    app.add_option("--episodes", episodes, "How many")->check(CLI::Range(1, 100000))->capture_default_str();
    app.add_option("--limit", limit, "Steps of an episode, at most")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str();
    app.add_option("--seed", seed, "Same seed, same episodes")->capture_default_str();
  }

  int run() const {
    const Graph net = on_input([&] {
      const Graph any = load_model(model);
      return at_sizes(any, sizes_of(any, {{any.inputs.at(0), {1, 4}}}));
    });
    const std::vector<double> returns = played(
        [&](const CartPole::Observation &o) {
          const Tensor q = saltern::run(net, {{net.inputs[0], Tensor::of<float>({1, 4}, {o.begin(), o.end()})}})
                               .at(net.outputs.at(0));
          return q.at<float>({0, 1}) > q.at<float>({0, 0}) ? 1 : 0;
        },
        limit, episodes, seed);
    std::cout << nlohmann::json{{"returns", returns}, {"mean_return", mean(returns)}}.dump() << "\n";
    return 0;
  }
};

}  // namespace

int main(int argc, char **argv) {
  CLI::App app("Learns to hold a pole upright on a cart", "cart_pole");
  app.require_subcommand(1);
  CLI::App *train = app.add_subcommand("train", "Learn, save the net and draw the returns");
  TrainCommand train_command(*train);
  const PlayCommand play_command(*app.add_subcommand("play", "Play with what was learned"));
  return run_program(app, argc, argv, [&] { return train->parsed() ? train_command.run() : play_command.run(); });
}
