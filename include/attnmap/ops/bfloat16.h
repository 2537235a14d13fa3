#ifndef ATTNMAP_OPS_BFLOAT16_H_
#define ATTNMAP_OPS_BFLOAT16_H_

#include <cstdint>

#include "attnmap/core/tensor.h"

namespace attnmap::ops {

// Whether this processor multiplies bfloat16 itself (AVX512_BF16). Products of
// pairs work everywhere, but elsewhere they are slower than float32.
bool MultipliesBfloat16();

// A pair is two neighbouring terms of a sum in one word of 32 bits, the earlier
// one in its lower half, each rounded to the nearest bfloat16 (ties to even).
// Words are kept in matrices of float, whose bits they are.
inline int64_t PairCount(int64_t depth) { return (depth + 1) / 2; }

// rows: (n, depth); words: (n, PairCount(depth)). An odd depth ends with a zero.
void ToPairs(MatrixView rows, MutableMatrixView words);

}  // namespace attnmap::ops

#endif  // ATTNMAP_OPS_BFLOAT16_H_
