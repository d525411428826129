#include "runtime/formula/in_parts.h"

#include <algorithm>
#include <set>

#include "runtime/formula/turns.h"

namespace saltern {

using formula::ExactFormula;
using formula::ExactFormulas;

InParts::InParts(const ExactFormulas &formulas, size_t operands, Runs runs)
    : inputs_(operands), outputs_(formulas.outputs) {
  // States of one recurrence may stand apart, and what stands between them need not wait for it: they are all given
  // where the first of them is.
  std::set<const formula::ExactRecurrence *> seen;
  size_t first = 0;
  for (size_t i = 0; i < formulas.stages.size(); ++i) {
    const ExactFormula &f = formulas.stages[i];
    if (!f.is_recurrent()) continue;
    add_whole(formulas, first, i, runs);
    first = i + 1;
    if (seen.insert(f.recurrence.get()).second) add_recurrence(formulas, i);
  }
  add_whole(formulas, first, formulas.stages.size(), runs);
  std::set<int> read_behind(outputs_.begin(), outputs_.end());
  for (auto part = parts_.rbegin(); part != parts_.rend(); ++part)
    for (const std::vector<int> &all : {part->operands, part->results})
      for (int o : all)
        if (read_behind.insert(o).second) part->finished.push_back(o);
}

// The formulas from `first` on, before `past`: those that others read are its results.
void InParts::add_whole(const ExactFormulas &formulas, size_t first, size_t past, Runs runs) {
  if (first == past) return;
  const auto number = [&](size_t stage) { return static_cast<int>(inputs_ + stage); };
  const auto is_inside = [&](int o) { return o >= number(first) && o < number(past); };
  Part part;
  ExactFormulas own;
  own.stages.assign(formulas.stages.begin() + static_cast<std::ptrdiff_t>(first),
                    formulas.stages.begin() + static_cast<std::ptrdiff_t>(past));
  for (const ExactFormula &f : own.stages)
    for (int o : f.operands)
      if (!is_inside(o) && std::find(part.operands.begin(), part.operands.end(), o) == part.operands.end())
        part.operands.push_back(o);
  const auto own_number = [&](int o) {
    if (is_inside(o)) return o - number(first) + static_cast<int>(part.operands.size());
    return static_cast<int>(std::find(part.operands.begin(), part.operands.end(), o) - part.operands.begin());
  };
  for (ExactFormula &f : own.stages)
    for (int &o : f.operands) o = own_number(o);
  std::set<int> read(formulas.outputs.begin(), formulas.outputs.end());
  for (size_t i = past; i < formulas.stages.size(); ++i)
    read.insert(formulas.stages[i].operands.begin(), formulas.stages[i].operands.end());
  for (int o : read)
    if (is_inside(o)) {
      part.results.push_back(o);
      own.outputs.push_back(own_number(o));
    }
  part.computation = std::make_unique<const Computation>(std::move(own), runs);
  parts_.push_back(std::move(part));
}

void InParts::add_recurrence(const ExactFormulas &formulas, size_t which) {
  Part part;
  part.operands = formulas.stages[which].operands;
  part.recurrence = formulas.stages[which].recurrence;
  part.results.assign(part.recurrence->states(), -1);
  for (size_t i = which; i < formulas.stages.size(); ++i)
    if (formulas.stages[i].recurrence == part.recurrence)
      part.results[static_cast<size_t>(formulas.stages[i].state)] = static_cast<int>(inputs_ + i);
  part.computation = std::make_unique<const Computation>(part.recurrence->turn, Runs::often, nullptr,
                                                         static_cast<double>(part.recurrence->turns));
  parts_.push_back(std::move(part));
}

std::vector<Tensor> InParts::operator()(const std::vector<Tensor> &operands) const {
  std::map<int, Tensor> all;
  for (size_t i = 0; i < operands.size(); ++i) all[static_cast<int>(i)] = operands[i];
  for (const Part &part : parts_) {
    std::vector<Tensor> given;
    for (int o : part.operands) given.push_back(all.at(o));
    const std::vector<Tensor> made =
        part.recurrence ? states_after_turns(*part.recurrence, given,
                                             [&](const std::vector<Tensor> &turn) { return (*part.computation)(turn); })
                        : (*part.computation)(given);
    for (size_t i = 0; i < part.results.size(); ++i) all[part.results[i]] = made[i];
    for (int o : part.finished) all.erase(o);
  }
  std::vector<Tensor> outputs;
  for (int o : outputs_) outputs.push_back(all.at(o));
  return outputs;
}

}  // namespace saltern
