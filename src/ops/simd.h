#ifndef ATTNMAP_OPS_SIMD_H_
#define ATTNMAP_OPS_SIMD_H_

// To be included before Highway. Each file that uses it is compiled once for
// each instruction set left here; those that add nothing to float arithmetic
// are left out, and those of unknown vector size, which arrays cannot hold.
#include <hwy/detect_targets.h>

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

#endif  // ATTNMAP_OPS_SIMD_H_
