// Compile-world tests run their just-in-time code on the target that this machine really has.

#include <gtest/gtest.h>

#include <cstdlib>

#include "schedules/machine.h"

int main(int argc, char **argv) {
  setenv("HL_JIT_TARGET", (saltern::host_target().to_string() + "-jit").c_str(), 1);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
