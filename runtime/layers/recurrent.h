#pragma once
// Recurrent layers over sequences, with PyTorch's arguments, gates and names of parameters.
//
//   LSTM lstm(random, 28, 64, {2, true});                   // two layers, each in both directions
//   auto [y, h, c] = lstm.run(x);                           // x(t, n, 28) -> y(t, n, 128), h and c (4, n, 64)
//
// The operations rnn, gru and lstm are one layer in one direction: (x, h0, of an lstm c0, weight_ih, weight_hh, bias_ih and
// bias_hh if `bias`, of an lstm weight_hr if `projected`) -> h and c after each step; attributes backwards, bias, projected,
// of an rnn `nonlinearity`. They are recurrences (algorithms/recurrent.h): products of all steps are computed at once.

#include "runtime/layers/dropout.h"
#include "runtime/layers/module.h"

namespace saltern {

struct RecurrentOptions {
  int64_t layers = 1;
  bool bidirectional = false;
  bool batch_first = false;  // x is (n, t, i), and so is y
  bool bias = true;
  double dropout = 0;      // of what each layer but the last gives
  int64_t projection = 0;  // of an LSTM: its hidden states are projected to so many elements
  bool relu = false;       // of an RNN, instead of tanh
};

// What a layer gives: y of the last layer at each step, and the states behind the last step, (layers * directions, n, k).
struct Sequences {
  Variable y, hidden, cell;
};

class RecurrentLayer : public Module {
 public:
  // Undefined states are zeros.
  Sequences run(const Variable &x, const Variable &hidden = {}, const Variable &cell = {});
  Variable forward(const Variable &x) override { return run(x).y; }
  void visit(Visitor &v) override;

 protected:
  RecurrentLayer(Random &random, const char *operation, int64_t gates, int64_t inputs, int64_t hidden,
                 const RecurrentOptions &options);

 private:
  struct Direction {
    std::string suffix;  // "_l0", "_l0_reverse"
    std::vector<std::pair<std::string, Variable>> weights;
  };
  bool has_cell() const;
  Sequences one(const Direction &d, const Variable &x, const Variable &h0, const Variable &c0, bool backwards) const;

  std::string operation_;
  int64_t inputs_, hidden_;
  RecurrentOptions options_;
  std::vector<Direction> directions_;  // of each layer, one after another
  Dropout dropout_;
};

struct RNN : RecurrentLayer {
  RNN(Random &random, int64_t inputs, int64_t hidden, const RecurrentOptions &options = {})
      : RecurrentLayer(random, "rnn", 1, inputs, hidden, options) {}
};
struct GRU : RecurrentLayer {
  GRU(Random &random, int64_t inputs, int64_t hidden, const RecurrentOptions &options = {})
      : RecurrentLayer(random, "gru", 3, inputs, hidden, options) {}
};
struct LSTM : RecurrentLayer {
  LSTM(Random &random, int64_t inputs, int64_t hidden, const RecurrentOptions &options = {})
      : RecurrentLayer(random, "lstm", 4, inputs, hidden, options) {}
};

}  // namespace saltern
