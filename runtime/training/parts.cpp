#include "runtime/training/parts.h"

namespace saltern {

namespace {

void add_layers(const NamedPart &part, std::vector<NamedPart> &all) {
  const auto children = part.module->children();
  if (children.empty()) all.push_back(part);
  for (const auto &[name, child] : children)
    add_layers({part.name.empty() ? name : part.name + "." + name, child}, all);
}

}  // namespace

std::string NamedPart::text() const { return "layer '" + name + "' (" + module->class_name() + ")"; }

std::vector<NamedPart> layers_of(Module &net) {
  std::vector<NamedPart> all;
  add_layers({"", &net}, all);
  return all;
}

Watching::Watching(const std::vector<NamedPart> &parts, const Before &before, const Behind &behind) {
  for (const NamedPart &part : parts) {
    if (before)
      hooks_.emplace_back(part.module,
                          part.module->register_forward_pre_hook([=](Module &, const Variable &) { before(part); }));
    if (behind)
      hooks_.emplace_back(part.module, part.module->register_forward_hook(
                                           [=](Module &, const Variable &, const Variable &y) -> Variable {
                                             behind(part, y);
                                             return {};
                                           }));
  }
}

Watching::~Watching() {
  for (const auto &[module, number] : hooks_) module->remove_hook(number);
}

}  // namespace saltern
