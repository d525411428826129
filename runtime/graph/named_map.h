#pragma once
// A map by name that is walked in the order of names, as a std::map, and finds a name at once: a graph of 100,000
// values is asked for them millions of times.

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace saltern {

template <typename T>
class NamedMap {
 public:
  using Ordered = std::map<std::string, T>;
  using iterator = typename Ordered::iterator;
  using const_iterator = typename Ordered::const_iterator;

  NamedMap() = default;
  NamedMap(const NamedMap &other) : ordered_(other.ordered_) { find_all(); }
  NamedMap(NamedMap &&other) noexcept : ordered_(std::move(other.ordered_)), places_(std::move(other.places_)) {
    other.clear();
  }
  NamedMap &operator=(NamedMap other) noexcept {
    ordered_ = std::move(other.ordered_);
    places_ = std::move(other.places_);
    other.clear();
    return *this;
  }

  iterator begin() { return ordered_.begin(); }
  iterator end() { return ordered_.end(); }
  const_iterator begin() const { return ordered_.begin(); }
  const_iterator end() const { return ordered_.end(); }
  size_t size() const { return ordered_.size(); }

  iterator find(std::string_view name) {
    const auto it = places_.find(name);
    return it == places_.end() ? end() : it->second;
  }
  const_iterator find(std::string_view name) const {
    const auto it = places_.find(name);
    return it == places_.end() ? end() : const_iterator(it->second);
  }
  size_t count(std::string_view name) const { return places_.count(name); }
  T &at(std::string_view name) { return places_.at(name)->second; }
  const T &at(std::string_view name) const { return places_.at(name)->second; }

  std::pair<iterator, bool> emplace(const std::string &name, T value) {
    const auto added = ordered_.emplace(name, std::move(value));
    if (added.second) places_.emplace(added.first->first, added.first);
    return added;
  }
  T &operator[](const std::string &name) {
    const iterator it = find(name);
    return it == end() ? emplace(name, T()).first->second : it->second;
  }
  iterator erase(iterator at) {
    places_.erase(at->first);
    return ordered_.erase(at);
  }
  void erase(const std::string &name) {
    if (const iterator it = find(name); it != end()) erase(it);
  }
  void clear() {
    places_.clear();
    ordered_.clear();
  }

 private:
  void find_all() {
    places_.reserve(ordered_.size());
    for (iterator it = ordered_.begin(); it != ordered_.end(); ++it) places_.emplace(it->first, it);
  }

  Ordered ordered_;
  std::unordered_map<std::string_view, iterator> places_;  // of the names inside ordered_
};

}  // namespace saltern
