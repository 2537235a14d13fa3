#ifndef ATTNMAP_OPS_PEAK_H_
#define ATTNMAP_OPS_PEAK_H_

#include <cstdint>

namespace attnmap::ops {

// Multiplies and adds numbers in registers, which nothing that has to fetch its
// numbers from memory can outdo: float32, or with `pairs` bfloat16 where the
// processor has it (MultipliesBfloat16). One thread; returns the operations
// done, a multiplication and an addition each counted, about `rounds` times 1000.
double MultiplyAdd(int64_t rounds, bool pairs);

}  // namespace attnmap::ops

#endif  // ATTNMAP_OPS_PEAK_H_
