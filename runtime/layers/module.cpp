#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <typeinfo>

#include "runtime/layers/module.h"

namespace saltern {

namespace {

void erase_all(std::string &text, const std::string &part) {
  for (size_t at; (at = text.find(part)) != std::string::npos;) text.erase(at, part.size());
}

}  // namespace

std::string class_name(const Module &module) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void *)> plain(
      abi::__cxa_demangle(typeid(module).name(), nullptr, nullptr, &status), std::free);
  std::string name = status == 0 && plain ? plain.get() : typeid(module).name();
  for (const char *part : {"saltern::functions::", "saltern::", "(anonymous namespace)::", "&"}) erase_all(name, part);
  return name;
}

}  // namespace saltern
