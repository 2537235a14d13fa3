#ifndef ATTNMAP_TESTS_OPS_SUPPORT_H_
#define ATTNMAP_TESTS_OPS_SUPPORT_H_

#include <random>
#include <string>

#include "attnmap/core/tensor.h"
#include "attnmap/ops/instruction_set.h"
#include "support/catch.h"

namespace attnmap::test {

// Runs the checks once with each instruction set of this machine.
template <typename Checks>
void ForEachInstructionSet(const Checks& checks) {
  for (const std::string& name : ops::InstructionSets()) {
    ops::LimitInstructionSet(name);
    INFO("instruction set " << name);
    checks();
    ops::LimitInstructionSet("");
  }
}

inline Matrix RandomMatrix(int64_t rows, int64_t cols, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  Matrix matrix(rows, cols);
  for (float& v : matrix.values()) v = normal(generator);
  return matrix;
}

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_OPS_SUPPORT_H_
