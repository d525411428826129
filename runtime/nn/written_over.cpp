// Functions that write over their input, relu_(x). In Python the tensor becomes the result; in C++ one writes x = nn::relu_(x).
// Where that is recorded, what was there before is left to gradients, and the result is in memory of its own.

#include "runtime/layers/movement.h"
#include "runtime/nn/families.h"
#include "runtime/nn/layer.h"

namespace saltern::nn {

namespace {

struct WrittenOver {
  WrittenOver(const std::string &name, const std::string &options)
      : function(name + "_", "input" + options, [name](const Arguments &a) {
          const Variable x = a.variable("input");
          const bool taped = x.requires_gradient() && recording_mode() != RecordingMode::off;
          if (taped && !x.step()) a.refuse("input", "a tensor that was computed, or requires no gradient");
          const Variable y = variable_of(call(name, a.values()));
          if (y.step() || x.value().is_outline()) return y;
          x.value().copy_from(y.value());
          x.value().written();
          return x;
        }) {}
  Function function;
};
const WrittenOver written_over_rows[] = {{"relu", ""},
                                         {"elu", ", alpha=1.0"},
                                         {"celu", ", alpha=1.0"},
                                         {"selu", ""},
                                         {"leaky_relu", ", negative_slope=0.01"},
                                         {"rrelu", ", lower=0.125, upper=0.3333333333333333, training=False"},
                                         {"hardtanh", ", min_val=-1.0, max_val=1.0"},
                                         {"threshold", ", threshold, value"}};

}  // namespace

const void *written_over() { return written_over_rows; }

}  // namespace saltern::nn
