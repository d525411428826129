#pragma once
// Expected errors: what they say, and that they name the culprit.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/error.h"

namespace saltern {

// The message of the saltern::Error that an action throws; a test failure and "" if it throws none.
template <typename Action>
std::string error_of(const Action &action) {
  try {
    action();
  } catch (const Error &e) {
    return e.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

inline testing::AssertionResult contains(const std::string &text, const std::string &part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << text << "' does not contain '" << part << "'";
}

// That an action throws a saltern::Error which has all these parts in its text.
template <typename Action>
void expect_error(const Action &action, const std::vector<std::string> &parts) {
  const std::string text = error_of(action);
  for (const std::string &part : parts) EXPECT_TRUE(contains(text, part));
}

}  // namespace saltern
