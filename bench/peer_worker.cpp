// Saltern's side of bench/peers.py: does one piece of work in bursts, when asked.
//
//   peer_worker WORK THREADS
//
// For every line on standard input, a number of seconds, it works that long and answers with the milliseconds of each
// run, as a JSON list. WORK is training_step, matmul_N, or conv2d_CI_CO_SIZE.

#include <chrono>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/training_step.h"
#include "runtime/kernels/thread_pool.h"

namespace {

using namespace saltern;
using Work = std::function<void()>;

std::vector<std::string> words(const std::string &text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, '_');) all.push_back(word);
  return all;
}

Work work_named(const std::string &name) {
  if (name == "training_step") {
    auto step = std::make_shared<TrainingStep>();
    return [step] { (*step)(); };
  }
  Random random(0);
  const std::vector<std::string> w = words(name);
  if (w.size() == 2 && w[0] == "matmul") {
    const int64_t n = std::stoll(w[1]);
    const Variable a = random.normal_tensor({n, n}), b = random.normal_tensor({n, n});
    return [=] { matmul(a, b); };
  }
  if (w.size() == 4 && w[0] == "conv2d") {
    const int64_t in = std::stoll(w[1]), out = std::stoll(w[2]), size = std::stoll(w[3]);
    const Variable x = random.normal_tensor({1, in, size, size}, Layout::channels_last);
    auto layer = std::make_shared<nn::Layer>(nn::Conv2d(in, out, 3, 1, 1));
    return [=] { (*layer)(x); };
  }
  fail("no work is called '", name, "'");
}

}  // namespace

int main(int argc, char **argv) {
  using Clock = std::chrono::steady_clock;
  const auto milliseconds = [](Clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); };
  try {
    if (argc != 3) fail("usage: peer_worker WORK THREADS");
    set_threads(std::stoi(argv[2]));
    const bool training = std::string(argv[1]) == "training_step";
    RecordingGuard recording(training ? RecordingMode::where_needed : RecordingMode::off);
    const Work work = work_named(argv[1]);
    for (int i = 0; i < 3; ++i) work();
    std::cout << "\"ready\"" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
      const auto until = Clock::now() + std::chrono::duration<double>(std::stod(line));
      std::vector<double> times;
      do {
        const auto begin = Clock::now();
        work();
        times.push_back(milliseconds(Clock::now() - begin));
      } while (Clock::now() < until);
      std::cout << nlohmann::json(times).dump() << std::endl;
    }
  } catch (const std::exception &e) {
    std::cerr << "peer_worker: " << e.what() << "\n";
    return 1;
  }
}
