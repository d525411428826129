// Layers that are made of a layer, and call it for each step or in both directions; with Keras' names.

#include "runtime/layers/binary.h"
#include "runtime/layers/movement.h"
#include "runtime/nn/families.h"
#include "runtime/nn/layer.h"

namespace saltern::nn {

namespace {

std::shared_ptr<Layer> layer_in(const Arguments &a, const Argument &given, const char *name) {
  const auto *part = given.as<Argument::Part>();
  auto layer = part ? std::dynamic_pointer_cast<Layer>(*part) : nullptr;
  if (!layer) a.refuse(name, "a layer of the table");
  return layer;
}

// Steps (n, t, ...) as samples of one batch.
const LayerRow time_distributed("TimeDistributed", "layer",
                                {"input",
                                 [](Layer &self, const Arguments &in) -> Argument {
                                   const Variable x = in.variable("input");
                                   if (x.shape().size() < 2) in.refuse("input", "steps (n, t, ...)");
                                   const int64_t batch = x.shape()[0], steps = x.shape()[1];
                                   Shape flat(x.shape().begin() + 1, x.shape().end());
                                   flat[0] = batch * steps;
                                   const Variable y = inside("layer", self.part("layer"), reshape(x, flat));
                                   Shape shape = y.shape();
                                   shape[0] = steps;
                                   shape.insert(shape.begin(), batch);
                                   return reshape(y, shape);
                                 }},
                                [](Layer &self) {
                                  const Arguments &a = self.made_with();
                                  self.part("layer", layer_in(a, a["layer"], "layer"));
                                });

// ---- A recurrent layer forwards and another one backwards, whose results are merged.

Argument merged(const std::string &mode, const Variable &forward, const Variable &backward) {
  if (mode == "concat") return concat({forward, backward}, static_cast<int64_t>(forward.shape().size()) - 1);
  if (mode == "sum") return forward + backward;
  if (mode == "mul") return forward * backward;
  return (forward + backward) * 0.5;
}

const LayerRow bidirectional(
    "Bidirectional", "layer, merge_mode='concat'",
    {"input",
     [](Layer &self, const Arguments &in) -> Argument {
       const Arguments &a = self.made_with();
       const auto forward = self.find_part("forward_layer"), backward = self.find_part("backward_layer");
       const Variable x = in.variable("input");
       const bool batched = x.shape().size() == 3;
       const Argument::List steps = {batched && forward->made_with().flag("batch_first") ? 1 : 0};
       const auto one = forward->call({x}), other = backward->call({call("flip", {x, steps})});
       const auto &there = *one.as<Argument::List>(), &back = *other.as<Argument::List>();
       const Variable y = variable_of(there[0]), z = variable_of(call("flip", {back[0], steps}));
       const Argument last = Argument::List{there[1], back[1]};
       if (!a.has("merge_mode")) return Argument::List{Argument::List{y, z}, last};
       return Argument::List{merged(a.word("merge_mode", {"concat", "sum", "mul", "ave"}), y, z), last};
     }},
    [](Layer &self) {
      const Arguments &a = self.made_with();
      const auto layer = layer_in(a, a["layer"], "layer");
      if (!layer->made_with().signature().has("batch_first")) a.refuse("layer", "an RNN, a GRU or an LSTM");
      self.part("forward_layer", layer);
      self.part("backward_layer", std::make_shared<Layer>(layer->row().make(layer->made_with())));
    });

// ---- Cells one upon another: what one gives is what the next is given.

const LayerRow stacked_cells("StackedRNNCells", "cells",
                             {"input, states=None",
                              [](Layer &self, const Arguments &in) -> Argument {
                                Argument x = in["input"];
                                const auto *states = in["states"].as<Argument::List>();
                                Argument::List next;
                                for (size_t i = 0; const auto cell = self.find_part(std::to_string(i)); ++i) {
                                  if (states && i >= states->size()) in.refuse("states", "a state for each cell");
                                  next.push_back(cell->call({x, states ? states->at(i) : Argument()}));
                                  const auto *both = next.back().as<Argument::List>();
                                  x = both ? both->at(0) : next.back();
                                }
                                return Argument::List{x, next};
                              }},
                             [](Layer &self) {
                               const Arguments &a = self.made_with();
                               const auto *cells = a["cells"].as<Argument::List>();
                               if (!cells || cells->empty()) a.refuse("cells", "a list of cells");
                               for (size_t i = 0; i < cells->size(); ++i)
                                 self.part(std::to_string(i), layer_in(a, cells->at(i), "cells"));
                             });

}  // namespace

const void *wrappers() { return &time_distributed; }

}  // namespace saltern::nn
