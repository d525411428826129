#pragma once
// The layers of a net by their dotted names, and what goes through them.

#include <functional>
#include <string>
#include <vector>

#include "runtime/layers/module.h"

namespace saltern {

struct NamedPart {
  std::string name;  // dotted; empty for the net itself
  Module *module;

  // "layer '3' (Linear)", for messages.
  std::string text() const;
};

// What is made of no others: layers in the order of visiting.
std::vector<NamedPart> layers_of(Module &net);

// While it lives, it is told of every call of these modules: before, and behind with what came out.
class Watching {
 public:
  using Before = std::function<void(const NamedPart &)>;
  using Behind = std::function<void(const NamedPart &, const Variable &y)>;

  Watching(const std::vector<NamedPart> &parts, const Before &before, const Behind &behind);
  ~Watching();
  Watching(const Watching &) = delete;
  Watching &operator=(const Watching &) = delete;

 private:
  std::vector<std::pair<Module *, size_t>> hooks_;
};

}  // namespace saltern
